/**
 * No instruction changes what visitors get unless it says so (docs/explanation/never-asked.md). Each instruction is followed on NSD as a customer would
 * follow it; then every name of the zone is asked for again.
 */
import {afterAll, beforeAll, describe, expect, test} from '@jest/globals';
import {check} from '../../operator/controllers/probes/dns-check.ts';
import type {CheckOptions} from '../../operator/controllers/probes/dns-check.ts';
import {DnsClient} from '../../operator/dns/client.ts';
import type {WireQuestion} from '../../operator/dns/wire.ts';
import {ask} from '../../operator/dns/wire.ts';
import {decide} from '../../operator/domain/lifecycle.ts';
import {t0, world} from '../support/world.ts';
import {Servers} from './servers.ts';

interface Line {
  /** Relative to the zone. */
  name: string;
  type: string;
  data: string;
}

const [address, resolver] = ['127.0.0.81', '127.0.0.82'];
const zone = 'customer.test';
const [ours, other, cdn] = ['203.0.113.1', '198.51.100.7', '198.51.100.129'];
const ns: Line = {name: '@', type: 'NS', data: 'ns1.test.'};
const at = (name: string, type: string, data: string): Line => ({name, type, data});
const full = (name: string) => (name === '@' ? zone : `${name}.${zone}`);

/** Records of a customer's zone, and the name that the customer attaches. */
const situations: readonly [what: string, name: string, lines: Line[]][] = [
  ['nothing', 'docs', []],
  ['a name below', 'docs', [at('x.docs', 'A', other)]],
  ['a CNAME to another host', 'docs', [at('docs', 'CNAME', 'www.example.net.')]],
  ['an address of another host', 'docs', [at('docs', 'A', other)]],
  ["the edge's address", 'docs', [at('docs', 'A', ours)]],
  ["the edge's address and another TXT", 'docs', [at('docs', 'A', ours), at('_doorplate-challenge.docs', 'TXT', 'x')]],
  ['a CDN by address', 'docs', [at('docs', 'A', cdn)]],
  ['a CDN by CNAME', 'docs', [at('docs', 'CNAME', 'customer.cdn.example.')]],
  ['mail', 'docs', [at('docs', 'MX', '10 mx.example.net.')]],
  ['a TXT', 'docs', [at('docs', 'TXT', 'v=spf1')]],
  ['mail and an address of another host', 'docs', [at('docs', 'MX', '10 mx.example.net.'), at('docs', 'A', other)]],
  ["mail and the edge's address", 'docs', [at('docs', 'MX', '10 mx.example.net.'), at('docs', 'A', ours)]],
  ['an HTTPS record', 'docs', [at('docs', 'TYPE65', '\\# 3 000100')]],
  ['a CAA record', 'docs', [at('docs', 'CAA', '0 issue "ca.example"')]],
  ['an apex with mail and nothing else', '@', [at('@', 'MX', '10 mx.example.net.')]],
  ['an apex with mail and an address of another host', '@', [at('@', 'MX', '10 mx.example.net.'), at('@', 'A', other)]],
  ["an apex with the edge's address", '@', [at('@', 'A', ours)]],
  ['a wildcard of another host', 'docs', [at('*', 'A', other)]],
  ['a wildcard of another host two labels above', 'docs.eu', [at('*', 'A', other)]],
  ['a wildcard of a CNAME', 'docs', [at('*', 'CNAME', 'www.example.net.')]],
  ["a wildcard of the edge's address", 'docs', [at('*', 'A', ours)]],
  ["a wildcard of the edge's address and a TXT", 'docs', [at('*', 'A', ours), at('*', 'TXT', 'v=spf1')]],
  ['a wildcard of a CDN by address', 'docs', [at('*', 'A', cdn)]],
  ['a wildcard of a CDN by CNAME', 'docs', [at('*', 'CNAME', 'customer.cdn.example.')]],
  ['a wildcard of a CDN two labels above', 'docs.eu', [at('*', 'CNAME', 'customer.cdn.example.')]],
  ['a wildcard of mail', 'docs', [at('*', 'MX', '10 mx.example.net.')]],
  ['an address of its own below a wildcard', 'docs', [at('*', 'A', other), at('docs', 'A', other)]],
  ['a DNAME at the parent', 'docs.eu', [at('eu', 'DNAME', 'example.net.')]],
  ['a DNAME at the name', 'docs', [at('docs', 'DNAME', 'example.net.'), at('docs', 'A', ours)]],
];

let servers: Servers;
let options: CheckOptions;
const hostLines = (lines: readonly Line[]) =>
  [ns, ...lines].map(({name, type, data}) => `${name} IN ${type} ${quoted(type, data)}`);
const quoted = (type: string, data: string) => (type === 'TXT' ? `"${data}"` : data);

beforeAll(async () => {
  const zones = {
    test: {at: [address], records: ['@ IN NS ns1.test.', `ns1 IN A ${address}`, 'customer IN NS ns1']},
    [zone]: {at: [address], records: hostLines([])},
  };
  servers = await Servers.start(zones, 'test', [{address: resolver, validates: false}], 'NSD');
  options = {
    dns: new DnsClient({
      recursive: [servers.at(resolver)],
      allowPrivateAddresses: true,
      port: servers.port,
      tryTimeoutMs: 800,
    }),
    rules: {
      edgeAddresses: [ours],
      addressOnly: false,
      cdns: [{name: 'Example CDN', networks: ['198.51.100.128/25'], hosts: ['cdn.example']}],
    },
    mode: 'Authoritative',
    cas: () => [],
  };
}); // The packages may have to be installed first.
afterAll(() => servers?.stop());

const asked: readonly WireQuestion['type'][] = ['A', 'CNAME', 'MX', 'TXT', 'CAA', 'HTTPS', 'DNAME'];

/** What visitors get for each name: `name type` -> the records. */
async function answers(names: readonly string[]): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  for (const name of names)
    for (const type of asked) {
      const reply = await ask(servers.at(address), {name, type}, {recursionDesired: false, timeoutMs: 800});
      const records = reply.kind === 'Answer' ? reply.answers.filter((record) => record.name === name) : [];
      found.set(
        `${name} ${type}`,
        records
          .map(({type: of, data}) => `${of} ${data}`)
          .toSorted()
          .join(', '),
      );
    }
  return found;
}

/** The names that exist, and random names beside and below each. */
const namesIn = (name: string, lines: readonly Line[]) => {
  const own = [...lines.map((line) => line.name), name].map((n) => n.replace('*', 'anything'));
  const below = own.flatMap((n) =>
    n === '@' ? ['anything'] : [`anything.${n}`, n.split('.').slice(1).join('.') || '@'],
  );
  return [...new Set([...own, ...below])].map(full);
};

/** A customer creates a record. A CNAME takes the place of addresses and of another CNAME; a provider refuses it beside anything else. */
function created(lines: readonly Line[], {name, type, data}: Line): Line[] {
  const replaced = type === 'CNAME' ? ['A', 'AAAA', 'CNAME'] : type === 'A' ? ['A', 'AAAA'] : [];
  return [...lines.filter((line) => line.name !== name || !replaced.includes(line.type)), at(name, type, data)];
}

/** What a message says that it changes: the addresses of the hostname, or everything at some names. */
function toldIn(message: string, hostname: string): (name: string, was: string) => boolean {
  const moves = /visitors (then|no longer|reach)/.test(message);
  const ended = /no longer answers for (\S+) and the names below it/.exec(message)?.[1];
  const above = /Other names below (\S+) then need their own records/.exec(message)?.[1];
  return (name, was) =>
    (moves && name === hostname && leadsVisitors(was)) ||
    [ended, above].some((top) => top !== undefined && (name === top || name.endsWith(`.${top}`)));
}

/** Records that decide where visitors go. */
const leadsVisitors = (was: string) => /^(A|AAAA|CNAME) /.test(was);

/** Compares answers. Visitors reach the same place by the edge's address and by a CNAME to the platform. */
const isSame = (was: string, now: string | undefined) =>
  was === now || (was === `A ${ours}` && now?.startsWith('CNAME docs-acme-') === true);

/**
 * The ways to follow a message: to create the records of the list, or the TXT alone if the message offers it. `part`: the sentences of the
 * message about this way.
 */
function ways(
  name: string,
  lines: readonly Line[],
  message: string,
  list: readonly Line[],
): {followed: Line[]; part: string}[] {
  const kept = message.includes('Replace that with records') ? lines.filter(({type}) => type !== 'DNAME') : lines;
  const deletes = message.includes('Delete') || message.includes('delete') ? ['A', 'AAAA'] : [];
  const bare = kept.filter((line) => line.name !== name || !deletes.includes(line.type));
  const all = message.includes('Attach another name')
    ? []
    : [{followed: list.reduce<Line[]>((so, line) => created(so, line), [...bare]), part: message}];
  const part = message.split('; or ').find((words) => /create TXT/i.test(words)) ?? '';
  const [, txtName, value] = /TXT (\S+) -> (\S+) \(TTL/.exec(part) ?? [];
  const named = /First give (.*?) (?:the addresses|a CNAME)/.exec(part)?.[1]?.split(/, | and /) ?? [];
  const first = named.flatMap((own) =>
    lines.filter((line) => line.name === '*').map((line) => ({...line, name: own.replace(`.${zone}`, '')})),
  );
  return txtName !== undefined && value !== undefined
    ? [...all, {followed: [...lines, ...first, at(txtName, 'TXT', value)], part}]
    : all;
}

describe('Nothing but what is said changes for visitors where a zone has', () => {
  test.each(situations)('%s, and %s is attached', async (_, name, lines) => {
    const hostname = full(name);
    await servers.change(zone, hostLines(lines));
    const verdict = await check(
      options,
      {hostname, target: 'docs-acme-k3v9x2m4q7w1z.apps.platform.test', token: 't0'},
      false,
    );
    if (verdict.kind !== 'Refuted') throw new Error(`not refuted: ${JSON.stringify(verdict)}`);
    const decision = decide(world({primary: hostname, facts: {[hostname]: {verdict, checkedAt: t0}}}));
    const list = (decision.status.dnsRecords ?? []).map(({name: n, type, value}) =>
      // A provider answers an ALIAS with addresses.
      type === 'CNAME' ? at(n, type, `${value}.`) : type === 'TXT' ? at(n, type, value) : at(n, 'A', ours),
    );
    const names = namesIn(name, lines);
    const before = await answers(names);
    for (const {followed, part} of ways(name, lines, verdict.message, list)) {
      const isTold = toldIn(part, hostname);
      // A server refuses a zone with a CNAME beside other records.
      const isAccepted = await servers.change(zone, hostLines(followed)).then(
        () => true,
        () => false,
      );
      expect({said: verdict.message, isAccepted}).toEqual({said: verdict.message, isAccepted: true});
      const after = await answers(names);
      const silently = [...before]
        .filter(([key, was]) => was !== '' && !isSame(was, after.get(key)) && !isTold(key.split(' ')[0]!, was))
        .map(([key]) => key);
      expect({said: verdict.message, silently}).toEqual({said: verdict.message, silently: []});
    }
  });
});

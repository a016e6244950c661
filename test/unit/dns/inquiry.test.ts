import {afterEach, describe, expect, test} from '@jest/globals';
import type {Answer} from 'dns-packet';
import {check} from '../../../operator/controllers/probes/dns-check.ts';
import {DnsClient} from '../../../operator/dns/client.ts';
import {Inquiry} from '../../../operator/dns/inquiry.ts';
import {fakeServer, record, reply, soa} from './fake-servers.ts';
import type {Asked, FakeServer, OnTcp, Parts} from './fake-servers.ts';

const running: FakeServer[] = [];
const inquiries: Inquiry[] = [];
afterEach(async () => {
  for (const inquiry of inquiries.splice(0)) inquiry.end();
  await Promise.all(running.splice(0).map((server) => server.close()));
});

const inquire = (opts: ConstructorParameters<typeof Inquiry>[0] = {}): Inquiry => {
  const inquiry = new Inquiry(opts);
  inquiries.push(inquiry);
  return inquiry;
};

/** What a server says to a question; undefined for silence. */
type Says = (asked: Asked) => Parts | undefined;

async function start(says: Says, opts: {address?: string; port?: number; onTcp?: OnTcp} = {}): Promise<FakeServer> {
  const server = await fakeServer((asked) => {
    const parts = says(asked);
    return parts ? [reply(asked, parts)] : [];
  }, opts);
  running.push(server);
  return server;
}

const hostname = 'docs.example.com';
const target = 'docs-acme.apps.platform.test';
const nothing: Parts = {authorities: [soa('example.com', 60, 60)]};
const delegation: Parts = {
  answers: [record('example.com', 'NS', 'ns.example.com')],
  additionals: [record('ns.example.com', 'A', '127.0.0.11')],
};

/** A resolver that names the servers of example.com, and says of anything else what it is told to; and such a server. */
async function world(resolves: Says, answers: Says, opts: {onTcp?: OnTcp; tryTimeoutMs?: number} = {}) {
  const resolver = await start((asked) => (asked.type === 'NS' ? delegation : resolves(asked)));
  const server = await start(answers, {
    address: '127.0.0.11',
    port: resolver.port,
    ...(opts.onTcp && {onTcp: opts.onTcp}),
  });
  const dns = new DnsClient({
    recursive: [resolver],
    allowPrivateAddresses: true,
    port: resolver.port,
    tryTimeoutMs: opts.tryTimeoutMs ?? 500,
  });
  return {dns, resolver, server};
}

const proven: Says = ({type}) => (type === 'CNAME' ? {answers: [record(hostname, 'CNAME', target)]} : nothing);
const silent: Says = () => undefined;
/** A CNAME of somebody else for any name. */
const wildcard: Says = ({name, type}) =>
  type === 'CNAME' ? {answers: [record(name, 'CNAME', 'elsewhere.test')]} : nothing;
/** Takes a connection and says nothing. */
const hangs: OnTcp = () => {};

const optionsOf = (dns: DnsClient) => ({
  dns,
  rules: {edgeAddresses: [], addressOnly: false, cdns: []},
  mode: 'Authoritative' as const,
  cas: () => [{issuer: 'acme', identities: ['ca.test'], zone: 'apps.platform.test'}],
});

describe('An inquiry', () => {
  test('has one time limit: a whole check ends with it, and tells what was asked then', async () => {
    const patient = {tryTimeoutMs: 60_000};
    const {dns} = await world((asked) => (asked.type === 'CAA' ? undefined : proven(asked)), proven, patient);
    const verdict = await check(optionsOf(dns), {hostname, target, token: 'token'}, true, inquire({totalMs: 3000}));
    expect(verdict).toMatchObject({kind: 'Proven', caa: {kind: 'Unknown'}});
    expect(JSON.stringify(verdict)).toContain(`no answer to CAA of ${hostname} within the time limit for all queries`);
  });

  test('of an owned apex ends soon where a server drops questions for HTTPS, and has its CAA records all the same', async () => {
    const apex = 'example.com';
    const says: Says = ({name, type}) => {
      if (type === 'HTTPS' || type.includes('65')) return undefined;
      if (type === 'A' && name === apex) return {answers: [record(apex, 'A', '192.0.2.1')]};
      return type === 'TXT' ? {answers: [{name, type, ttl: 60, data: 'token'}]} : nothing;
    };
    const {dns} = await world(says, says, {tryTimeoutMs: 60_000});
    const options = optionsOf(dns);
    const rules = {...options.rules, edgeAddresses: ['192.0.2.1']};
    const question = {hostname: apex, target, token: 'token', owned: true as const};
    // The whole check has an hour: only the limit of these questions can end it.
    const verdict = await check({...options, rules}, question, true, inquire({totalMs: 3_600_000}));
    expect(verdict).toMatchObject({kind: 'Proven', by: 'TXT', browsersGo: 'Unknown', caa: {kind: 'Allowed'}});
  });

  test('finds other types although an HTTPS record beside them is malformed, or one question fails', async () => {
    const mail: Answer = {name: hostname, type: 'MX', ttl: 60, data: {preference: 1, exchange: 'mx.example.net'}};
    const strange = {name: hostname, type: 'UNKNOWN_65' as 'NULL', ttl: 60, data: Buffer.from('0001c00c', 'hex')};
    const says: Says = ({type}) => {
      if (type === 'SRV') return {rcode: 2};
      if (type === 'MX') return {answers: [mail]};
      return type === 'HTTPS' || type.includes('65') ? {answers: [strange]} : nothing;
    };
    const {dns} = await world(says, says);
    const seen = await dns.askAuthoritative(hostname, 'OtherTypes', inquire());
    expect(seen.findings).toMatchObject([{types: ['HTTPS', 'MX']}]);
    expect((await dns.askAuthoritative(hostname, 'HTTPS', inquire())).findings[0]).not.toHaveProperty('https');
  });

  test('asks for one name below the hostname and one beside it, to know a wildcard by, however many checks are made together', async () => {
    const {dns, server} = await world(wildcard, wildcard);
    const inquiry = inquire();
    const checks = Array.from({length: 20}, (_, i) =>
      check(optionsOf(dns), {hostname, target, token: `token${i}`}, true, inquiry),
    );
    for (const verdict of await Promise.all(checks)) expect(verdict).toMatchObject({reason: 'TargetMismatch'});
    const names = new Set(server.asked.map(({name}) => name));
    const {randomLabel} = inquiry;
    expect([...names]).toEqual([hostname, `${randomLabel}.${hostname}`, `${randomLabel}.example.com`]);
  });

  test('waits once for a server that answers nothing', async () => {
    const {dns, server} = await world(silent, silent);
    const inquiry = inquire();
    const [first, second] = [
      await dns.askAuthoritative(hostname, 'Host', inquiry),
      await dns.askAuthoritative(hostname, 'TXT', inquiry),
    ];
    expect([first.failure?.failure, second.failure?.failure]).toEqual(['Timeout', 'Timeout']);
    expect(second.failure?.detail).toContain(`has answered nothing: not asked for TXT of ${hostname}`);
    // Two tries of the one question.
    expect(server.asked.map(({type}) => type)).toEqual(['CNAME', 'CNAME']);
  });

  test('asks a server again that was silent about something else', async () => {
    const {dns, server} = await world(silent, ({type}) => (type === 'AAAA' ? undefined : nothing), {
      tryTimeoutMs: 3000,
    });
    const inquiry = inquire();
    await dns.askAuthoritative(hostname, 'Host', inquiry);
    await dns.askAuthoritative(hostname, 'TXT', inquiry);
    expect(server.asked.map(({type}) => type).toSorted()).toEqual(['A', 'AAAA', 'AAAA', 'CNAME', 'TXT']);
  });

  test('asks once what several want to know at the same time', async () => {
    // Each question is put once, however slow this machine is.
    const {dns, resolver, server} = await world(proven, proven, {tryTimeoutMs: 60_000});
    const inquiry = inquire();
    const ask = () =>
      Promise.all([
        dns.askAuthoritative(hostname, 'Host', inquiry),
        dns.askRecursive(hostname, 'Host', inquiry),
        dns.askCaa(hostname, inquiry),
      ]);
    const [one, other] = await Promise.all([ask(), ask()]);
    expect(other).toEqual(one);
    const asked = [...resolver.asked, ...server.asked].map(({type, name}) => `${type} ${name}`);
    expect(asked.filter((question) => question === `CNAME ${hostname}`)).toHaveLength(2);
    expect(asked.filter((question) => question === `CAA ${hostname}`)).toHaveLength(1);
  });

  test('that is given up ends its sockets', async () => {
    const {dns, server} = await world(silent, () => ({truncated: true}), {onTcp: hangs});
    const controller = new AbortController();
    const asked = dns.askAuthoritative(hostname, 'Host', inquire({signal: controller.signal, totalMs: 60_000}));
    while (!server.asked.some(({overTcp}) => overTcp)) await new Promise((resolve) => setTimeout(resolve, 5));
    controller.abort();
    expect((await asked).failure?.failure).toBeDefined();
    await server.hungUp();
    expect(server.asked.filter(({overTcp}) => overTcp)).toHaveLength(1);
  });
});

test('A server is asked no faster than its rate, whoever asks; what is not asked in time is a timeout', async () => {
  const {dns, resolver, server} = await world(silent, () => ({rcode: 3, authorities: [soa('example.com', 60, 60)]}));
  const slowly = new DnsClient({
    recursive: [resolver],
    allowPrivateAddresses: true,
    port: resolver.port,
    perServer: {perSecond: 0.001, burst: 2},
  });
  const names = ['a', 'b', 'c'].map((label) => `${label}.example.com`);
  const seen = await Promise.all(names.map((name) => slowly.askAuthoritative(name, 'Host', inquire({totalMs: 3000}))));
  expect(seen.map(({failure}) => failure?.failure)).toEqual([undefined, undefined, 'Timeout']);
  expect(server.asked).toHaveLength(2);
  expect((await dns.askAuthoritative('c.example.com', 'Host', inquire())).failure).toBeUndefined();
});

test('A resolver is asked no faster than its rate, whoever asks; what is not asked in time is a timeout', async () => {
  const {dns, resolver} = await world(() => nothing, silent);
  const slowly = new DnsClient({
    recursive: [resolver],
    allowPrivateAddresses: true,
    port: resolver.port,
    perResolver: {perSecond: 0.001, burst: 2},
  });
  const names = ['a', 'b', 'c'].map((label) => `${label}.example.com`);
  const seen = await Promise.all(names.map((name) => slowly.askRecursive(name, 'TXT', inquire({totalMs: 3000}))));
  expect(seen.filter(({failure}) => failure?.failure === 'Timeout')).toHaveLength(1);
  expect(resolver.asked).toHaveLength(2);
  await dns.askRecursive('c.example.com', 'TXT', inquire());
  expect(resolver.asked).toHaveLength(3);
});

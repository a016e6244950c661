/** What a record of a change holds, whatever was sent. */
import {describe, expect, test} from '@jest/globals';
import * as fc from 'fast-check';
import type {FastifyRequest} from 'fastify';
import {pino} from 'pino';
import {Audit, type Audited, type AuditRecord, grantState, hostState} from '../../../operator/http/audit.ts';
import type {Tenant} from '../../../operator/domain/tenant.ts';
import type {JournalRecord} from '../../../operator/limits/journal.ts';
import {timestamp} from '../../../operator/domain/times.ts';
import {domain, t0} from '../../support/world.ts';

const tenant: Tenant = {
  account: 'acme',
  namespaceUID: 'uid-1',
  plan: {missing: {reason: 'PlanNotFound', message: ''}},
};
const grant = {namespace: 'acme', namespaceUID: 'uid-1', scopes: ['domains:write']};

/** What becomes of a change on the page, by a person whom the platform names like this. */
function recorded(
  change: Audited,
  {subject = 'jane', ip = '192.0.2.7', level = 'info'} = {},
): {lines: string[]; records: JournalRecord[]} {
  const [lines, records]: [string[], JournalRecord[]] = [[], []];
  const log = pino({level}, {write: (line: string) => void lines.push(line)});
  const audit = new Audit({log, journal: {add: (record) => void records.push(record)}});
  const session = {...grant, subject};
  audit.record({id: 'request-1', ip} as FastifyRequest, change, {kind: 'session', session, namespace: 'acme', tenant});
  return {lines, records};
}

const added: Audited = {action: 'hostname.add', project: 'docs', hostname: 'www.example.com'};

describe('A record', () => {
  test('is the same in the log and in the journal, under the tenant and the UID of the namespace', () => {
    const {lines, records} = recorded(added);
    const record = {
      action: 'hostname.add',
      actor: {kind: 'Page', name: null, subject: 'jane'},
      address: '192.0.2.7',
      requestId: 'request-1',
      namespace: 'acme',
      project: 'docs',
      hostname: 'www.example.com',
      key: null,
      before: null,
      after: null,
    };
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([{stream: 'audit', msg: 'changed', record}]);
    expect(records).toMatchObject([{tenant: 'acme', namespace: 'uid-1', project: 'docs'}]);
    expect(JSON.parse(records[0]!.text)).toEqual(record);
  });

  test('is in the log, whatever level that has', () => {
    expect(recorded(added, {level: 'error'}).lines.length).toBe(1);
  });

  test('has controls, bidi marks and separators escaped, and keeps letters', () => {
    const table = [
      ['a\u001B[2Jb', 'a\\u{1b}[2Jb'],
      ['a\u202Egnp.exe', 'a\\u{202e}gnp.exe'],
      ['a\r\nb\tc\u0000', 'a\\u{d}\\u{a}b\\u{9}c\\u{0}'],
      ['a\u2028b\u200Bc\u2066d', 'a\\u{2028}b\\u{200b}c\\u{2066}d'],
      ['\uD800', '\\u{d800}'],
      ['Jürgen Müller <j@example.com>', 'Jürgen Müller <j@example.com>'],
    ] as const;
    for (const [subject, shown] of table) {
      const {lines, records} = recorded(added, {subject});
      expect(JSON.parse(lines[0]!).record.actor.subject).toBe(shown);
      expect(JSON.parse(records[0]!.text).actor.subject).toBe(shown);
    }
  });

  test('is cut: each value, and each list', () => {
    const scopes = Array.from({length: 100}, (_, i) => `scope:${i}`);
    const {records} = recorded({...added, after: grantState({...grant, scopes})}, {subject: '\u202E'.repeat(5000)});
    const {actor, after} = JSON.parse(records[0]!.text) as AuditRecord;
    expect([actor.subject!.length, actor.subject!.slice(-3), after!.scopes]).toEqual([256, '...', scopes.slice(0, 32)]);
  });

  test('is bounded, and has nothing that a terminal acts on, whatever was sent', () => {
    const text = fc.string({unit: 'binary', maxLength: 5000});
    fc.assert(
      fc.property(text, text, fc.array(text, {maxLength: 100}), (subject, ip, scopes) => {
        const state = {...grantState({...grant, scopes}), expires: subject};
        const {lines, records} = recorded(
          {action: 'link.create', project: subject, hostname: subject, key: subject, before: state, after: state},
          {subject, ip},
        );
        for (const each of [lines[0]!.trimEnd(), records[0]!.text]) {
          expect(each).not.toMatch(/[\p{C}\p{Zl}\p{Zp}]/u);
          expect(each.length).toBeLessThan(40_000);
        }
      }),
    );
  });

  test('has no address that is none', () => {
    const addresses = ['<script>', '', '[2001:db8::1]:443', '::ffff:192.0.2.1'];
    const shown = addresses.map((ip) => JSON.parse(recorded(added, {ip}).records[0]!.text).address as unknown);
    expect(shown).toEqual([null, null, '2001:db8::1', '192.0.2.1']);
  });
});

test('A hostname is compared in any spelling', () => {
  const domains = domain({
    primary: 'WWW.Example.com.',
    redirects: [{from: 'Old.example.com', status: 301}],
    status: {
      observedGeneration: 1,
      hosts: [
        {
          hostname: 'former.example.com',
          role: 'FormerPrimary',
          phase: 'Live',
          reason: 'ServedUntilReplaced',
          message: '',
          since: timestamp(t0),
          liveAt: timestamp(t0),
          waitingFor: 'Nobody',
        },
      ],
    },
  });
  expect(hostState(domains, 'www.example.com')).toEqual({role: 'Primary'});
  expect(hostState(domains, 'old.example.com')).toEqual({
    role: 'RedirectSource',
    redirect: {to: 'www.example.com', status: 301},
  });
  expect(hostState(domains, 'former.example.com')).toEqual({role: 'FormerPrimary'});
  const annotations = {'doorplate.dev/stop': 'former.example.com'};
  expect(hostState({...domains, metadata: {...domains.metadata, annotations}}, 'former.example.com')).toBeNull();
  expect([hostState(domains, 'x.example.com'), hostState(undefined, 'x.example.com')]).toEqual([null, null]);
});

import {afterEach, beforeEach, describe, expect, jest, test} from '@jest/globals';
import {pino} from 'pino';
import type {IssuerOptions} from '../../../../operator/controllers/state/issuer.ts';
import {Issuer} from '../../../../operator/controllers/state/issuer.ts';
import {hours, minutes} from '../../../support/world.ts';

const issuerRef = {name: 'letsencrypt', kind: 'ClusterIssuer', group: 'cert-manager.io'};
let answers: (string[] | Error)[];
let asked: [string, string | undefined][];
let changes: number;
let account: string;
let issuer: Issuer;

function make(
  change: Partial<IssuerOptions> = {},
  acme: object | null = {server: 'https://acme.example/dir', caBundle: Buffer.from('PEM').toString('base64')},
): Issuer {
  const made = new Issuer({
    client: {
      get: async (_: unknown, key: string) =>
        key === 'letsencrypt' || key === 'doorplate-system/letsencrypt'
          ? {spec: {...(acme && {acme})}, status: {acme: {uri: account}}}
          : undefined,
    } as unknown as IssuerOptions['client'],
    issuerRef,
    namespace: 'doorplate-system',
    configured: [],
    log: pino({level: 'silent'}),
    ask: async (server, {caBundle} = {}) => {
      asked.push([server, caBundle]);
      const answer = answers.shift() ?? new Error('no answer');
      if (answer instanceof Error) throw answer;
      return answer;
    },
    ...change,
  });
  made.onChange(() => {
    changes++;
  });
  return made;
}

beforeEach(() => {
  jest.useFakeTimers();
  [answers, asked, changes, account] = [[], [], 0, 'https://acme.example/acct/1'];
});
afterEach(() => {
  issuer.stop();
  jest.useRealTimers();
});

describe('How the CA is named in CAA records', () => {
  test("is read from the directory of the issuer's ACME server, once an hour, and a change is told", async () => {
    answers = [['letsencrypt.org'], ['letsencrypt.org'], ['other.example']];
    issuer = make();
    issuer.start();
    await issuer.synced;
    expect([issuer.identities, asked, changes]).toEqual([
      ['letsencrypt.org'],
      [['https://acme.example/dir', 'PEM']],
      1,
    ]);
    await jest.advanceTimersByTimeAsync(hours);
    expect([asked.length, changes]).toEqual([2, 1]);
    await jest.advanceTimersByTimeAsync(hours);
    expect([issuer.identities, changes]).toEqual([['other.example'], 2]);
  });

  test.each([
    ['by the proxy that HTTPS_PROXY names', {HTTPS_PROXY: 'http://proxy:3128'}, 'http://proxy:3128/'],
    ['directly, where NO_PROXY names the server', {HTTPS_PROXY: 'http://proxy:3128', NO_PROXY: '.example'}, undefined],
  ])('is asked for %s', async (_, env, expected) => {
    const before = {...process.env};
    Object.assign(process.env, env);
    try {
      let by: string | undefined = 'nobody asked';
      issuer = make({
        ask: async (_server, {proxy} = {}) => {
          by = proxy?.href;
          return ['letsencrypt.org'];
        },
      });
      issuer.start();
      await issuer.synced;
      expect(by).toBe(expected);
    } finally {
      process.env = before;
    }
  });

  test('is what the platform has set, if anything: then the directory is not asked', async () => {
    issuer = make({configured: ['set.example']});
    issuer.start();
    await issuer.synced;
    await jest.advanceTimersByTimeAsync(hours);
    expect([issuer.identities, issuer.accountUri, asked]).toEqual([['set.example'], 'https://acme.example/acct/1', []]);
  });

  test("comes with the platform's account, as soon as there is one, and again when it is another", async () => {
    account = '';
    issuer = make({configured: ['set.example']});
    issuer.start();
    await issuer.synced;
    expect(issuer.accountUri).toBeUndefined();
    account = 'https://acme.example/acct/1';
    await jest.advanceTimersByTimeAsync(minutes);
    expect([issuer.accountUri, changes]).toEqual([account, 1]);
    account = 'https://acme.example/acct/2';
    await jest.advanceTimersByTimeAsync(hours);
    expect([issuer.accountUri, changes]).toEqual([account, 2]);
  });

  test('is unknown while the directory cannot be read: nothing waits for it, and it is tried again with back-off', async () => {
    answers = [new Error('refused'), new Error('refused'), ['letsencrypt.org'], new Error('refused')];
    issuer = make();
    issuer.start();
    await issuer.synced;
    expect(issuer.identities).toEqual([]);
    await jest.advanceTimersByTimeAsync(minutes);
    expect(asked).toHaveLength(2);
    await jest.advanceTimersByTimeAsync(2 * minutes);
    expect(issuer.identities).toEqual(['letsencrypt.org']);
    await jest.advanceTimersByTimeAsync(hours);
    expect([asked.length, issuer.identities]).toEqual([4, ['letsencrypt.org']]);
  });

  test('is not waited for longer than a moment at the start', async () => {
    issuer = make({ask: () => new Promise(() => {})});
    issuer.start();
    await jest.advanceTimersByTimeAsync(2999);
    expect(issuer.isSynced).toBe(false);
    await jest.advanceTimersByTimeAsync(1);
    expect(issuer.isSynced).toBe(true);
  });

  test.each<[string, Partial<IssuerOptions>, object | null]>([
    ['an issuer that speaks no ACME', {}, null],
    ['an issuer of another group', {issuerRef: {...issuerRef, group: 'other.example'}}, {server: 'https://x.example'}],
  ])('is nothing to %s', async (_, change, acme) => {
    issuer = make(change, acme);
    issuer.start();
    await issuer.synced;
    expect([issuer.identities, asked]).toEqual([[], []]);
  });

  test("is read from a namespaced Issuer in Doorplate's own namespace", async () => {
    answers = [['letsencrypt.org']];
    issuer = make({issuerRef: {...issuerRef, kind: 'Issuer'}});
    issuer.start();
    await issuer.synced;
    expect(issuer.identities).toEqual(['letsencrypt.org']);
  });
});

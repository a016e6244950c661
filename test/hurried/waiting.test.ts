/** More hostnames than may wait for verification, on a platform that allows few. */
import {afterAll, beforeAll, expect, test} from '@jest/globals';
import {hurried, mostWaiting} from '../support/hurried.ts';
import {Tenant} from '../support/tenant.ts';

let tenant: Tenant;
beforeAll(async () => {
  await hurried();
  tenant = await Tenant.create('waiting');
});
afterAll(async () => {
  await tenant?.remove();
});

const waits = (name: string) => `${name} AwaitingVerification RecordMissing`;

test('the newest of too many hostnames is refused, and follows by itself when an older one is removed', async () => {
  const [primary = '', removed = '', ...others] = Array.from({length: mostWaiting}, (_, i) =>
    tenant.host(`h${String(i).padStart(2, '0')}`),
  );
  const newest = tenant.host('newest');
  const attach = (names: readonly string[]) =>
    tenant.attach(
      'many',
      primary,
      names.map((from) => ({from})),
    );
  await attach([removed, ...others, newest]);
  const full = await tenant.hosts('many', [
    ...[primary, removed, ...others].map(waits),
    `${newest} NotAccepted TooManyWaiting`,
  ]);
  expect(full.status?.hosts?.at(-1)?.message).toBe(
    `At most ${mostWaiting} hostnames of the account ${tenant.namespace} can wait for verification at a time, and older ` +
      'hostnames are waiting. Verify or remove waiting hostnames. Doorplate then accepts this one automatically.',
  );
  await attach([...others, newest]);
  await tenant.hosts('many', [primary, ...others, newest].map(waits));
});

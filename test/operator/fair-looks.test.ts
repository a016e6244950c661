/** One tenant's slow name servers, and what it edits, delay no other tenant's checks and win no checks of its own. */
import {afterAll, afterEach, beforeAll, beforeEach, describe, expect, test} from '@jest/globals';
import {customDomains} from '../../operator/resources/resources.ts';
import {Customer} from '../support/customer.ts';
import {eventually} from '../support/kube-api.ts';
import {RunningOperator} from '../support/operator.ts';
import {Platform} from '../support/platform.ts';

let platform: Platform;
let operator: RunningOperator;
beforeAll(async () => {
  platform = await Platform.start();
});
beforeEach(async () => {
  operator = await RunningOperator.start(platform);
});
afterEach(async () => {
  await operator?.stop();
});
afterAll(async () => {
  await platform?.stop();
});

/** How many hostnames below these zones their own name servers have been asked about. */
const lookedAt = (...zones: string[]): number =>
  new Set(
    zones.flatMap((zone) =>
      platform.dns
        .questions(zone)
        .filter((q) => !q.recursionDesired && q.name !== zone)
        .map((q) => q.name.toLowerCase()),
    ),
  ).size;

/** Zones for fifty hostnames each: as many of one as may be looked at at once. */
const zonesOf = ({namespace}: Customer) => Array.from({length: 10}, (_, i) => `${namespace}-${i}.test`);

describe('Three tenants with five hundred hostnames each, whose servers answer nothing', () => {
  test('do not delay the check of a fourth: it begins before a third of theirs has', async () => {
    const slow = await Promise.all(Array.from({length: 3}, () => Customer.deployed(platform)));
    const fourth = await Customer.deployed(platform);
    const www = fourth.host('www');
    await fourth.point([www]);
    for (const customer of slow) {
      const zones = zonesOf(customer);
      for (const zone of zones) platform.dns.kill(zone);
      const [primary = '', ...sources] = zones.flatMap((zone) => Array.from({length: 50}, (_, i) => `h${i}.${zone}`));
      await customer.attach('web', primary, sources);
    }
    const begun = () => lookedAt(...slow.flatMap(zonesOf));
    // Every regular seat is taken, and each has many more to look at.
    await eventually(async () => begun() >= 64);
    const attached = performance.now();
    await fourth.attach('web', www);
    await eventually(async () => lookedAt(fourth.zone) > 0);
    const before = begun();
    console.log(
      `another tenant's check began after ${Math.round(performance.now() - attached)} ms, ${before} before it`,
    );
    expect(before).toBeLessThan(500);
  });
});

describe('A tenant with three hundred hostnames, each below a domain of its own', () => {
  test('has a hundred checks at once, and twenty a second from then on', async () => {
    const customer = await Customer.deployed(platform);
    const zones = Array.from({length: 300}, (_, i) => `${customer.namespace}-own${i}.test`);
    const [primary = '', ...sources] = zones.map((zone) => `www.${zone}`);
    // Any question about the zone shows a check. On a busy machine the first question can time out, which ends the check.
    const asked = () => zones.filter((zone) => platform.dns.questions(zone).length > 0).length;
    const began = performance.now();
    await customer.attach('web', primary, sources);
    await eventually(async () => asked() === zones.length);
    const seconds = (performance.now() - began) / 1000;
    console.log(`${zones.length} checks of one tenant began within ${seconds.toFixed(1)} s`);
    expect(seconds).toBeGreaterThanOrEqual((zones.length - 100) / 20);
  });
});

describe('A hostname that is removed and added again and again', () => {
  test('is checked at once a few times, then as the schedule says', async () => {
    const customer = await Customer.deployed(platform);
    const [www, old] = [customer.host('www'), customer.host('old')];
    await customer.attach('web', www);
    const asked = () => platform.dns.questions(old).filter((q) => !q.recursionDesired && q.type === 'CNAME').length;
    const reason = async () => (await customer.hosts('web'))[old];
    for (let i = 0; i < 5; i++) {
      await customer.change(customDomains, 'web', {spec: {redirects: [{from: old, status: 301}]}});
      expect(await operator.comesTo(reason, 'AwaitingVerification RecordMissing')).toBe(
        'AwaitingVerification RecordMissing',
      );
      await customer.change(customDomains, 'web', {spec: {redirects: null}});
      expect(await operator.comesTo(reason, undefined)).toBeUndefined();
    }
    const before = asked();
    await customer.change(customDomains, 'web', {spec: {redirects: [{from: old, status: 301}]}});
    expect(await operator.comesTo(reason, 'AwaitingVerification CheckPending')).toBe(
      'AwaitingVerification CheckPending',
    );
    await operator.rest();
    expect(asked()).toBe(before);
    // Verify is a check at once, 10 s after the last one at the latest.
    await customer.change(customDomains, 'web', {metadata: {annotations: {'doorplate.dev/requestedAt': 'now'}}});
    expect(await operator.comesTo(reason, 'AwaitingVerification RecordMissing', {atLeastMs: 20_000})).toBe(
      'AwaitingVerification RecordMissing',
    );
  });
});

test('A hostname that is removed while its servers are silent is asked about no more', async () => {
  const customer = await Customer.deployed(platform);
  platform.dns.kill(customer.zone);
  await customer.attach('web', customer.host('www'));
  await eventually(async () => lookedAt(customer.zone) > 0);
  await customer.remove(customDomains, 'web');
  await eventually(async () => (await customer.domain('web')) === undefined);
  await operator.rest();
  const asked = platform.dns.questions(customer.zone).length;
  // A look that went on would try again after 2 s.
  await new Promise((resolve) => setTimeout(resolve, 3000));
  expect(platform.dns.questions(customer.zone)).toHaveLength(asked);
});

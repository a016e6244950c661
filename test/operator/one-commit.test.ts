/**
 * Hostnames that one commit moves between CustomDomains of one Account: no status asks for what the commit has done, and no route is
 * missing in between. All periodic checks run once an hour.
 */
import {afterAll, afterEach, beforeAll, beforeEach, describe, expect, test} from '@jest/globals';
import {setTimeout as wait} from 'node:timers/promises';
import type {CustomDomain} from '../../operator/api/foreign.ts';
import {tokenFor} from '../../operator/domain/claims/claim.ts';
import {customDomains, namespaces} from '../../operator/resources/resources.ts';
import {Customer} from '../support/customer.ts';
import {RunningOperator} from '../support/operator.ts';
import {Platform, zone} from '../support/platform.ts';
import {Recording} from '../support/published.ts';
import {enterprise, tenantOn} from '../support/world.ts';
import {record} from '../unit/dns/fake-servers.ts';

let platform: Platform;
let operator: RunningOperator;
let customer: Customer;
let recording: Recording;

beforeAll(async () => {
  platform = await Platform.start();
  operator = await RunningOperator.start(platform);
});
afterAll(async () => {
  await operator?.stop();
  await platform?.stop();
});
beforeEach(async () => {
  customer = await Customer.deployed(platform);
});
afterEach(() => recording?.stop());

/** Verifies hostnames for the Account, whichever Project they are of: by the address of the edge and a TXT record. */
function verify(...hostnames: string[]): void {
  for (const hostname of hostnames) {
    const data = tokenFor(zone, {...tenantOn(enterprise), account: customer.namespace}, hostname, undefined);
    const challenge = `_doorplate-challenge.${hostname}`;
    platform.dns.set(hostname, record(hostname, 'A', '127.0.0.1'));
    platform.dns.set(challenge, {name: challenge, type: 'TXT', ttl: 60, data});
  }
}

async function expectHosts(name: string, expected: Record<string, string>, of = customer): Promise<void> {
  expect(await operator.comesTo(() => of.hosts(name), expected)).toEqual(expected);
}

type Spec = Partial<Pick<CustomDomain['spec'], 'primary' | 'redirects'>>;
const change = (name: string, spec: Spec, of = customer): Promise<void> => of.change(customDomains, name, {spec});
const redirects = (...sources: string[]): Spec['redirects'] => sources.map((from) => ({from, status: 301 as const}));

/** Two Projects with a Live primary each. */
async function twoPrimaries(sources: readonly string[] = []): Promise<[one: string, two: string]> {
  const [one, two] = [customer.host('one'), customer.host('two')];
  verify(one, two, ...sources);
  await customer.deploy('other');
  await customer.attach('web', one, sources);
  await customer.attach('other', two, [], 'other');
  const redirecting = Object.fromEntries(sources.map((source) => [source, 'Live Redirecting']));
  await expectHosts('web', {[one]: 'Live Serving', ...redirecting});
  await expectHosts('other', {[two]: 'Live Serving'});
  return [one, two];
}

const expectNothingAsked = (): void => expect([recording.removals, recording.unrouted]).toEqual([[], []]);

describe('One commit', () => {
  test.each([0, 400])('swaps the hostnames of two CustomDomains, the second one %i ms later', async (ms) => {
    const [one, two] = await twoPrimaries();
    recording = await Recording.start(platform.client, customer.namespace);
    await change('web', {primary: two});
    await wait(ms);
    await change('other', {primary: one});
    await expectHosts('web', {[two]: 'Live Serving'});
    await expectHosts('other', {[one]: 'Live Serving'});
    expectNothingAsked();
  });

  test('moves the hostnames of three CustomDomains around', async () => {
    const [one, two] = await twoPrimaries();
    const three = customer.host('three');
    verify(three);
    await customer.deploy('third');
    await customer.attach('third', three, [], 'third');
    await expectHosts('third', {[three]: 'Live Serving'});
    recording = await Recording.start(platform.client, customer.namespace);
    for (const [name, primary] of [
      ['web', two],
      ['other', three],
      ['third', one],
    ] as const)
      await change(name, {primary});
    await expectHosts('web', {[two]: 'Live Serving'});
    await expectHosts('other', {[three]: 'Live Serving'});
    await expectHosts('third', {[one]: 'Live Serving'});
    expectNothingAsked();
  });

  test('swaps hostnames of two Namespaces of the Account', async () => {
    const [one, two] = [customer.host('one'), customer.host('two')];
    verify(one, two);
    const name = `${customer.namespace}-second`;
    const labels = {'doorplate.dev/account': customer.namespace};
    await platform.client.create(namespaces, {apiVersion: 'v1', kind: 'Namespace', metadata: {name, labels}});
    const second = Customer.of(platform, name);
    await second.deploy('web');
    await customer.attach('web', one);
    await second.attach('web', two);
    await expectHosts('web', {[one]: 'Live Serving'});
    await expectHosts('web', {[two]: 'Live Serving'}, second);
    recording = await Recording.start(platform.client, customer.namespace, name);
    await change('web', {primary: two});
    await change('web', {primary: one}, second);
    await expectHosts('web', {[two]: 'Live Serving'});
    await expectHosts('web', {[one]: 'Live Serving'}, second);
    expectNothingAsked();
  });

  test('makes the primary of one a redirect of the other, and the other way', async () => {
    const old = customer.host('old');
    const [one, two] = await twoPrimaries([old]);
    recording = await Recording.start(platform.client, customer.namespace);
    await change('web', {primary: two, redirects: []});
    await change('other', {primary: old, redirects: redirects(one)});
    await expectHosts('web', {[two]: 'Live Serving'});
    await expectHosts('other', {[old]: 'Live Serving', [one]: 'Live Redirecting'});
    // A redirect that is removed stops at once (docs/how-to/migrate.md).
    expect([recording.removals, recording.unrouted]).toEqual([[], [old]]);
  });

  test('moves a redirect to another CustomDomain', async () => {
    const old = customer.host('old');
    const [one, two] = await twoPrimaries([old]);
    recording = await Recording.start(platform.client, customer.namespace);
    await change('other', {redirects: redirects(old)});
    await change('web', {redirects: []});
    await expectHosts('web', {[one]: 'Live Serving'});
    await expectHosts('other', {[two]: 'Live Serving', [old]: 'Live Redirecting'});
    expect([recording.removals, recording.unrouted]).toEqual([[], [old]]);
  });

  test('deletes a CustomDomain and creates one with its hostname', async () => {
    const [one] = await twoPrimaries();
    await customer.deploy('third');
    recording = await Recording.start(platform.client, customer.namespace);
    await customer.attach('third', one, [], 'third');
    await customer.remove(customDomains, 'web');
    await expectHosts('third', {[one]: 'Live Serving'});
    // What is deleted stops at once (docs/how-to/migrate.md).
    expect([recording.removals, recording.unrouted]).toEqual([[], [one]]);
  });
});

describe('A hostname that a new Project takes over in the same commit', () => {
  const moved: [order: string, isNewFirst: boolean][] = [
    ['the new Project is applied first', true],
    ['the former CustomDomain is applied first', false],
  ];

  test.each(moved)('is served as before until that is deployed and serves it: %s', async (_, isNewFirst) => {
    const [one, blog] = [customer.host('one'), customer.host('blog')];
    verify(one);
    await customer.point([blog]);
    await customer.attach('web', one, [blog]);
    await expectHosts('web', {[one]: 'Live Serving', [blog]: 'Live Redirecting'});
    recording = await Recording.start(platform.client, customer.namespace);
    const create = async () => {
      await customer.attach('new', one, [], 'new');
      await customer.service('new');
      await customer.publish('new');
    };
    if (isNewFirst) await create();
    if (isNewFirst) await expectHosts('new', {[one]: 'NotAccepted NoSuccessfulDeploy'});
    await change('web', {primary: blog, redirects: []});
    if (!isNewFirst) await create();
    await expectHosts('web', {[blog]: 'Live Serving', [one]: 'Live ServedUntilReplaced'});
    await expectHosts('new', {[one]: 'NotAccepted NoSuccessfulDeploy'});
    await customer.endpoints('new');
    await expectHosts('new', {[one]: 'Live Serving'});
    await expectHosts('web', {[blog]: 'Live Serving'});
    expectNothingAsked();
  });
});

test('after a restart that comes between, no status asks to remove what the commit has removed', async () => {
  const [one] = await twoPrimaries();
  await customer.deploy('third');
  await customer.attach('third', one, [], 'third');
  await expectHosts('third', {[one]: 'AwaitingVerification HostnameClaimed'});
  await operator.stop();
  await change('web', {primary: customer.host('new')});
  recording = await Recording.start(platform.client, customer.namespace);
  operator = await RunningOperator.start(platform);
  await expectHosts('third', {[one]: 'Live Serving'});
  expectNothingAsked();
});

/** A hostname that passes between CustomDomains of one tenant. All that looks again by itself is set to an hour. */
import {afterAll, beforeAll, expect, test} from '@jest/globals';
import {tokenFor} from '../../operator/domain/claims/claim.ts';
import {customDomains} from '../../operator/resources/resources.ts';
import {Customer} from '../support/customer.ts';
import {RunningOperator} from '../support/operator.ts';
import {Platform, zone} from '../support/platform.ts';
import {enterprise, tenantOn} from '../support/world.ts';
import {record} from '../unit/dns/fake-servers.ts';

let platform: Platform;
let operator: RunningOperator;

beforeAll(async () => {
  platform = await Platform.start();
  operator = await RunningOperator.start(platform);
});
afterAll(async () => {
  await operator?.stop();
  await platform?.stop();
});

/** A customer whose apex has its TXT, and is the Live primary of `web`. */
async function withApex(): Promise<{customer: Customer; apex: string; blog: string}> {
  const customer = await Customer.deployed(platform);
  const [apex, blog] = [customer.zone, customer.host('blog')];
  const token = tokenFor(zone, {...tenantOn(enterprise), account: customer.namespace}, apex, undefined);
  const challenge = `_doorplate-challenge.${apex}`;
  platform.dns.set(apex, record(apex, 'A', '127.0.0.1'));
  platform.dns.set(challenge, {name: challenge, type: 'TXT', ttl: 60, data: token});
  await customer.deploy('other');
  await customer.attach('web', apex);
  await expectHosts(customer, 'web', {[apex]: 'Live Serving'});
  return {customer, apex, blog};
}

async function expectHosts(customer: Customer, name: string, expected: Record<string, string>): Promise<void> {
  expect(await operator.comesTo(() => customer.hosts(name), expected)).toEqual(expected);
}

test('an apex that another Project names passes as soon as it is no longer the primary, although the new primary is not Live', async () => {
  const {customer, apex, blog} = await withApex();
  await customer.attach('other', apex, [], 'other');
  await expectHosts(customer, 'other', {[apex]: 'AwaitingVerification HostnameClaimed'});
  await customer.change(customDomains, 'web', {spec: {primary: blog}});
  await expectHosts(customer, 'other', {[apex]: 'Live Serving'});
  await expectHosts(customer, 'web', {[blog]: 'AwaitingVerification RecordMissing'});
  expect(await customer.holder(apex)).toBe('CustomDomain other');
});

test('a former primary stays until the Project that names it is refused or removed, although the new primary is Live', async () => {
  const customer = await Customer.deployed(platform);
  const [www, blog] = [customer.host('www'), customer.host('blog')];
  await customer.deploy('other');
  await customer.point([www, blog]);
  await customer.attach('web', www);
  await expectHosts(customer, 'web', {[www]: 'Live Serving'});
  // `www` has a CNAME to the Project `web`, so `other` waits for another record.
  await customer.attach('other', www, [], 'other');
  await expectHosts(customer, 'other', {[www]: 'AwaitingVerification TargetMismatch'});
  await customer.change(customDomains, 'web', {spec: {primary: blog}});
  await expectHosts(customer, 'web', {[blog]: 'Live Serving', [www]: 'Live ServedUntilReplaced'});
  await customer.remove(customDomains, 'other');
  await expectHosts(customer, 'web', {[blog]: 'Live Serving'});
});

/** The redirector's role in this process: on a real API server, what it answers follows status. */
import {request} from 'node:http';
import {createServer, type AddressInfo} from 'node:net';
import {afterAll, beforeAll, describe, expect, test} from '@jest/globals';
import {pino} from 'pino';
import type {HostStatus} from '../../operator/api/custom-domain.ts';
import {customDomains, domainClaims, projects} from '../../operator/resources/resources.ts';
import {Client} from '../../operator/kube/client/client.ts';
import type {Manager} from '../../operator/kube/manager.ts';
import type {Resource} from '../../operator/kube/objects.ts';
import type {RoleParts} from '../../operator/roles/parts.ts';
import {redirector} from '../../operator/roles/redirector.ts';
import {Customer} from '../support/customer.ts';
import {eventually} from '../support/kube-api.ts';
import {Platform} from '../support/platform.ts';
import {SwallowingProxy} from '../support/swallowing-proxy.ts';

let platform: Platform;
let network: SwallowingProxy;
let client: Client;
let manager: Manager;
let port: number;
beforeAll(async () => {
  platform = await Platform.start();
  const free = createServer();
  await new Promise<void>((resolve) => free.listen(0, resolve));
  ({port} = free.address() as AddressInfo);
  await new Promise((resolve) => free.close(resolve));
  network = await SwallowingProxy.start(Number(new URL(platform.server.url).port));
  client = new Client({...platform.server.credentials, server: `https://127.0.0.1:${network.port}`});
  manager = redirector({client, log: pino({level: 'silent'})} as RoleParts, {port, lingerMs: 0});
  await manager.start();
});
afterAll(async () => {
  await manager?.stop();
  await network?.stop();
  await platform?.stop();
});

/** `302 https://...`: what a visitor of `/x` is told. */
function answerOf(host: string): Promise<string> {
  return new Promise((resolve, reject) => {
    request({host: '127.0.0.1', port, path: '/x', headers: {host}, agent: false}, (res) => {
      res.resume();
      resolve(`${res.statusCode} ${res.headers.location ?? ''}`.trim());
    })
      .on('error', reject)
      .end();
  });
}

/** Waits until the redirector has been told of what comes after. */
async function expectAnswer(customer: Customer, host: string, expected: string): Promise<void> {
  const beside = customer.host(`after-${Math.random().toString(36).slice(2)}`);
  const name = beside.split('.')[0]!;
  await customer.attach(name, beside);
  await say(customDomains, customer, name, {hosts: [{...live(beside), role: 'Primary'}]});
  await eventually(async () => (await answerOf(beside)) === `308 https://${beside}/x`);
  expect(await answerOf(host)).toBe(expected);
}

const live = (hostname: string): HostStatus => ({
  hostname,
  role: 'RedirectSource',
  phase: 'Live',
  reason: 'Redirecting',
  message: '',
  since: '2026-03-01T12:00:00Z',
  waitingFor: 'Nobody',
});
const say = (resource: Resource, {namespace}: Customer, name: string, status: object) =>
  platform.client.patch(
    resource,
    `${namespace}/${name}`,
    {status: {observedGeneration: 1, ...status}},
    {type: 'merge', subresource: 'status'},
  );

describe('The redirector', () => {
  test('follows the status of a CustomDomain, and stops redirecting when that is gone', async () => {
    const customer = await Customer.create(platform);
    const [www, old] = [customer.host('www'), customer.host('old')];
    await customer.attach('web', www, [old]);
    await expectAnswer(customer, old, '404');
    await say(customDomains, customer, 'web', {hosts: [{...live(old), redirect: {to: www, status: 302}}]});
    await expectAnswer(customer, old, `302 https://${www}/x`);
    await customer.remove(customDomains, 'web');
    await expectAnswer(customer, old, '404');
  });

  test('follows the status of a Project', async () => {
    const customer = await Customer.create(platform);
    await customer.publish('web');
    const host = `web-${customer.namespace}.apps.platform.test`;
    const tell = (reason: string) =>
      say(projects, customer, 'web', {
        host,
        conditions: [
          {type: 'RoutesReady', status: 'True', reason, message: '', lastTransitionTime: '2026-03-01T12:00:00Z'},
        ],
      });
    await tell('Routed');
    await eventually(async () => (await answerOf(host)) !== '404');
    expect(await answerOf(host)).toBe(`308 https://${host}/x`);
    await tell('DefaultHostDisabled');
    await eventually(async () => (await answerOf(host)) === '404');
  });

  test('answers a redirect that is published while its watch is silent', async () => {
    const customer = await Customer.create(platform);
    const [www, old] = [customer.host('www'), customer.host('old')];
    await customer.attach('web', www, [old]);
    const {metadata} = (await platform.client.get(customDomains, `${customer.namespace}/web`))!;
    const {namespace = '', name, uid = ''} = metadata;
    await platform.client.create(domainClaims, {
      apiVersion: 'doorplate.dev/v1alpha1',
      kind: 'DomainClaim',
      metadata: {name: old},
      spec: {tenant: {account: customer.namespace}, proof: 'DNS'},
      status: {generation: 1, holder: {kind: 'CustomDomain', namespace, name, uid}},
    });
    await expectAnswer(customer, old, '404');
    network.swallow();
    const from = performance.now();
    await say(customDomains, customer, 'web', {hosts: [{...live(old), redirect: {to: www, status: 302}}]});
    // A connection that is kept alive is silent, too: the first lookups may end after their second.
    await eventually(async () => (await answerOf(old)) === `302 https://${www}/x`);
    // The watch is found silent after 45 s.
    expect(performance.now() - from).toBeLessThan(30_000);
  });
});

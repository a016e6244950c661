/** Rules 4 and 5 as tenants meet them: who gets a hostname, who keeps it, and what nobody gets. */
import {afterAll, beforeAll, describe, expect, test} from '@jest/globals';
import type {DomainClaim} from '../../operator/api/foreign.ts';
import {domainClaims, ingresses} from '../../operator/controllers/resources.ts';
import type {Client} from '../../operator/kube/client.ts';
import {
  acmeRoot,
  adminClient,
  apply,
  eventually,
  fetchEdge,
  kubectl,
  patienceMs,
  setZone,
  sh,
} from '../../cluster/cluster.ts';
import {Tenant} from '../support/tenant.ts';

const edge = 'IN A 10.244.0.1';

let ann: Tenant;
let ben: Tenant;
let client: Client;
let ca: string;
beforeAll(async () => {
  [ann, ben] = await Promise.all([Tenant.create('ann'), Tenant.create('ben')]);
  [client, ca] = [adminClient(), await acmeRoot()];
});
afterAll(async () => {
  await Promise.all([ann?.remove(), ben?.remove()]);
  await client?.close();
});

const claimOf = (hostname: string) => client.get<DomainClaim>(domainClaims, hostname);
const body = async (hostname: string) => (await fetchEdge(`https://${hostname}/`, {ca})).body;
const stopped = (hostname: string) =>
  eventually(`${hostname} is served no more`, async () => (await fetchEdge(`https://${hostname}/`)).status === 404);
const served = (hostname: string, by: Tenant) =>
  eventually(
    `${hostname} is served by ${by.namespace}`,
    async () => (await body(hostname)) === `hello from ${by.namespace}/web\n`,
    patienceMs,
    100,
  );

describe('a removed name', () => {
  test('its owner deletes it and another adds it while the old records stand: refused; with the new token: served', async () => {
    const zone = `kept-${ann.zone}`;
    const old = [ann, ben].map((t) => `_doorplate-challenge IN TXT "${t.token(zone)}"`);
    await setZone(zone, [`@ ${edge}`, old[0]!]);
    await ann.attach('kept', zone, [], 'web');
    await ann.wait('kept', 'Ready');
    await served(zone, ann);
    // What ben was once shown stands there, too.
    await setZone(zone, [`@ ${edge}`, ...old]);
    await kubectl(['delete', 'customdomain', '-n', ann.namespace, 'kept']);
    const kept = await eventually('the claim is in quarantine', async () => {
      const c = await claimOf(zone);
      return c?.status?.quarantinedUntil !== undefined && c;
    });
    expect(Date.parse(kept.status?.quarantinedUntil ?? '') - Date.now()).toBeGreaterThan(29 * 86_400_000);
    expect(kept.spec).toEqual({tenant: {account: ann.namespace}, proof: 'DNS'});

    await ben.attach('kept', zone);
    await ben.reason('kept', 'TXTMismatch');
    const records = (await ben.get('kept'))?.status?.dnsRecords ?? [];
    const fresh = records.find((r) => r.type === 'TXT')?.value ?? '';
    expect(fresh).toBe(ben.token(zone, kept));
    expect(old[1]).not.toContain(fresh);
    expect((await claimOf(zone))?.metadata.resourceVersion).toBe(kept.metadata.resourceVersion);
    await stopped(zone);

    await setZone(zone, [`@ ${edge}`, ...old, `_doorplate-challenge IN TXT "${fresh}"`]);
    await ben.wait('kept', 'Ready');
    await served(zone, ben);
    expect((await claimOf(zone))?.spec.tenant).toEqual({account: ben.namespace});
    await kubectl(['delete', 'customdomain', '-n', ben.namespace, 'kept']);
    await sh('cluster/dns.sh', ['remove', zone]);
  });

  test('the same tenant gets it back at once, by the records that stand', async () => {
    await ann.record('back', ann.proof);
    await ann.attach('back', ann.host('back'));
    await ann.wait('back', 'Verified');
    await kubectl(['delete', 'customdomain', '-n', ann.namespace, 'back']);
    await eventually(
      'the claim is in quarantine',
      async () => (await claimOf(ann.host('back')))?.status?.quarantinedUntil !== undefined,
    );
    await ann.attach('back', ann.host('back'));
    await ann.wait('back', 'Ready');
    expect((await claimOf(ann.host('back')))?.status?.quarantinedUntil).toBeUndefined();
    await kubectl(['delete', 'customdomain', '-n', ann.namespace, 'back']);
  });
});

describe('a hostname that passes on', () => {
  test("DNS re-pointed from one tenant's host to another's: the other is served and the first stops within the confirmation time", async () => {
    const hostname = ann.host('moves');
    await ann.record('moves', ann.proof);
    await ann.attach('moves', hostname);
    await ann.wait('moves', 'Ready');
    await ben.attach('moves', hostname);
    await ben.reason('moves', 'TargetMismatch');
    const uid = (await ann.get('moves'))?.metadata.uid ?? '';
    await ann.record('moves', `IN CNAME ${ben.target}.`);
    const began = Date.now();
    const seconds = () => ((Date.now() - began) / 1000).toFixed(1);
    await eventually(
      'the claim has passed on',
      async () => (await claimOf(hostname))?.status?.holder?.namespace === ben.namespace,
      120_000,
      100,
    );
    const passed = seconds();
    await eventually(
      'the first has no route any more',
      async () => (await ann.children(uid, ingresses)).length === 0,
      30_000,
      100,
    );
    const routeGone = seconds();
    await served(hostname, ben);
    console.log(
      `re-pointed: the claim passed after ${passed} s, the first stopped after ${routeGone} s, the other was served after ${seconds()} s (confirmations 2, 5 and 10 s)`,
    );
    expect((await ann.get('moves'))?.status?.hosts?.[0]).toMatchObject({
      phase: 'AwaitingVerification',
      reason: 'TargetMismatch',
    });
    await Promise.all([ann, ben].map((t) => kubectl(['delete', 'customdomain', '-n', t.namespace, 'moves'])));
  });

  test('a claim that the platform has written counts as proof', async () => {
    const hostname = ben.host('given');
    await ben.record('given', edge);
    await ben.attach('given', hostname);
    await ben.reason('given', 'ProxiedOrFlattened');
    await apply([
      {
        apiVersion: 'doorplate.dev/v1alpha1',
        kind: 'DomainClaim',
        metadata: {name: hostname},
        spec: {tenant: {account: ben.namespace}},
      },
    ]);
    await ben.wait('given', 'Ready');
    await served(hostname, ben);
    expect((await claimOf(hostname))?.spec).toEqual({tenant: {account: ben.namespace}, proof: 'Platform'});
    await kubectl(['delete', 'customdomain', '-n', ben.namespace, 'given']);
    await kubectl(['delete', 'domainclaim', hostname]);
  });
});

describe('a namespace', () => {
  test('that is deleted goes with its routes, its claims in quarantine; one of its name inherits neither its hostname nor its default host', async () => {
    const gone = await Tenant.create('gone');
    const hostname = gone.host('www');
    await gone.record('www', gone.proof);
    await gone.attach('site', hostname);
    await gone.wait('site', 'Ready');
    const began = Date.now();
    await kubectl(['delete', 'namespace', gone.namespace], {timeoutMs: 120_000});
    console.log(
      `a namespace with a Live hostname was gone after ${((Date.now() - began) / 1000).toFixed(1)} s (of 30)`,
    );
    await eventually(
      'its claim is in quarantine',
      async () => (await claimOf(hostname))?.status?.quarantinedUntil !== undefined,
    );
    await stopped(hostname);

    // Somebody makes a namespace of that name, and the platform gives it to another account.
    await kubectl(['create', 'namespace', gone.namespace]);
    await gone.belongsTo(ben.namespace);
    await apply([...gone.backend('web'), gone.project('web')]);
    const project = await eventually('the Project of the same name is deployed', async () => {
      const p = await gone.getProject('web');
      return p?.status?.firstDeployTime !== undefined && p;
    });
    expect(project.status?.host).not.toBe(gone.target);
    expect((await claimOf(gone.target))?.spec.tenant).toEqual({account: gone.namespace});
    await gone.attach('site', hostname);
    // The record names the host that is no longer.
    await gone.reason('site', 'TargetMismatch');
    expect((await claimOf(hostname))?.spec.tenant).toEqual({account: gone.namespace});
    await gone.remove();
  });
});

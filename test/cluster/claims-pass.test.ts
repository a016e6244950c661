/** Rule 4 as tenants meet it: who has proven a hostname gets it, whoever held it. */
import {afterAll, beforeAll, describe, expect, test} from '@jest/globals';
import {ingresses} from '../../operator/resources/resources.ts';
import {acmeRoot, apply, eventually, kubectl} from '../../cluster/cluster.ts';
import {Tenant, claimOf} from '../support/tenant.ts';
import {servedBy} from '../support/visitor.ts';

const edge = 'IN A 10.244.0.1';

let ann: Tenant;
let ben: Tenant;
let ca: string;
beforeAll(async () => {
  [ann, ben] = await Promise.all([Tenant.create('ann'), Tenant.create('ben')]);
  ca = await acmeRoot();
});
afterAll(async () => {
  await Promise.all([ann?.remove(), ben?.remove()]);
});

describe('a hostname that passes on', () => {
  test("DNS re-pointed from one tenant's host to another's: the claim passes on after the confirmations, the first stops and the other is served", async () => {
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
      undefined,
      100,
    );
    const passed = seconds();
    await eventually(
      'the first has no route any more',
      async () => (await ann.children(uid, ingresses)).length === 0,
      undefined,
      100,
    );
    const routeGone = seconds();
    await servedBy(hostname, ben, ca);
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
    await servedBy(hostname, ben, ca);
    expect((await claimOf(hostname))?.spec).toEqual({tenant: {account: ben.namespace}, proof: 'Platform'});
    await kubectl(['delete', 'customdomain', '-n', ben.namespace, 'given']);
    await kubectl(['delete', 'domainclaim', hostname]);
  });
});

/** Renewals and reissues while the hostnames serve: the redirector lets the challenge through, and no request fails. */
import {afterAll, beforeAll, expect, test} from '@jest/globals';
import {reissueAnnotation} from '../../operator/api/custom-domain.ts';
import {certificates} from '../../operator/resources/resources.ts';
import {acmeRoot, api, eventually, issuedLeaf, kubectl, patienceMs, presented} from '../../cluster/cluster.ts';
import {renew} from '../support/issuances.ts';
import {Tenant} from '../support/tenant.ts';
import {constantClient} from '../support/visitor.ts';

let tenant: Tenant;
let ca: string;
beforeAll(async () => {
  tenant = await Tenant.create('renewal');
  ca = await acmeRoot();
});
afterAll(async () => {
  await tenant?.remove();
});

/** How often each Certificate has been issued. */
const revisionsOf = (keys: readonly string[]): Promise<number[]> =>
  Promise.all(keys.map(async (key) => (await api().get(certificates, key))?.status?.revision ?? 0));

test('the primary and a redirect source are renewed while both serve: the solver is reached, and no request fails', async () => {
  const [www, old] = [tenant.host('www'), tenant.host('old')];
  await tenant.records({www: tenant.proof, old: tenant.proof});
  await tenant.attach('site', www, [{from: old}]);
  const lines = [`${www} Live Serving`, `${old} Live Redirecting`];
  const live = await tenant.hosts('site', lines);
  const keys = await tenant.children(live.metadata.uid ?? '', certificates);
  expect(keys).toHaveLength(2);
  const before = await Promise.all([www, old].map(async (h) => (await presented(h, ca)).sha256));

  const visitor = await constantClient([www, old], ca);
  await Promise.all(keys.map(renew));
  await eventually(
    'both have another certificate, and the edge presents it',
    async () => {
      const leaves = await Promise.all(keys.map((key) => issuedLeaf(...(key.split('/') as [string, string]))));
      const shown = await Promise.all([www, old].map(async (h) => (await presented(h, ca)).sha256));
      const revisions = await revisionsOf(keys);
      return (
        revisions.every((revision) => revision >= 2) && shown.every((s) => leaves.includes(s) && !before.includes(s))
      );
    },
    patienceMs,
    500,
  );
  const {requests, failed} = await visitor.stop();
  console.log(`renewed under ${requests} requests`);
  expect(failed).toEqual([]);
  expect(requests).toBeGreaterThan(50);
  await tenant.hosts('site', lines);
  expect((await tenant.get('site'))?.status?.hosts?.map((h) => h.liveAt)).toEqual(
    live.status?.hosts?.map((h) => h.liveAt),
  );
});

test('a reissue replaces the private keys by one order each, and no request fails', async () => {
  const [www, old] = [tenant.host('www'), tenant.host('old')];
  const {metadata} = await tenant.hosts('site', [`${www} Live Serving`, `${old} Live Redirecting`]);
  const issued = await tenant.children(metadata.uid ?? '', certificates);
  const revisions = await revisionsOf(issued);
  const keys = () => Promise.all([www, old].map(async (h) => (await presented(h, ca)).publicKey));
  const former = await keys();

  const visitor = await constantClient([www, old], ca);
  const began = new Date();
  const requestedAt = began.toISOString();
  await kubectl(['annotate', 'customdomain', '-n', tenant.namespace, 'site', `${reissueAnnotation}=${requestedAt}`]);
  await eventually('the reissue is done', async () => {
    const {status} = (await tenant.get('site'))!;
    expect(status?.hosts?.map(({phase}) => phase)).toEqual(['Live', 'Live']);
    return status?.lastHandledReissueAt === requestedAt;
  });
  console.log(`other keys after ${Date.now() - began.getTime()} ms`);
  expect((await keys()).filter((key) => former.includes(key))).toEqual([]);
  const {requests, failed} = await visitor.stop();
  console.log(`reissued under ${requests} requests, ${failed.length} failed`);
  expect(failed).toEqual([]);
  expect(await revisionsOf(issued)).toEqual(revisions.map((revision) => revision + 1));
});

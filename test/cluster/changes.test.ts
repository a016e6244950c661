/** What is changed while it is live: nothing that stands goes before what replaces it stands. */
import {afterAll, beforeAll, describe, expect, test} from '@jest/globals';
import {certificates, ingresses} from '../../operator/resources/resources.ts';
import {acmeRoot, apply, eventually, fetchEdge, kubectl} from '../../cluster/cluster.ts';
import {Tenant, claimOf} from '../support/tenant.ts';
import {constantClient, redirected, stopped} from '../support/visitor.ts';

let tenant: Tenant;
let ca: string;
beforeAll(async () => {
  tenant = await Tenant.create('change');
  ca = await acmeRoot();
});
afterAll(async () => {
  await tenant?.remove();
});

const lines = (primary: string, source: string) => [`${primary} Live Serving`, `${source} Live Redirecting`];

describe('a live CustomDomain', () => {
  test('its primary and its redirect source change places under a constant client: no request fails', async () => {
    const [www, old] = [tenant.host('www'), tenant.host('old')];
    await tenant.records({www: tenant.proof, old: tenant.proof});
    await tenant.attach('site', www, [{from: old}]);
    await tenant.hosts('site', lines(www, old));
    const visitor = await constantClient([www, old], ca);
    const began = Date.now();
    await tenant.attach('site', old, [{from: www, status: 302}]);
    await tenant.hosts('site', lines(old, www));
    const took = Date.now() - began;
    await redirected(`https://${www}/p?q`, 302, `https://${old}/p?q`, ca);
    await new Promise((resolve) => {
      setTimeout(resolve, 2000);
    });
    const {requests, failed} = await visitor.stop();
    console.log(`swapped in ${(took / 1000).toFixed(1)} s, ${requests} requests meanwhile`);
    expect(failed).toEqual([]);
    expect(requests).toBeGreaterThan(50);
    const uid = (await tenant.get('site'))?.metadata.uid ?? '';
    expect(await tenant.children(uid, ingresses)).toHaveLength(2);
    expect(await tenant.children(uid, certificates)).toHaveLength(2);
  });

  test('a new primary is Live before the old one stops, and redirects go to the old one until then', async () => {
    const [old, www, next] = [tenant.host('old'), tenant.host('www'), tenant.host('next')];
    const visitor = await constantClient([old, www], ca);
    await tenant.attach('site', next, [{from: www, status: 302}]);
    // Nothing is proven of it yet.
    await tenant.hosts('site', [
      `${next} AwaitingVerification RecordMissing`,
      `${www} Live Redirecting`,
      `${old} Live ServedUntilReplaced`,
    ]);
    expect(await fetchEdge(`https://${www}/`, {ca})).toMatchObject({status: 302, location: `https://${old}/`});
    await tenant.record('next', tenant.proof);
    await eventually('the new primary is Live', async () => (await tenant.get('site'))?.status?.phase === 'Live');
    const {failed} = await visitor.stop();
    // The old one itself stops only now.
    const liveAt = Date.parse((await tenant.get('site'))?.status?.hosts?.[0]?.liveAt ?? '');
    expect(failed.filter((f) => !(f.said.includes(`://${old}/: `) && f.ended >= liveAt))).toEqual([]);
    await tenant.hosts('site', lines(next, www));
    await eventually('the old primary stops', async () => (await fetchEdge(`https://${old}/`)).status === 404);
    await redirected(`https://${www}/`, 302, `https://${next}/`, ca);
  });

  test('the status of a redirect is changed under a constant client: no request fails', async () => {
    const [next, www] = [tenant.host('next'), tenant.host('www')];
    const visitor = await constantClient([www], ca);
    await tenant.attach('site', next, [{from: www, status: 308}]);
    await redirected(`https://${www}/`, 308, `https://${next}/`, ca);
    expect((await visitor.stop()).failed).toEqual([]);
    expect((await tenant.hosts('site', lines(next, www))).status?.hosts?.[1]?.redirect).toEqual({
      to: next,
      status: 308,
    });
  });

  test('its Project is deleted: routes go, its claims stay; the Project comes back and so do they', async () => {
    const [next, www] = [tenant.host('next'), tenant.host('www')];
    await kubectl(['delete', 'project', '-n', tenant.namespace, 'web']);
    await tenant.reason('site', 'ProjectNotFound');
    for (const host of [next, www]) await stopped(host);
    const uid = (await tenant.get('site'))?.metadata.uid ?? '';
    expect(await tenant.children(uid, ingresses)).toEqual([]);
    const claims = await Promise.all([next, www].map(async (host) => (await claimOf(host))?.status));
    expect(claims.map((c) => [c?.holder?.uid, c?.quarantinedUntil])).toEqual([
      [uid, undefined],
      [uid, undefined],
    ]);
    await apply([tenant.project('web')]);
    await tenant.wait('site', 'Ready');
    // Its default host is what it was, so that no record has to be changed.
    expect((await tenant.getProject('web'))?.status?.host).toBe(tenant.target);
  });
});

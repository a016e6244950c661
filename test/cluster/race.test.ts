/** Rule 4: proof decides, not speed. The last pairs stand until the loser's proof has been held against the holder's, over and over. */
import {afterAll, beforeAll, expect, test} from '@jest/globals';
import type {CustomDomain, DomainClaim} from '../../operator/api/foreign.ts';
import {customDomains, domainClaims} from '../../operator/resources/resources.ts';
import {Cache} from '../../operator/kube/cache/cache.ts';
import type {Client} from '../../operator/kube/client/client.ts';
import {adminClient, apply, audit, eventually, patienceMs, setZone, sh, writeVerbs} from '../../cluster/cluster.ts';
import {keyOf, maybeDone, receivedAt, statusIn, succeeded} from '../support/requests.ts';
import {Tenant} from '../support/tenant.ts';

let ann: Tenant;
let ben: Tenant;
let client: Client;
beforeAll(async () => {
  [ann, ben] = await Promise.all([Tenant.create('ann'), Tenant.create('ben')]);
  client = adminClient();
});
afterAll(async () => {
  await Promise.all([ann?.remove(), ben?.remove()]);
  await client?.close();
});

const soon = <T>(what: string, holds: () => T | false) => eventually(what, async () => holds(), patienceMs, 10);

const zones = Array.from({length: 10}, (_, i) => `race${i}-${Date.now().toString(36)}.test`);
const rounds = 20;
/** Longer than all of `dns.takeoverConfirmations`. */
const confirmationsMs = 12_000;

test('two tenants race for one apex with two TXT records, 200 times: one claim, the loser is told only HostnameClaimed, and the winner is not written', async () => {
  for (const tenant of [ann, ben])
    await apply(
      zones.map((_, i) => tenant.project(`race${i}`, {serviceRef: {name: 'web', port: 80}, defaultHost: 'Disabled'})),
    );
  await eventually('the Projects are deployed', async () =>
    (
      await Promise.all(
        [ann, ben].map(async (t) => (await t.getProject('race9'))?.status?.firstDeployTime !== undefined),
      )
    ).every(Boolean),
  );
  // The CA is kept out of it by a record of the zone.
  for (const zone of zones)
    await setZone(zone, [
      '@ IN A 10.244.0.1',
      '@ IN CAA 0 issue ";"',
      ...[ann, ben].map((t) => `_doorplate-challenge IN TXT "${t.token(zone)}"`),
    ]);
  const wins = new Map([
    [ann, 0],
    [ben, 0],
  ]);
  const began = new Date();
  /** The winners, from their creation to their end, ms since the epoch. */
  const held: {key: string; from: number; to: number}[] = [];
  // Watched, not polled: what is raced for is the operator's time.
  const watching = new AbortController();
  const domains = new Map(
    [ann, ben].map((t) => [t, new Cache<CustomDomain, CustomDomain>(client, customDomains, {namespace: t.namespace})]),
  );
  const claims = new Cache<DomainClaim, DomainClaim>(client, domainClaims, {});
  for (const cache of [...domains.values(), claims]) {
    cache.start(watching.signal);
    await cache.synced;
  }
  await Promise.all(
    zones.map(async (zone, i) => {
      const key = (t: Tenant) => `${t.namespace}/race${i}`;
      const get = (t: Tenant) => domains.get(t)?.get(key(t));
      for (let round = 0; round < rounds; round++) {
        const from = Date.now();
        await Promise.all(
          [ann, ben].map((t) =>
            client.create<CustomDomain>(customDomains, {
              apiVersion: 'doorplate.dev/v1alpha1',
              kind: 'CustomDomain',
              metadata: {name: `race${i}`, namespace: t.namespace},
              spec: {projectRef: {name: `race${i}`}, primary: zone},
            }),
          ),
        );
        const [a, b] = await soon(`${zone} is won and lost`, () => {
          const both = [ann, ben].map((t) => get(t)?.status?.hosts?.[0]);
          return (
            both
              .map((h) => h?.reason)
              .toSorted()
              .join() === 'CAABlocksIssuer,HostnameClaimed' && both
          );
        });
        const [winner, loser, told] = a?.reason === 'CAABlocksIssuer' ? [ann, ben, b] : [ben, ann, a];
        wins.set(winner, (wins.get(winner) ?? 0) + 1);
        expect((await client.get<DomainClaim>(domainClaims, zone))?.status?.holder).toMatchObject({
          namespace: winner.namespace,
          name: `race${i}`,
        });
        expect(told).toMatchObject({phase: 'AwaitingVerification', reason: 'HostnameClaimed'});
        expect(JSON.stringify(get(loser))).not.toContain(winner.namespace);
        if (round === rounds - 1)
          await new Promise((resolve) => {
            setTimeout(resolve, confirmationsMs);
          });
        held.push({key: key(winner), from, to: Date.now()});
        await Promise.all([ann, ben].map((t) => client.delete(customDomains, key(t))));
        // The platform gives the name free, so that the next round has the same tokens.
        await soon(
          'both are gone and the claim is released',
          () => [ann, ben].every((t) => get(t) === undefined) && claims.get(zone)?.status?.holder === undefined,
        );
        await client.delete(domainClaims, zone);
        await soon('the claim is gone', () => claims.get(zone) === undefined);
      }
    }),
  );
  watching.abort();
  console.log(
    `of ${zones.length * rounds} races ${ann.namespace} won ${wins.get(ann)}, ${ben.namespace} ${wins.get(ben)}`,
  );
  expect([...wins.values()].reduce((sum, n) => sum + n)).toBe(200);
  const writes = await audit(
    began,
    (e) => writeVerbs.has(e.verb) && e.objectRef?.resource === 'customdomains' && maybeDone(e),
  );
  for (const {key, from, to} of held) {
    const all = writes
      .filter((e) => keyOf(e) === key && from <= receivedAt(e) && receivedAt(e) < to)
      .toSorted((a, b) => receivedAt(a) - receivedAt(b));
    const won = all.findIndex((e) => statusIn(e)?.hosts?.[0]?.reason === 'CAABlocksIssuer');
    expect(won).toBeGreaterThanOrEqual(0);
    // Nobody writes the winner after it was said to have won.
    expect(all.slice(won).filter((_, n) => n > 0 && succeeded(all[won + n - 1]!))).toEqual([]);
  }
  for (const zone of zones) await sh('cluster/dns.sh', ['remove', zone]);
});

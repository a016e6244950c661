/** Rules 4 and 5 as tenants meet them: who gets a hostname, who keeps it, and what nobody gets. */
import {afterAll, beforeAll, describe, expect, test} from '@jest/globals';
import {acmeRoot, eventually, kubectl, setZone, sh} from '../../cluster/cluster.ts';
import {Tenant, claimOf} from '../support/tenant.ts';
import {servedBy, stopped} from '../support/visitor.ts';

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

describe('a removed name', () => {
  test('its owner deletes it and another adds it while the old records stand: refused; with the new token: served', async () => {
    const zone = `kept-${ann.zone}`;
    const old = [ann, ben].map((t) => `_doorplate-challenge IN TXT "${t.token(zone)}"`);
    await setZone(zone, [`@ ${edge}`, old[0]!]);
    await ann.attach('kept', zone, [], 'web');
    await ann.wait('kept', 'Ready');
    await servedBy(zone, ann, ca);
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
    await servedBy(zone, ben, ca);
    expect((await claimOf(zone))?.spec.tenant).toEqual({account: ben.namespace});
    await kubectl(['delete', 'customdomain', '-n', ben.namespace, 'kept']);
    await sh('cluster/dns.sh', ['remove', zone]);
  });

  test('the same tenant gets it back at once, by the records that stand', async () => {
    await ann.record('back', ann.proof);
    await ann.attach('back', ann.host('back'));
    await ann.wait('back', 'Ready');
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

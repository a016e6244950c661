/** Rule 5 on the whole cluster: coming back costs no order, and nobody else gets anything of what rests. */
import {afterAll, beforeAll, describe, expect, test} from '@jest/globals';
import {acmeRoot, apply, audit, eventually, kubectl} from '../../cluster/cluster.ts';
import {ordersFor} from '../support/issuances.ts';
import {operator, receivedAt, succeeded} from '../support/requests.ts';
import {Tenant, claimOf} from '../support/tenant.ts';
import {redirected, servedBy} from '../support/visitor.ts';

const times = 10;
let ann: Tenant;
let ben: Tenant;
let ca: string;
let began: Date;
beforeAll(async () => {
  began = new Date();
  [ann, ben] = await Promise.all([Tenant.create('back'), Tenant.create('next')]);
  ca = await acmeRoot();
});
afterAll(async () => {
  await Promise.all([ann?.remove(), ben?.remove()]);
});

describe('a hostname that its tenant takes away and brings back', () => {
  test(`${times} times, by its CustomDomain and by its Project, has one order in all`, async () => {
    const [www, old] = [ann.host('www'), ann.host('old')];
    await ann.records({www: ann.proof, old: ann.proof});
    const attach = () => ann.attach('site', www, [{from: old}]);
    await attach();
    await ann.wait('site', 'Ready');
    for (let i = 0; i < times; i++) {
      const gone = i % 2 === 0 ? ['customdomain/site'] : ['customdomain/site', 'project/web'];
      // Argo CD deletes in the foreground.
      const cascade = `--cascade=${i % 3 === 0 ? 'foreground' : 'background'}`;
      await kubectl(['delete', cascade, ...gone, '-n', ann.namespace]);
      await eventually(
        'the claim is in quarantine',
        async () => (await claimOf(www))?.status?.quarantinedUntil !== undefined,
      );
      await apply([ann.project('web', {defaultHost: 'Disabled'})]);
      await attach();
      // Who comes back again and again is checked by the schedule, or when asked.
      await ann.verify('site');
      await ann.wait('site', 'Ready');
    }
    await servedBy(www, ann, ca);
    await redirected(`https://${old}/p`, 301, `https://${www}/p`, ca);
    expect((await ordersFor([www, old], began)).caused.toSorted()).toEqual([old, www]);
  });

  test('and another proves it meanwhile: what rests goes before that one’s claim, and it gets its own certificate', async () => {
    const www = ann.host('www');
    await kubectl(['delete', 'customdomain', '-n', ann.namespace, 'site']);
    await eventually(
      'the claim is in quarantine',
      async () => (await claimOf(www))?.status?.quarantinedUntil !== undefined,
    );
    const from = new Date();
    await ann.records({www: ben.proof});
    await ben.attach('site', www);
    await ben.wait('site', 'Ready');
    await servedBy(www, ben, ca);
    expect((await ordersFor([www], began)).caused).toEqual([www, www]);
    const writes = await audit(from, (e) => e.user.username === operator && succeeded(e));
    const gone = writes.find(
      (e) => e.verb === 'delete' && e.objectRef?.resource === 'certificates' && e.objectRef.namespace === ann.namespace,
    );
    const won = writes.find(
      (e) =>
        e.verb === 'patch' &&
        e.objectRef?.resource === 'domainclaims' &&
        e.objectRef.name === www &&
        JSON.stringify(e.requestObject).includes(ben.namespace),
    );
    expect(receivedAt(gone!)).toBeLessThan(receivedAt(won!));
    await kubectl(['delete', 'customdomain', '-n', ben.namespace, 'site']);
  });
});

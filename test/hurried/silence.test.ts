/** Rule 3: "could not ask" is not "no". */
import {afterAll, beforeAll, expect, test} from '@jest/globals';
import {acmeRoot, env, eventually, patienceMs, setZone} from '../../cluster/cluster.ts';
import {failingDns} from '../support/failing.ts';
import {checksOf, hurried} from '../support/hurried.ts';
import {Tenant} from '../support/tenant.ts';
import {constantClient} from '../support/visitor.ts';

let tenant: Tenant;
let ca: string;
beforeAll(async () => {
  await hurried();
  [tenant, ca] = [await Tenant.create('silence'), await acmeRoot()];
});
afterAll(async () => {
  await tenant?.remove();
});

const version = async () => (await tenant.get('site'))?.metadata.resourceVersion;

test('a live hostname through timeouts, refused connections, SERVFAIL and REFUSED: no write to its object, and traffic never stops', async () => {
  const [www, old] = [tenant.host('www'), tenant.host('old')];
  await tenant.records({www: tenant.proof, old: tenant.proof});
  await tenant.attach('site', www, [{from: old}]);
  await tenant.wait('site', 'Ready');
  const before = await version();
  const visitor = await constantClient([www, old], ca, {everyMs: 100});
  const records = [`www ${tenant.proof}`, `old ${tenant.proof}`];
  const fake = '198.51.100.53';
  const blackHole = `${env().blackHole.split('/')[0]?.replace(/0$/, '1')}`;
  for (const [what, {server, rcode, verdict}] of Object.entries({
    'a server that swallows questions': {server: blackHole, rcode: undefined, verdict: 'AuthoritativeUnreachable'},
    'a server that refuses the connection': {
      server: '198.51.100.1',
      rcode: undefined,
      verdict: 'AuthoritativeUnreachable',
    },
    SERVFAIL: {server: fake, rcode: 2, verdict: 'AuthoritativeFailure'},
    REFUSED: {server: fake, rcode: 5, verdict: 'AuthoritativeFailure'},
  })) {
    const end = rcode === undefined ? undefined : await failingDns(fake, rcode);
    const since = new Date();
    await setZone(tenant.zone, [`@ IN NS ns.${tenant.zone}.`, `ns IN A ${server}`]);
    for (const hostname of [www, old]) {
      await eventually(
        `${what}: ${hostname} was checked twice, and nobody could say`,
        async () => (await checksOf(hostname, since)).filter((v) => v === verdict).length >= 2,
        patienceMs,
        1000,
      );
    }
    expect(`${what}: ${await version()}`).toBe(`${what}: ${before}`);
    const mended = new Date();
    await setZone(tenant.zone, records);
    await end?.();
    await eventually(
      `${www} is proven again`,
      async () => (await checksOf(www, mended)).at(-1) === 'Proven',
      patienceMs,
      500,
    );
  }
  expect(await version()).toBe(before);
  expect((await visitor.stop()).failed).toEqual([]);
});

/** Rule 3: "could not ask" is not "no". */
import {afterAll, beforeAll, expect, test} from '@jest/globals';
import {acmeRoot, env, setZone} from '../../cluster/cluster.ts';
import {failingDns} from '../support/failing.ts';
import {hurried} from '../support/hurried.ts';
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

const pause = (ms: number) =>
  new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
const version = async () => (await tenant.get('site'))?.metadata.resourceVersion;

test('a live hostname through timeouts, refused connections, SERVFAIL and REFUSED: no write to its object, and traffic never stops', async () => {
  const [www, old] = [tenant.host('www'), tenant.host('old')];
  await tenant.records({www: tenant.proof, old: tenant.proof});
  await tenant.attach('site', www, [{from: old}]);
  await tenant.wait('site', 'Ready');
  const before = await version();
  const visitor = await constantClient([www, old], ca);
  const records = [`www ${tenant.proof}`, `old ${tenant.proof}`];
  const fake = '198.51.100.53';
  const blackHole = `${env().blackHole.split('/')[0]?.replace(/0$/, '1')}`;
  for (const [what, harm] of Object.entries({
    'a server that swallows questions': () =>
      setZone(tenant.zone, [`@ IN NS ns.${tenant.zone}.`, `ns IN A ${blackHole}`]),
    'a server that refuses the connection': () =>
      setZone(tenant.zone, [`@ IN NS ns.${tenant.zone}.`, 'ns IN A 198.51.100.1']),
    SERVFAIL: () => setZone(tenant.zone, [`@ IN NS ns.${tenant.zone}.`, `ns IN A ${fake}`]),
    REFUSED: () => setZone(tenant.zone, [`@ IN NS ns.${tenant.zone}.`, `ns IN A ${fake}`]),
  })) {
    const end = await (what === 'SERVFAIL'
      ? failingDns(fake, 2)
      : what === 'REFUSED'
        ? failingDns(fake, 5)
        : undefined);
    await harm();
    // Longer than a look that times out.
    await pause(what.startsWith('a ') ? 11_000 : 4000);
    expect(`${what}: ${await version()}`).toBe(`${what}: ${before}`);
    await setZone(tenant.zone, records);
    await end?.();
    await pause(1500);
  }
  expect(await version()).toBe(before);
  expect((await visitor.stop()).failed).toEqual([]);
});

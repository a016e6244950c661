/**
 * The charts, the kinds and the namespaces are deleted, in any order, by the real helm and kubectl, each of which waits until what it
 * deletes is gone: nothing hangs. Kubernetes' own controllers collect; the operator and the hook run in this process.
 */
import {afterEach, beforeEach, describe, expect, test} from '@jest/globals';
import {certificates, customDomains, ingresses} from '../../operator/resources/resources.ts';
import {hostsOf} from '../../operator/controllers/state/rendering.ts';
import {keyOf} from '../../operator/kube/objects.ts';
import {namesOf} from '../../operator/resources/relations.ts';
import {Customer} from '../support/customer.ts';
import {deployments, Installation} from '../support/installation.ts';
import {eventually} from '../support/kube-api.ts';
import {home, Platform, redirector} from '../support/platform.ts';

let platform: Platform;
let doorplate: Installation;
let customer: Customer;
let www: string;
let old: string;
beforeEach(async () => {
  platform = await Platform.start();
  await platform.server.startCollectors();
  doorplate = await Installation.start(platform);
  customer = await Customer.deployed(platform);
  [www, old] = ['www', 'old'].map((label) => customer.host(label)) as [string, string];
  await customer.point([www, old]);
  await customer.attach('web', www, [old]);
  await isServed();
});
afterEach(async () => {
  await doorplate?.stop();
  await platform?.stop();
});

const isServed = () =>
  eventually(async () => {
    const hosts = await customer.hosts('web');
    return hosts[www] === 'Live Serving' && hosts[old] === 'Live Redirecting';
  });

/** What serves a hostname: its Ingresses and Certificates, by UID. */
async function serving(hostname: string): Promise<string[]> {
  const [routes, certs] = await Promise.all([platform.client.list(ingresses), platform.client.list(certificates)]);
  const its = [
    ...routes.items.filter((o) => hostsOf(o).includes(hostname)),
    ...certs.items.filter((o) => namesOf(o).includes(hostname)),
  ];
  return its.map(({metadata}) => String(metadata.uid)).toSorted();
}

/** Each ends when what it deletes is gone. */
const steps = {
  doorplate: () => doorplate.helm('uninstall', 'doorplate', '-n', home, '--ignore-not-found', '--timeout', '600s'),
  kinds: async () => {
    await doorplate.helm('uninstall', 'doorplate-crds', '-n', home, '--ignore-not-found');
    await doorplate.kubectl('delete', 'crd', '-l', 'app.kubernetes.io/part-of=doorplate', '--timeout=600s');
  },
  'its namespace': () => doorplate.kubectl('delete', 'namespace', home, '--timeout=600s'),
  "the tenant's namespace": () => doorplate.kubectl('delete', 'namespace', customer.namespace, '--timeout=600s'),
};
type Step = keyof typeof steps;
/** With these go the objects of the hostname, of the one that redirects to it, and who would do anything about a finalizer. */
const endsWww: readonly Step[] = ['kinds', "the tenant's namespace"];
const endsOld: readonly Step[] = ['kinds', "the tenant's namespace", 'its namespace'];
const endsOperator: readonly Step[] = ['doorplate', 'its namespace'];

/** What would wait for the operator if it were deleted. */
async function held(): Promise<string[]> {
  const said = await Promise.all(
    ['customdomains', 'projects'].map((kind) =>
      doorplate.kubectl('get', kind, '-A', '-o', `jsonpath={.items[?(@.metadata.finalizers)].metadata.name}`),
    ),
  );
  return said.flatMap((names) => names.split(' ').filter(Boolean));
}

describe('Nothing hangs, and what is Live is served until its own objects are deleted, when there go', () => {
  test.each<[Step[]]>([
    [['doorplate', 'kinds', 'its namespace', "the tenant's namespace"]],
    [['doorplate', "the tenant's namespace", 'its namespace', 'kinds']],
    [['kinds', 'doorplate', 'its namespace']],
    [['kinds', 'its namespace', "the tenant's namespace"]],
    [['its namespace', 'doorplate', 'kinds', "the tenant's namespace"]],
    [['its namespace', "the tenant's namespace", 'kinds']],
  ])('%j', async (order) => {
    const [ofWww, ofOld] = [await serving(www), await serving(old)];
    expect([ofWww.length, ofOld.length]).toEqual([2, 2]);
    const gone: Step[] = [];
    for (const step of order) {
      await steps[step]();
      gone.push(step);
      const isEnded = (ends: readonly Step[]) => gone.some((one) => ends.includes(one));
      const answers = (await platform.client.get(deployments, `${home}/${redirector}`)) !== undefined;
      expect({
        www: isEnded(endsWww) ? ofWww : await serving(www),
        old: isEnded(endsOld) ? ofOld : await serving(old),
        held: isEnded(endsOperator) && !gone.includes('kinds') ? await held() : [],
        answers: answers || gone.includes('its namespace'),
      }).toEqual({www: ofWww, old: ofOld, held: [], answers: true});
    }
    // Kubernetes collects what has lost its owner.
    await eventually(async () => (await serving(www)).length === 0);
  });
});

const get = (what: string, path: string) => doorplate.kubectl('get', what, '-n', home, '-o', `jsonpath=${path}`);
const ended = async () => (await get('jobs', '{.items[*].status.succeeded}')).split(' ').filter(Boolean).length;
const apply = async (...args: string[]) =>
  doorplate.kubectl('apply', '--server-side', '--force-conflicts', '-f', await doorplate.render(...args));

describe('The chart, rendered and applied', () => {
  test('with one image after the other, uninstalls nothing: its Job ends, the operator runs, and the finalizers stay', async () => {
    const before = await held();
    expect(before.length).toBeGreaterThan(0);
    // The spec of the preflight's Pod and the template of the Job are immutable.
    for (const [index, values] of ['image.tag=one', 'image.tag=two', 'operator.heapMegabytes=300'].entries()) {
      await apply('--set', values);
      await eventually(async () => (await ended()) === index + 1);
      expect([await get('deployment/doorplate-operator', '{.spec.replicas}'), await held()]).toEqual(['1', before]);
      expect(doorplate.isRunning).toBe(true);
    }
  });

  test('leaves no finalizer if the operator is deleted and the Job runs again', async () => {
    await apply();
    await eventually(async () => (await ended()) === 1);
    await doorplate.kubectl('delete', 'deployment', '-n', home, 'doorplate-operator');
    const again = await doorplate.render('--show-only', 'templates/uninstall.yaml');
    await doorplate.kubectl('replace', '--force', '-f', again);
    await eventually(async () => (await ended()) === 1);
    expect([await held(), doorplate.isRunning, (await serving(www)).length]).toEqual([[], false, 2]);
  });
});

const withoutHost = async () =>
  (await platform.client.list(ingresses)).items.filter((o) => hostsOf(o).length === 0).map(keyOf);

describe('The Ingress for plain HTTP of all hostnames', () => {
  test('stays with the redirector’s Service when Doorplate is uninstalled, and goes with it', async () => {
    await eventually(async () => (await withoutHost()).length > 0);
    await steps.doorplate();
    expect(await withoutHost()).toEqual([`${home}/${redirector}`]);
    await doorplate.kubectl('delete', 'service', '-n', home, redirector);
    await eventually(async () => (await withoutHost()).length === 0);
  });
});

describe('A Pod of the operator that was evicted', () => {
  test('is not waited for, nor warned of', async () => {
    await doorplate.evict();
    await steps.doorplate();
    expect(doorplate.warnings).toEqual([]);
    expect(await held()).toEqual([]);
  });
});

describe('Installing again', () => {
  test('takes everything back without an order, and ends what was deleted meanwhile', async () => {
    const other = await Customer.served(platform);
    const [shop, sale] = ['www', 'sale'].map((label) => other.host(label)) as [string, string];
    await other.point([sale]);
    await other.change(customDomains, 'web', {spec: {redirects: [{from: sale, status: 301}]}});
    await eventually(async () => (await other.hosts('web'))[sale] === 'Live Redirecting');
    const before = [await serving(www), await serving(old)];

    await steps.doorplate();
    expect(await held()).toEqual([]);
    await doorplate.kubectl('delete', 'customdomain', 'web', '-n', other.namespace, '--timeout=600s');
    // Kubernetes deletes the route. The Certificate, and both objects of the redirect, stay until Doorplate is back.
    await eventually(async () => (await serving(shop)).length === 1);
    expect((await serving(sale)).length).toBe(2);

    await doorplate.install();
    await eventually(async () => (await held()).length === 3);
    const {operator} = doorplate;
    for (const host of [shop, sale]) expect(await operator.comesTo(() => serving(host), [])).toEqual([]);
    for (const host of [shop, sale]) expect(await operator.comesTo(() => other.holder(host), 'nobody')).toBe('nobody');
    await operator.rest();
    await isServed();
    expect([await serving(www), await serving(old)]).toEqual(before);
    expect([www, old, shop, sale].map((host) => platform.certManager.orders.get(host))).toEqual([1, 1, 1, 1]);
  });

  test('ends what stands for objects that went with their kinds', async () => {
    await steps.doorplate();
    await steps.kinds();
    expect((await serving(old)).length).toBe(2);
    await doorplate.install();
    await eventually(() => doorplate.isRunning);
    expect(await doorplate.operator.comesTo(() => serving(old), [])).toEqual([]);
  });
});

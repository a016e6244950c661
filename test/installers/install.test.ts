/**
 * Doorplate is installed, applied again, upgraded and uninstalled by Helm's, Flux's and Argo CD's own libraries, as examples/ has it, on a
 * real API server where a customer is served. `make gitops`
 */
import {rmSync} from 'node:fs';
import {afterEach, beforeEach, describe, expect, test} from '@jest/globals';
import {certificates, customDomains, ingresses} from '../../operator/resources/resources.ts';
import {hostsOf} from '../../operator/controllers/state/rendering.ts';
import {namesOf} from '../../operator/resources/relations.ts';
import type {KubeObject} from '../../operator/kube/objects.ts';
import {Customer} from '../support/customer.ts';
import {Installation} from '../support/installation.ts';
import {eventually} from '../support/kube-api.ts';
import {home, Platform} from '../support/platform.ts';
import {type Application, example, type HelmRelease, objectsOf as objectsIn, Tools, umbrella} from './tools.ts';

let platform: Platform;
let doorplate: Installation;
let tools: Tools;
beforeEach(async () => {
  platform = await Platform.start();
  await platform.server.startCollectors();
  doorplate = await Installation.start(platform, {charts: false});
  tools = await Tools.start(doorplate.kubeconfig);
  // The tools bring the kinds.
  await doorplate.kubectl('delete', 'crd', '-l', 'app.kubernetes.io/part-of=doorplate');
});
afterEach(async () => {
  tools?.stop();
  await doorplate?.stop();
  await platform?.stop();
});

/** More of the chart than the examples set: objects of the API are among them. */
const more = ['-f', 'examples/demo/values.yaml'];
const image = (tag: string) => [...more, '--set-string', `image.tag=${tag}`];

/** The names of Doorplate's objects of these kinds in its namespace. */
const names = async (kinds: string): Promise<string[]> =>
  (await doorplate.kubectl('get', kinds, '-n', home, '-o', 'name')).split('\n').filter(Boolean);
const imageNow = () =>
  doorplate.kubectl(
    'get',
    'deployment',
    'doorplate-operator',
    '-n',
    home,
    '-o',
    'jsonpath={.spec.template.spec.containers[0].image}',
  );
const kinds = async () => (await doorplate.kubectl('get', 'crd', '-o', 'name')).match(/doorplate\.dev/g)?.length ?? 0;

/** Objects that would wait for the operator if they were deleted. */
async function held(): Promise<number> {
  const said = await doorplate.kubectl('get', 'customdomains.doorplate.dev,projects.doorplate.dev', '-A', '-o', 'json');
  return (JSON.parse(said) as {items: KubeObject[]}).items.filter(({metadata}) => metadata.finalizers?.length).length;
}

/** A customer whose hostname is Live. `serves` returns what serves it, by UID. */
async function servedCustomer() {
  await eventually(() => doorplate.isRunning);
  const customer = await Customer.served(platform);
  const www = customer.host('www');
  const serves = async (): Promise<string[]> => {
    const [routes, certs] = await Promise.all([platform.client.list(ingresses), platform.client.list(certificates)]);
    const its = [
      ...routes.items.filter((o) => hostsOf(o).includes(www)),
      ...certs.items.filter((o) => namesOf(o).includes(www)),
    ];
    return its.map(({metadata}) => String(metadata.uid)).toSorted();
  };
  await doorplate.operator.rest();
  return {customer, serves, before: await serves()};
}

const sync = async (one: Application, args: readonly string[] = []) =>
  tools.call('argocd-sync', one, await tools.ofApplication(one, args));
const compare = async (one: Application, args: readonly string[] = []) =>
  tools.call('argocd-compare', one, await tools.ofApplication(one, args));
/** What helm-controller would correct of a release. */
const drift = async (one: HelmRelease) => {
  const manifest = await doorplate.helm('get', 'manifest', one.metadata.name, '-n', home);
  return Object.keys(await tools.call('flux-drift', one, objectsIn(manifest)));
};

describe('Argo CD', () => {
  const [crds] = example<Application>('argocd/install/crds.yaml') as [Application];
  const [app] = example<Application>('argocd/install/doorplate.yaml') as [Application];

  test('changes nothing before the kinds exist, then installs, upgrades and stays in sync, and its deletion runs the uninstall Job', async () => {
    expect(await sync(app, more)).toMatchObject({
      phase: 'Failed',
      message: expect.stringContaining('tasks are not valid'),
    });
    expect(await names('all,ingresses,configmaps')).toEqual([]);
    expect(await sync(crds)).toMatchObject({phase: 'Succeeded'});
    expect(await sync(app, more)).toMatchObject({phase: 'Succeeded'});
    const {serves, before} = await servedCustomer();
    const {operator} = doorplate;
    expect([await compare(crds), await compare(app, more)]).toEqual([{}, {}]);

    for (const tag of ['one', 'two']) {
      expect(Object.keys(await compare(app, image(tag))).toSorted()).toEqual([
        'Deployment/doorplate-api',
        'Deployment/doorplate-operator',
        'Deployment/doorplate-redirector',
      ]);
      expect(await sync(app, image(tag))).toMatchObject({phase: 'Succeeded'});
      expect([await compare(app, image(tag)), await imageNow()]).toEqual([{}, `localhost/doorplate:${tag}`]);
    }
    // Neither the Job nor the Pod of `helm test` is created, and the operator was not replaced.
    expect([await names('jobs,pods'), doorplate.operator === operator, await held()]).toEqual([[], true, 2]);

    const {deleted, hooks} = await tools.call('argocd-delete', app, await tools.ofApplication(app, image('two')));
    expect(hooks.map((name) => name.replace(/-[0-9a-f]{8}$/, ''))).toEqual([
      'Job/doorplate-uninstall',
      'Role/doorplate-uninstall',
      'RoleBinding/doorplate-uninstall',
      'ServiceAccount/doorplate-uninstall',
    ]);
    expect(deleted).not.toContain('Deployment/doorplate-redirector');
    expect([await held(), doorplate.isRunning, await serves(), await kinds()]).toEqual([0, false, before, 6]);
    expect(await names('deployments')).toEqual(['deployment.apps/doorplate-redirector']);

    expect(await sync(app, more)).toMatchObject({phase: 'Succeeded'});
    await eventually(async () => (await held()) === 2);
    expect(await serves()).toEqual(before);
  });
});

describe('Flux', () => {
  const [crds, app] = example<HelmRelease>('flux/install.yaml').filter(({kind}) => kind === 'HelmRelease') as [
    HelmRelease,
    HelmRelease,
  ];
  /** The defaults of helm-controller for a release (internal/action), as flags of the same library's command. */
  const applyAs = ['--server-side=true', '--force-conflicts', '--take-ownership', '--wait=hookOnly'];
  const helm = (verb: 'install' | 'upgrade', {metadata: {name}, spec}: HelmRelease, args: readonly string[] = []) =>
    doorplate.helm(
      verb,
      name,
      `charts/${spec.chart.spec.chart}`,
      '-n',
      home,
      '-f',
      tools.values(spec.values ?? {}),
      ...applyAs,
      ...args,
    );

  test('its HelmReleases need the order that dependsOn gives, drift from nothing, and their deletion runs the uninstall Job', async () => {
    expect(app.spec.dependsOn).toEqual([{name: crds.metadata.name}]);
    await expect(helm('install', app, more)).rejects.toThrow('no matches for kind "Plan"');
    await helm('install', crds);
    await helm('install', app, more);
    const {serves, before} = await servedCustomer();
    const {operator} = doorplate;
    expect([await drift(crds), await drift(app)]).toEqual([[], []]);
    await doorplate.kubectl('scale', 'deployment', 'doorplate-redirector', '-n', home, '--replicas=7');
    expect(await drift(app)).toEqual(['Deployment/doorplate-redirector']);
    await helm('upgrade', crds);
    await helm('upgrade', app, image('two'));
    expect([await drift(crds), await drift(app), await imageNow()]).toEqual([[], [], 'localhost/doorplate:two']);
    expect([await names('jobs'), doorplate.operator === operator, await held()]).toEqual([[], true, 2]);
    await doorplate.helm('uninstall', app.metadata.name, '-n', home, '--wait=hookOnly');
    await doorplate.helm('uninstall', crds.metadata.name, '-n', home, '--wait=hookOnly');
    expect([await held(), doorplate.isRunning, await serves(), await kinds()]).toEqual([0, false, before, 6]);
  });

  test('a Kustomization applies both rendered charts in one step, again without a change, and prunes no kind', async () => {
    const by = {
      apiVersion: 'kustomize.toolkit.fluxcd.io/v1',
      kind: 'Kustomization',
      metadata: {name: 'doorplate', namespace: 'flux-system'},
    };
    const rendered = async (tag: string) =>
      objectsIn(
        (await doorplate.helm('template', 'doorplate-crds', 'charts/doorplate-crds', '-n', home)) +
          (await doorplate.helm('template', 'doorplate', 'charts/doorplate', '-n', home, ...image(tag))),
      );
    const apply = async (tag: string) => {
      const changes = await tools.call('flux-apply', by, await rendered(tag));
      return Object.entries(changes)
        .flatMap(([name, change]) => (change === 'unchanged' ? [] : `${change} ${name.replace(/-[0-9a-f]{8}$/, '')}`))
        .toSorted();
    };
    await apply('one');
    const {customer, serves, before} = await servedCustomer();
    const {operator} = doorplate;
    expect(await apply('one')).toEqual([]);
    expect(await apply('two')).toEqual([
      'configured Deployment/doorplate-system/doorplate-api',
      'configured Deployment/doorplate-system/doorplate-operator',
      'configured Deployment/doorplate-system/doorplate-redirector',
      'created Job/doorplate-system/doorplate-uninstall',
      'created Pod/doorplate-system/doorplate-preflight',
    ]);
    await doorplate.operator.rest();
    expect([doorplate.operator === operator, await held(), await serves()]).toEqual([true, 2, before]);

    const pruned = await tools.call('flux-prune', by, await rendered('two'));
    const skipped = Object.entries(pruned).filter(([, change]) => change === 'skipped');
    expect(skipped.map(([name]) => name.split('/')[0])).toEqual(
      Array.from({length: 6}, () => 'CustomResourceDefinition'),
    );
    expect(await customer.domain('web')).toBeDefined();
    expect(await platform.client.list(customDomains)).toMatchObject({items: [{metadata: {name: 'web'}}]});
  });
});

describe('The umbrella chart', () => {
  let built: Awaited<ReturnType<typeof umbrella>>;
  beforeEach(async () => {
    built = await umbrella();
  });
  afterEach(() => rmSync(built.folder, {recursive: true}));

  test('is installed with Helm in two steps: the kinds, then Doorplate', async () => {
    const to = ['platform', built.chart, '-n', home];
    await expect(doorplate.helm('install', ...to)).rejects.toThrow('no matches for kind "Plan"');
    await doorplate.helm('install', ...to, '--set', 'doorplateEnabled=false');
    await doorplate.helm('upgrade', ...to, '--set', 'doorplateEnabled=true');
    const {serves, before} = await servedCustomer();
    await doorplate.helm('uninstall', 'platform', '-n', home);
    expect([await held(), doorplate.isRunning, await serves(), await kinds()]).toEqual([0, false, before, 6]);
  });

  test('is installed with Argo CD in one step, of which the plans need the retry', async () => {
    const [app] = example<Application>('argocd/install/doorplate.yaml') as [Application];
    const objects = objectsIn(await doorplate.helm('template', 'platform', built.chart, '-n', home));
    // This sync has looked up the kinds before it creates them, so the plans are left for the retry.
    const {results} = await tools.call('argocd-sync', app, objects);
    const failed = Object.entries(results).filter(([, result]) => !result.startsWith('Synced'));
    expect(failed.filter(([name]) => !name.startsWith('Plan/'))).toEqual([]);
    expect(await tools.call('argocd-sync', app, objects)).toMatchObject({phase: 'Succeeded'});
    expect(await tools.call('argocd-compare', app, objects)).toEqual({});
  });
});

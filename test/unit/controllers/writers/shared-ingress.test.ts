/** When the shared Ingress for plain HTTP is written and deleted. On an API server: test/operator/plain-http. */
import {beforeEach, describe, expect, test} from '@jest/globals';
import type {Ingress} from '../../../../operator/api/foreign.ts';
import {
  type SharedIngressDeps,
  SharedIngressReconciler,
} from '../../../../operator/controllers/writers/shared-ingress.ts';
import {edgeSettlesMs} from '../../../../operator/domain/routes/edge.ts';
import {answersEveryHost, isSharedIngress, makeSharedIngress} from '../../../../operator/domain/routes/ingress.ts';

const shared = 'doorplate-system/doorplate-redirector';
const [namespace = '', name = ''] = shared.split('/');
const service = {metadata: {namespace, name, uid: 'uid-service'}};
const [traefik, nginx] = ['traefik.io/ingress-controller', 'k8s.io/ingress-nginx'];
const now = Date.parse('2026-11-28T12:00:00Z');

interface World {
  setting: 'auto' | boolean;
  /** Undefined: there is no IngressClass. */
  controller: string | undefined;
  existing: 'none' | 'ours' | 'of another';
  hasService: boolean;
  routes: object[];
}

let world: World;
let reports: string[];
let result: unknown;
beforeEach(() => {
  world = {setting: 'auto', controller: traefik, existing: 'none', hasService: true, routes: []};
  reports = [];
});

const existing = () =>
  ({
    none: undefined,
    ours: makeSharedIngress(service, 'edge'),
    'of another': {...makeSharedIngress(service, 'edge'), metadata: {namespace, name, labels: {}}},
  })[world.existing];

/** What one reconcile writes: the methods of the applier that it calls. */
async function writes(change: Partial<World> = {}): Promise<string[]> {
  Object.assign(world, change);
  const calls: string[] = [];
  const {setting} = world;
  const deps = {
    setting,
    policy: {ingressClassName: 'edge'},
    ingressClasses: {get: () => world.controller && {spec: {controller: world.controller}}},
    others: {get: existing},
    services: {get: () => (world.hasService ? service : undefined)},
    routes: {list: () => world.routes},
    shared,
    applier: {
      apply: (_: unknown, intent: Ingress) => calls.push(`apply ${intent.metadata.name}`),
      remove: (_: unknown, {metadata}: Ingress) => calls.push(`remove ${metadata.name}`),
    },
    report: (why: string) => reports.push(why),
    now: () => now,
  } as unknown as SharedIngressDeps;
  result = await new SharedIngressReconciler(deps).reconcile(shared);
  return calls;
}

const written = ['apply doorplate-redirector'];
const deleted = ['remove doorplate-redirector'];

/** A route of this hostname, bound to an entry point, `ageMs` old. */
const route = (host: string, on: 'web' | 'websecure' | 'web,websecure', ageMs = 60_000) => ({
  metadata: {
    annotations: {'traefik.ingress.kubernetes.io/router.entrypoints': on},
    creationTimestamp: new Date(now - ageMs).toISOString(),
  },
  hosts: [host],
});

describe('The shared Ingress', () => {
  test('is for plain HTTP of every hostname, comes after every other route, and goes with the redirector’s Service', () => {
    const ingress = makeSharedIngress(service, 'edge');
    expect([answersEveryHost(ingress, 'edge'), isSharedIngress(ingress)]).toEqual([true, true]);
    expect(ingress.metadata.annotations).toEqual({
      'traefik.ingress.kubernetes.io/router.entrypoints': 'web',
      'traefik.ingress.kubernetes.io/router.priority': '1',
      // An earlier chart had the Ingress.
      'helm.sh/resource-policy': 'keep',
    });
    expect(ingress.metadata.ownerReferences).toEqual([{apiVersion: 'v1', kind: 'Service', name, uid: 'uid-service'}]);
    expect(ingress.spec).toEqual({
      ingressClassName: 'edge',
      rules: [{http: {paths: [{path: '/', pathType: 'Prefix', backend: {service: {name, port: {name: 'http'}}}}]}}],
    });
  });

  test.each<['auto' | boolean, string | undefined, string[]]>([
    ['auto', traefik, written],
    [true, traefik, written],
    [false, traefik, []],
    ['auto', nginx, []],
    [true, nginx, []],
    [false, nginx, []],
    ['auto', undefined, []],
    [true, undefined, []],
  ])('with the setting %s and the controller %s is written: %j', async (setting, controller, expected) => {
    expect(await writes({setting, controller})).toEqual(expected);
  });

  test.each([
    ['projectcontour.io/ingress-controller'],
    ['haproxy.org/ingress-controller/haproxy'],
    ['haproxy-ingress.github.io/controller'],
    ['nginx.org/ingress-controller'],
    ['k8s.io/ingress-nginx'],
    ['istio.io/ingress-controller'],
  ])('is not written for %s, and is deleted there', async (controller) => {
    expect(await writes({controller})).toEqual([]);
    expect(await writes({controller, existing: 'ours'})).toEqual(deleted);
  });

  test.each<['auto' | boolean, string | undefined]>([
    ['auto', nginx],
    [true, nginx],
    [false, nginx],
    ['auto', undefined],
  ])('is deleted at once with the setting %s and the controller %s', async (setting, controller) => {
    expect(await writes({setting, controller, existing: 'ours', routes: [route('a.test', 'websecure')]})).toEqual(
      deleted,
    );
  });

  test('is not written without the Service that owns it', async () => {
    expect(await writes({hasService: false})).toEqual([]);
  });

  test.each<[string, Partial<World>]>([
    ['is wanted', {}],
    ['is not wanted', {setting: false}],
    ['is for another controller', {controller: nginx}],
  ])('of another owner is left alone if it %s', async (_, change) => {
    expect(await writes({...change, existing: 'of another'})).toEqual([]);
  });
});

describe('With the setting false and Traefik, the shared Ingress', () => {
  beforeEach(() => {
    Object.assign(world, {setting: false, existing: 'ours'});
  });

  test('stays while a hostname that serves has no Ingress of its own', async () => {
    const routes = [route('a.test', 'websecure'), route('b.test', 'websecure'), route('a.test', 'web')];
    expect([await writes({routes}), result]).toEqual([[], 'awaitChange']);
  });

  test('stays until the edge has applied the newest of these, and is looked at again then', async () => {
    const routes = [
      route('a.test', 'websecure'),
      route('a.test', 'web'),
      route('b.test', 'websecure'),
      route('b.test', 'web', edgeSettlesMs - 1),
    ];
    expect([await writes({routes}), result]).toEqual([[], {requeueAfterMs: 1}]);
  });

  test('is deleted then', async () => {
    const routes = [route('a.test', 'websecure'), route('a.test', 'web', edgeSettlesMs)];
    expect(await writes({routes})).toEqual(deleted);
  });

  test('is deleted if no hostname needs another: redirects have both entry points', async () => {
    expect(await writes({routes: [route('old.test', 'web,websecure')]})).toEqual(deleted);
  });
});

describe('A shared Ingress that is asked for and cannot exist', () => {
  test.each<[Partial<World>, string[]]>([
    [{setting: true, controller: nginx}, ['NotTraefik']],
    [{setting: 'auto', controller: nginx}, []],
    [{setting: true, controller: undefined}, []],
    [{existing: 'of another'}, ['NameTaken']],
    [{existing: 'of another', setting: false}, []],
    [{}, []],
  ])('%j is reported: %j', async (change, expected) => {
    await writes(change);
    expect(reports).toEqual(expected);
  });
});

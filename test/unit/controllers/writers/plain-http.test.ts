/** When Ingresses for plain HTTP of one hostname each give way to the shared one. On an API server: test/operator/plain-http. */
import {afterEach, beforeEach, describe, expect, test} from '@jest/globals';
import {setTimeout as wait} from 'node:timers/promises';
import type {Ingress, IngressClass} from '../../../../operator/api/foreign.ts';
import {PlainHttp} from '../../../../operator/controllers/writers/plain-http.ts';
import {answersEveryHost, isForPlainHttp} from '../../../../operator/domain/routes/ingress.ts';

type Change = (now: unknown, before: unknown) => void;

const traefik = 'traefik.io/ingress-controller';
const classOf = (controller: string) => ({metadata: {name: 'edge'}, spec: {controller}}) as IngressClass;

/** A copy of the cluster that the test fills. */
class Copy<T extends {metadata: {name: string; namespace?: string}}> {
  readonly #all = new Map<string, T>();
  readonly #handlers: Change[] = [];
  get = (key: string) => this.#all.get(key);
  list = () => [...this.#all.values()];
  by = (index: string, value: string) =>
    this.list().filter((one) => String((one as Record<string, unknown>)[index]) === value);
  onChange = (handler: Change) => void this.#handlers.push(handler);
  set(key: string, now: T | undefined): void {
    const before = this.#all.get(key);
    if (now) this.#all.set(key, now);
    else this.#all.delete(key);
    for (const handler of this.#handlers) handler(now, before);
  }
}

const [shared, http, rival] = ['doorplate-system/doorplate-redirector', 'doorplate-system/www-http', 'default/another'];
const named = (key: string) => ({namespace: key.split('/')[0]!, name: key.split('/')[1]!});
const entryPoints = (on: string) => ({'traefik.ingress.kubernetes.io/router.entrypoints': on});
const ours = {'app.kubernetes.io/part-of': 'doorplate', 'app.kubernetes.io/component': 'redirector'};
const other = (key: string, answers = true, labels: Record<string, string> = key === shared ? ours : {}) => ({
  metadata: {...named(key), labels},
  answersEveryHost: answers,
});
const route = (key: string, on = 'web'): Ingress => ({
  apiVersion: 'networking.k8s.io/v1',
  kind: 'Ingress',
  metadata: {...named(key), annotations: entryPoints(on), labels: {'doorplate.dev/owner-uid': 'uid-domain'}},
  spec: {rules: [{host: 'www.example.com'}]},
});

let others: Copy<ReturnType<typeof other>>;
let routes: Copy<Ingress>;
let classes: Copy<IngressClass>;
let serves: boolean[];
let looks: number;
let told: unknown[];
let freed: string[];
let plainHttp: PlainHttp;

/** `answers`: of the looks at the edge, the last one for all that follow. */
function begin({answers = [true], setting = 'auto' as 'auto' | boolean, controller = traefik} = {}): PlainHttp {
  serves = answers;
  classes.set('edge', classOf(controller));
  plainHttp = new PlainHttp({
    policy: {ingressClassName: 'edge'},
    ingressClasses: classes,
    setting,
    others,
    routes,
    shared,
    serves: async () => {
      looks++;
      return (serves.length > 1 ? serves.shift() : serves[0]) ?? false;
    },
    report: (key: unknown) => told.push(key),
    everyMs: 5,
    settlesMs: 5,
  } as unknown as ConstructorParameters<typeof PlainHttp>[0]);
  plainHttp.onChange((uid) => freed.push(uid));
  plainHttp.begin();
  return plainHttp;
}
/** Long enough for several looks, however slow the machine: as many timers one after the other. */
async function aWhile(): Promise<void> {
  for (let i = 0; i < 20; i++) await wait(5);
}
const stands = () => plainHttp.isOfItsOwn(named(http));

beforeEach(() => {
  [others, routes, classes] = [new Copy(), new Copy(), new Copy()];
  [looks, told, freed] = [0, [], []];
});
afterEach(() => plainHttp?.stop());

describe('An Ingress for plain HTTP of one hostname', () => {
  beforeEach(() => routes.set(http, route(http)));

  test('gives way when the edge is seen to serve the shared one, and its owner is told', async () => {
    others.set(shared, other(shared));
    begin();
    await aWhile();
    expect([stands(), freed, looks]).toEqual([false, ['uid-domain'], 2]);
  });

  test('stands while there is no shared one, and nobody asks the edge', async () => {
    begin();
    await aWhile();
    expect([stands(), freed, looks]).toEqual([true, [], 0]);
  });

  test('gives way to a shared one that comes later', async () => {
    begin();
    others.set(shared, other(shared));
    await aWhile();
    expect([stands(), freed]).toEqual([false, ['uid-domain']]);
  });

  test('stands while the edge does not serve the shared one, which is asked again and again', async () => {
    others.set(shared, other(shared));
    begin({answers: [false]});
    await aWhile();
    expect([stands(), freed]).toEqual([true, []]);
    expect(looks).toBeGreaterThan(2);
    serves = [true];
    await aWhile();
    expect(stands()).toBe(false);
  });

  test('stands where the edge was seen to serve the shared one once, and not a moment later', async () => {
    others.set(shared, other(shared));
    begin({answers: [true, false]});
    await aWhile();
    expect([stands(), freed]).toEqual([true, []]);
  });

  test("stands while another's Ingress may answer in place of the shared one; gives way when that goes", async () => {
    others.set(shared, other(shared));
    others.set(rival, other(rival));
    begin();
    await aWhile();
    expect([stands(), looks, plainHttp.rivals()]).toEqual([true, 0, [rival]]);
    others.set(rival, undefined);
    await aWhile();
    expect([stands(), plainHttp.rivals()]).toEqual([false, []]);
  });

  test('stands where none is shared, and another hostname gets one', async () => {
    others.set(shared, other(shared));
    begin({setting: false});
    await aWhile();
    expect([stands(), plainHttp.isOfItsOwn(named('doorplate-system/new-http')), looks]).toEqual([true, true, 0]);
  });

  test('stands while the shared one is of another class or entry point', async () => {
    others.set(shared, other(shared, false));
    begin();
    await aWhile();
    expect([stands(), looks]).toEqual([true, 0]);
  });

  test('that an operator of before has written meanwhile gives way, too', async () => {
    routes.set(http, undefined);
    others.set(shared, other(shared));
    begin();
    routes.set(http, route(http));
    await aWhile();
    expect([stands(), freed]).toEqual([false, ['uid-domain']]);
  });
});

describe('Where plain HTTP is shared', () => {
  test('a hostname gets no Ingress of its own for it, whether the shared one serves or not', async () => {
    begin({answers: [false]});
    expect(stands()).toBe(false);
  });

  test('the edge is not asked while none from before stands', async () => {
    others.set(shared, other(shared));
    routes.set('acme/www', route('acme/www', 'websecure'));
    begin();
    await aWhile();
    expect(looks).toBe(0);
  });

  test("another's Ingress without a host is told of, at the start and when it comes, and the shared one is not", () => {
    others.set(rival, other(rival));
    begin();
    others.set(shared, other(shared));
    others.set('default/hosts', other('default/hosts', false));
    others.set('default/second', other('default/second'));
    others.set('default/second', other('default/second'));
    expect(told).toEqual([rival, 'default/second']);
  });

  test("another's Ingress with the name of the shared one is a rival, which the writer of the shared one reports", () => {
    others.set(shared, other(shared, true, {}));
    begin();
    expect([told, plainHttp.rivals()]).toEqual([[], [shared]]);
  });

  test.each<['auto' | boolean, string]>([
    [false, traefik],
    ['auto', 'k8s.io/ingress-nginx'],
    [true, 'k8s.io/ingress-nginx'],
  ])('no rival is reported with the setting %s and the controller %s', (setting, controller) => {
    others.set(rival, other(rival));
    begin({setting, controller});
    expect([told, plainHttp.rivals()]).toEqual([[], []]);
  });

  test('rivals are reported when the class becomes Traefik’s', () => {
    others.set(rival, other(rival));
    begin({controller: 'k8s.io/ingress-nginx'});
    classes.set('edge', classOf(traefik));
    expect(told).toEqual([rival]);
  });
});

const ingress = (annotations: Record<string, string>, spec: Ingress['spec']): Ingress => ({
  apiVersion: 'networking.k8s.io/v1',
  kind: 'Ingress',
  metadata: {name: 'x', namespace: 'acme', annotations},
  spec,
});

describe('An Ingress answers plain HTTP of every hostname', () => {
  const [ofEdge, ofNobody] = [{ingressClassName: 'edge'}, [{http: {paths: []}}]];
  test.each<[string, Ingress, boolean]>([
    ['with a rule without a host', ingress({}, {...ofEdge, rules: ofNobody}), true],
    ['with an empty host', ingress({}, {...ofEdge, rules: [{host: ''}]}), true],
    ['with one such rule among others', ingress({}, {...ofEdge, rules: [{host: 'a.example'}, ...ofNobody]}), true],
    ['on the entry point web', ingress(entryPoints('websecure, web'), {...ofEdge, rules: ofNobody}), true],
    ['not on others alone', ingress(entryPoints('websecure'), {...ofEdge, rules: ofNobody}), false],
    ['not with hosts', ingress({}, {...ofEdge, rules: [{host: 'a.example'}]}), false],
    ['not by a default backend, which any route goes before', ingress({}, {...ofEdge, defaultBackend: {}}), false],
    ['not for another class', ingress({}, {ingressClassName: 'other', rules: ofNobody}), false],
    ['for a class by the older annotation', ingress({'kubernetes.io/ingress.class': 'edge'}, {rules: ofNobody}), true],
  ])('%s', (_, object, expected) => {
    expect(answersEveryHost(object, 'edge')).toBe(expected);
  });

  test('one of one listener alone is for plain HTTP of one hostname', () => {
    expect(['web', 'websecure', 'web,websecure'].map((on) => isForPlainHttp(route(http, on)))).toEqual([
      true,
      false,
      false,
    ]);
  });
});

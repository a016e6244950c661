/**
 * ROW=heap: the heap that one Live domain takes in the operator's copies: its CustomDomain, Project, claims, Certificate, request, routes
 * and Service as the API server would send them, and the re-check of its DNS that is due. In process: nothing else grows meanwhile.
 */
import {setFlagsFromString} from 'node:v8';
import {runInNewContext} from 'node:vm';
import {pino} from 'pino';
import type {CustomDomain, Ingress} from '../../operator/api/foreign.ts';
import type {Certificate, CertificateRequest, DomainClaim, Project, Service} from '../../operator/api/foreign.ts';
import {type Caches, makeCaches} from '../../operator/controllers/state/caches.ts';
import {forAnnotation, intentAnnotation, managedBy, ownerLabel} from '../../operator/resources/labels.ts';
import {type DnsQuestion, schedule, type Observations} from '../../operator/controllers/probes/observations.ts';
import {Observer} from '../../operator/controllers/probes/observer.ts';
import {ingresses} from '../../operator/resources/resources.ts';
import {decide} from '../../operator/domain/lifecycle.ts';
import type {Verdict} from '../../operator/domain/verification/method.ts';
import {ingressesOf} from '../../operator/domain/routes/ingress.ts';
import {routesOf} from '../../operator/domain/routes/routes.ts';
import type {Client} from '../../operator/kube/client/client.ts';
import {hashOf} from '../../operator/kube/equality.ts';
import type {KubeObject, ObjectMeta} from '../../operator/kube/objects.ts';
import {heldClaim, minutes, policy, project, served, settled, t0, world} from '../support/world.ts';
import {printTable, type Row} from './table.ts';

/** The aim of row P4, KiB. */
const reach = 10;
const time = new Date(t0).toISOString().replace('.000Z', 'Z');

/** A text as an answer of the API server is: all of it is parsed anew. */
export const sent = <T>(object: T): T => JSON.parse(JSON.stringify(object)) as T;

let version = 0;
const uidOf = (n: number, kind: string): string =>
  `${hashOf([n, kind]).slice(0, 8)}-aaaa-4aaa-8aaa-${hashOf([kind, n])}`;

/** What the API server adds to the metadata of an object, and who manages its fields. */
const stored = <T extends KubeObject>(n: number, object: T, change: Partial<ObjectMeta> = {}): T => ({
  ...object,
  metadata: {
    ...object.metadata,
    uid: uidOf(n, `${object.kind} ${object.metadata.name}`),
    resourceVersion: String(1_000_000 + version++),
    generation: 1,
    creationTimestamp: time,
    managedFields: [{manager: 'doorplate', operation: 'Apply', fieldsV1: {'f:spec': {'f:rules': {}, 'f:tls': {}}}}],
    ...change,
  },
});

/** Written by Doorplate, for an owner. */
const owned = <T extends KubeObject>(n: number, object: T, owner: string): T =>
  stored(n, object, {
    labels: {...managedBy, [ownerLabel]: owner},
    annotations: {
      ...object.metadata.annotations,
      [forAnnotation]: `CustomDomain tenant-${n}/web`,
      [intentAnnotation]: hashOf(object),
    },
    ownerReferences: [
      {apiVersion: 'doorplate.dev/v1alpha1', kind: 'CustomDomain', name: 'web', uid: owner, controller: true},
    ],
  });

interface Domain {
  domain: CustomDomain;
  project: Project;
  service: Service;
  claims: DomainClaim[];
  certificate: Certificate;
  request: CertificateRequest;
  routes: Ingress[];
}

/** One Live domain with its Project, in a namespace of its own. */
export function liveDomain(n: number): Domain {
  const namespace = `tenant-${n}`;
  const hostname = `www.customer-${n}.example`;
  const [uid, projectUid] = [uidOf(n, 'CustomDomain web'), uidOf(n, 'Project web')];
  const host = `web-${namespace}-k3v9x2m4q7w1z.apps.platform.test`;
  const own = project({
    host,
    url: `https://${host}`,
    conditions: ['Deployed', 'RoutesReady', 'Ready'].map((type) => ({
      type,
      status: 'True' as const,
      reason: 'Routed',
      message: `The ingress rules of ${host} are written.`,
      observedGeneration: 1,
      lastTransitionTime: time,
    })),
  });
  const live = settled(world({primary: hostname, uid, project: own, facts: {[hostname]: served()}}));
  const decision = decide(live);
  const [wanted] = decision.certificates;
  const name = `web-${namespace}`;
  const edge = {ingressClassName: 'traefik', traefik: true};
  const ofDefault = routesOf(
    'serves',
    {name, namespace, host, secretName: undefined, service: own.spec.serviceRef},
    policy.redirector,
  );
  const certificate: Certificate = owned(n, {...wanted!, metadata: {...wanted!.metadata, namespace}}, uid);
  certificate.status = {
    conditions: [
      {
        type: 'Ready',
        status: 'True',
        reason: 'Ready',
        message: 'Certificate is up to date and has not expired',
        observedGeneration: 1,
        lastTransitionTime: time,
      },
    ],
    revision: 1,
    notAfter: time,
    renewalTime: time,
  };
  const labels = {[ownerLabel]: uid, ...managedBy};
  const annotations = {
    'cert-manager.io/certificate-name': certificate.metadata.name,
    'cert-manager.io/certificate-revision': '1',
  };
  const ownerReferences = [
    {
      apiVersion: 'cert-manager.io/v1',
      kind: 'Certificate',
      name: certificate.metadata.name,
      uid: certificate.metadata.uid!,
      controller: true,
    },
  ];
  const request = {
    apiVersion: 'cert-manager.io/v1',
    kind: 'CertificateRequest',
    metadata: {name: `${certificate.metadata.name}-1`, namespace},
    spec: {issuerRef: policy.issuers[0].issuerRef},
    status: {
      conditions: [
        {
          type: 'Ready',
          status: 'True' as const,
          reason: 'Issued',
          message: 'Certificate fetched from issuer successfully',
          lastTransitionTime: time,
        },
      ],
    },
  } as CertificateRequest;
  const claimed = (of: string, kind: 'CustomDomain' | 'Project', holder: string) =>
    stored(
      n,
      heldClaim(of, holder, {holder: {kind, namespace, name: 'web', uid: holder}, since: time, token: hashOf(of)}),
    );
  return {
    domain: stored(
      n,
      {...live.domain, status: decision.status, metadata: {name: 'web', namespace}},
      {uid, finalizers: ['doorplate.dev/routes']},
    ),
    project: stored(
      n,
      {...own, metadata: {name: 'web', namespace}},
      {uid: projectUid, finalizers: ['doorplate.dev/routes']},
    ),
    service: stored(n, {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: {name: 'web', namespace},
      spec: {ports: [{name: 'http', port: 80}]},
    }),
    claims: [claimed(hostname, 'CustomDomain', uid), claimed(host, 'Project', projectUid)],
    certificate,
    request: stored(n, request, {labels, annotations, ownerReferences}),
    routes: [
      ...ingressesOf(decision.routes, edge).map((i) => owned(n, {...i, metadata: {...i.metadata, namespace}}, uid)),
      ...ingressesOf(ofDefault, edge).map((i) => owned(n, i, projectUid)),
    ],
  };
}

function keep(caches: Caches, {domain, project: of, service, claims, certificate, request, routes}: Domain): void {
  caches.domains.observe(sent(domain));
  caches.projects.observe(sent(of));
  caches.services.observe(sent(service));
  for (const claim of claims) caches.claims.observe(sent(claim));
  caches.certificates.observe(sent(certificate));
  caches.requests.observe(sent(request));
  for (const route of routes) caches.routes.observe(sent(route));
}

const verdictOf = (n: number): Verdict =>
  ({
    kind: 'Proven',
    by: 'CNAME',
    apex: false,
    zone: {name: `customer-${n}.example`, nameServers: [`ns1.customer-${n}.example`, `ns2.customer-${n}.example`]},
    caa: {kind: 'Allowed'},
  }) as Verdict;

const answer = ({hostname}: DnsQuestion) => Promise.resolve(sent(verdictOf(Number(/\d+/.exec(hostname)![0]))));

/** DNS checks that are answered at once. */
const makeObservations = (): Observations => {
  const none = {look: () => [], onError: () => {}, subject: () => '', queue: {seats: 64, share: 16, spare: 64}};
  return {
    dns: new Observer({...none, look: (questions) => questions.map(answer), subject: ({hostname}) => hostname}),
    edge: new Observer({...none}),
    issuance: new Observer({...none}),
  };
};

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;
const heapUsed = (): number => {
  collect();
  collect();
  return process.memoryUsage().heapUsed;
};

export const run: Row = async ({say, domains: count}) => {
  const caches = makeCaches({} as Client, pino({level: 'silent'}), ingresses);
  const looks = makeObservations();
  const add = async (from: number, to: number): Promise<void> => {
    for (let n = from; n < to; n++) {
      const all = liveDomain(n);
      keep(caches, all);
      const {primary} = all.domain.spec;
      const question = {hostname: primary, target: all.project.status!.host!, token: hashOf(primary)};
      // The first look, and the re-checks of the days that follow.
      for (let look = 0; look < 20; look++) {
        schedule(looks, all.domain, `account tenant-${n}`, [{what: 'dns', hostname: primary, question, at: 0}]);
        await new Promise((resolve) => setImmediate(resolve));
      }
      schedule(looks, all.domain, `account tenant-${n}`, [
        {what: 'dns', hostname: primary, question, at: Date.now() + 360 * minutes},
      ]);
    }
  };
  // What grows by steps has grown.
  await add(0, count);
  const before = heapUsed();
  await add(count, 2 * count);
  const each = (heapUsed() - before) / count / 1024;
  for (const look of Object.values(looks)) look.stop();
  printTable([
    ['heap in the copies and of looks', 'reach', 'measured'],
    ['a Live domain with its Project', `${reach} KiB`, `${each.toFixed(1)} KiB`],
  ]);
  const well = each <= reach;
  say(`heap: ${well ? 'reached' : 'MISSED'}, ${caches.domains.size} domains kept`);
  return well;
};

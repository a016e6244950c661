/**
 * The admission policy's table: who writes what, and which of the chart's policies refuses it. test/cluster/policy.test.ts runs it
 * on the whole cluster, each row a test of its title; test/mutants/policy.ts runs it with broken policies, on an API server alone.
 *
 * Every row is a dry run: the API server decides as it would, and nothing is written.
 */
import {Agent} from 'undici';
import {liftBanAnnotation} from '../../operator/api/api-key.ts';
import {retainedLabel} from '../../operator/domain/certificates/certificate.ts';
import type {Credentials} from '../../operator/kube/client/credentials.ts';

/** Where rows run: two namespaces of one tenant with the same objects in both, the second excepted from the policy, and a release of the chart. */
export interface Place {
  tenant: string;
  excepted: string;
  /** Empty, and labelled like the second, with another value. */
  labelled: string;
  release: {namespace: string; name: string};
}
export const placeOf = (prefix: string, release: Place['release']): Place => ({
  tenant: `${prefix}-tenant`,
  excepted: `${prefix}-excepted`,
  labelled: `${prefix}-labelled`,
  release,
});

/** Policies among which a row is run. */
export interface Policies {
  /** Precedes the names of policies and bindings. */
  prefix: string;
  /** Headers of each request: other policies pass over requests with them. */
  mark: Record<string, string>;
}
const policiesOf = ({release: {namespace, name}}: Place): Policies => ({prefix: `${namespace}-${name}-`, mark: {}});

interface Metadata {
  name: string;
  namespace?: string;
  [key: string]: unknown;
}
export interface Manifest {
  apiVersion: string;
  kind: string;
  metadata: Metadata;
  [key: string]: unknown;
}

const ownerUid = '00000000-0000-4000-8000-000000000001';
const labels = {'app.kubernetes.io/managed-by': 'doorplate', 'doorplate.dev/owner-uid': ownerUid};
/** Of one that the operator of a cluster does not take for its own: it would delete what rests without a claim. */
const restingLabels = {'doorplate.dev/owner-uid': ownerUid, [retainedLabel]: 'true'};
const group = (what: string) => `policy-test-${what}`;
const serviceAccount = (namespace: string, name: string) => ({
  'Impersonate-User': `system:serviceaccount:${namespace}:${name}`,
});

/** Who writes, as what the API server is asked to take them for: Kubernetes' own and the last aside, bound to `admin` and more in both namespaces. */
export const who = {
  /** Bound to `admin` in the release's namespace and in kube-system too. */
  tenant: (p: Place) => serviceAccount(p.tenant, 'tenant'),
  operator: (p: Place) => serviceAccount(p.release.namespace, `${p.release.name}-operator`),
  api: (p: Place) => serviceAccount(p.release.namespace, `${p.release.name}-api`),
  /** A tenant's ServiceAccount of the API's name. */
  apiNamesake: (p: Place) => serviceAccount(p.tenant, `${p.release.name}-api`),
  redirector: (p: Place) => serviceAccount(p.release.namespace, `${p.release.name}-redirector`),
  /** A tenant's ServiceAccount of the operator's name. */
  namesake: (p: Place) => serviceAccount(p.tenant, `${p.release.name}-operator`),
  certManager: () => serviceAccount('cert-manager', 'cert-manager'),
  /** A ServiceAccount beside cert-manager's. */
  cainjector: () => serviceAccount('cert-manager', 'cert-manager-cainjector'),
  edge: () => serviceAccount('traefik', 'traefik'),
  garbageCollector: () => serviceAccount('kube-system', 'generic-garbage-collector'),
  namespaceController: () => serviceAccount('kube-system', 'namespace-controller'),
  /** May update Accounts. */
  engineer: () => ({'Impersonate-User': 'engineer', 'Impersonate-Group': group('platform')}),
  /** May do all with Accounts but update them, and update all of Doorplate's but Accounts. */
  auditor: () => ({'Impersonate-User': 'auditor', 'Impersonate-Group': group('auditors')}),
  admin: () => ({'Impersonate-User': 'admin', 'Impersonate-Group': 'system:masters'}),
} as const;
export type Who = keyof typeof who;

/** Kinds of other projects: the local cluster has no controller for them, and an API server alone does not know them. */
const kindsOf = (apiVersion: string, ...kinds: string[]) => kinds.map((kind) => ({apiVersion, kind}));
export const routeKinds = [
  ...kindsOf(
    'gateway.networking.k8s.io/v1',
    'Gateway',
    'HTTPRoute',
    'GRPCRoute',
    'TLSRoute',
    'ListenerSet',
    'ReferenceGrant',
  ),
  ...kindsOf('gateway.networking.x-k8s.io/v1alpha1', 'XListenerSet'),
  ...kindsOf('traefik.io/v1alpha1', 'IngressRoute', 'IngressRouteTCP', 'Middleware', 'TLSStore', 'TLSOption'),
  ...kindsOf('traefik.containo.us/v1alpha1', 'IngressRoute'),
];
export const certificateKinds = [
  ...kindsOf('cert-manager.io/v1', 'Certificate', 'CertificateRequest', 'Issuer'),
  ...kindsOf('acme.cert-manager.io/v1', 'Order', 'Challenge'),
];

function pluralOf(kind: string): string {
  const lower = kind.toLowerCase();
  return lower.endsWith('s') ? `${lower}es` : /[^aeiou]y$/.test(lower) ? `${lower.slice(0, -1)}ies` : `${lower}s`;
}

/** A kind without a schema, to stand in for one. */
export function standIn({apiVersion, kind}: {apiVersion: string; kind: string}): Manifest {
  const [g, version] = apiVersion.split('/');
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: {
      name: `${pluralOf(kind)}.${g}`,
      labels: {'test.doorplate.dev/stand-in': 'policy'},
      annotations: {'api-approved.kubernetes.io': 'unapproved, a stand-in for tests'},
    },
    spec: {
      group: g,
      scope: 'Namespaced',
      names: {kind, plural: pluralOf(kind), singular: kind.toLowerCase()},
      versions: [
        {
          name: version,
          served: true,
          storage: true,
          subresources: {status: {}},
          schema: {openAPIV3Schema: {type: 'object', 'x-kubernetes-preserve-unknown-fields': true}},
        },
      ],
    },
  };
}

const backend = {service: {name: 'web', port: {number: 80}}};
export const ruleOf = (host?: string, path = '/') => ({
  ...(host !== undefined && {host}),
  http: {paths: [{path, pathType: 'Prefix', backend}]},
});
export const ingress = (name: string, spec: object, metadata: object = {}): Manifest => ({
  apiVersion: 'networking.k8s.io/v1',
  kind: 'Ingress',
  metadata: {name, ...metadata},
  spec: {ingressClassName: 'traefik', ...spec},
});
export const certificate = (name: string, dnsName: string, metadata: object = {}): Manifest => ({
  apiVersion: 'cert-manager.io/v1',
  kind: 'Certificate',
  metadata: {name, ...metadata},
  spec: {secretName: name, dnsNames: [dnsName], issuerRef: {name: 'nobody'}},
});
export const configMap = (name: string, metadata: object = {}): Manifest => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: {name, ...metadata},
  data: {a: 'b'},
});
export const customDomain = (name: string, hostname: string, metadata: object = {}): Manifest => ({
  apiVersion: 'doorplate.dev/v1alpha1',
  kind: 'CustomDomain',
  metadata: {name, ...metadata},
  spec: {projectRef: {name: 'none'}, primary: hostname},
});
export const apiKey = (name: string, metadata: object = {}): Manifest => ({
  apiVersion: 'doorplate.dev/v1alpha1',
  kind: 'ApiKey',
  metadata: {name, ...metadata},
  spec: {hashes: [{sha256: 'a'.repeat(64)}], scopes: ['domains:read']},
});
/** Such a name as Doorplate gives to what belongs to a hostname. */
const secretName = 'own-customer-test-0123456789abc';
/** On what cert-manager makes to answer a challenge. */
export const solverLabels = {'acme.cert-manager.io/http01-solver': 'true'};
const nextKeyLabel = 'cert-manager.io/next-private-key';
/** The key of a certificate that is being issued, as cert-manager names and labels it. */
const nextKeyName = `${secretName}-x7k2p`;
const nextKey = (name: string): Manifest => ({...secret(name), metadata: {name, labels: {[nextKeyLabel]: 'true'}}});
export const secret = (name: string, crt = 'YQ=='): Manifest => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: {name},
  type: 'kubernetes.io/tls',
  data: {'tls.crt': crt, 'tls.key': 'YQ=='},
});
/** An owner that does not exist: the garbage collector deletes what belongs to it alone. */
const nobodys = {metadata: {ownerReferences: [{apiVersion: 'v1', kind: 'ConfigMap', name: 'gone', uid: ownerUid}]}};
const namespaceOf = (name: string, labelsOf: object = {}): Manifest => ({
  apiVersion: 'v1',
  kind: 'Namespace',
  metadata: {name, labels: labelsOf},
});
const issuerRef = {name: 'nobody'};
const request = Buffer.from('no request').toString('base64');
/** What the webhook of cert-manager takes, too. */
const certificateSpecs: Record<string, object> = {
  Certificate: {secretName: 'x', dnsNames: ['victim.example'], issuerRef},
  CertificateRequest: {request, issuerRef},
  Issuer: {selfSigned: {}},
  Order: {request, dnsNames: ['victim.example'], issuerRef},
  Challenge: {
    url: 'https://ca.example/1',
    authorizationURL: 'https://ca.example/2',
    dnsName: 'victim.example',
    type: 'HTTP-01',
    token: 'x',
    key: 'x',
    solver: {},
    issuerRef,
  },
};

const rbac = 'rbac.authorization.k8s.io';
const subjectOf = (identity: Record<string, string>) => {
  const [, , namespace, name] = (identity['Impersonate-User'] ?? '').split(':');
  return name === undefined
    ? {kind: 'Group', apiGroup: rbac, name: identity['Impersonate-Group']}
    : {kind: 'ServiceAccount', name, namespace};
};

/** Made in this order before any row; with the cluster's administrator's rights. */
export function standing(p: Place): Manifest[] {
  const bind = (name: string, namespace: string | undefined, role: string, ...subjects: Who[]): Manifest => ({
    apiVersion: `${rbac}/v1`,
    kind: namespace === undefined ? 'ClusterRoleBinding' : 'RoleBinding',
    metadata: {name, ...(namespace !== undefined && {namespace})},
    roleRef: {apiGroup: rbac, kind: 'ClusterRole', name: role},
    subjects: subjects.map((s) => subjectOf(who[s](p))),
  });
  const role = (what: string, rules: object[]): Manifest => ({
    apiVersion: `${rbac}/v1`,
    kind: 'ClusterRole',
    metadata: {name: group(what)},
    rules,
  });
  const writers: Who[] = [
    'tenant',
    'operator',
    'api',
    'apiNamesake',
    'redirector',
    'namesake',
    'certManager',
    'cainjector',
    'edge',
    'engineer',
    'auditor',
  ];
  return [
    namespaceOf(p.tenant, {'doorplate.dev/account': 'acme'}),
    namespaceOf(p.excepted, {'doorplate.dev/admission': 'except'}),
    namespaceOf(p.labelled, {'doorplate.dev/admission': 'excepted'}),
    // What a careless platform grants on top of `admin`: every route, every status, namespaces.
    role('careless', [
      {
        apiGroups: [...new Set([...routeKinds, ...certificateKinds].map((k) => k.apiVersion.split('/')[0]))],
        resources: ['*'],
        verbs: ['*'],
      },
      {
        apiGroups: ['doorplate.dev'],
        resources: ['projects/status', 'customdomains/status', 'apikeys/status'],
        verbs: ['*'],
      },
      {apiGroups: ['networking.k8s.io'], resources: ['ingresses', 'ingresses/status'], verbs: ['*']},
      {apiGroups: [''], resources: ['services/status'], verbs: ['*']},
    ]),
    role('namespaces', [
      {
        apiGroups: [''],
        resources: ['namespaces', 'namespaces/status', 'namespaces/finalize'],
        verbs: ['get', 'create', 'update', 'patch'],
      },
    ]),
    role('platform', [{apiGroups: ['doorplate.dev'], resources: ['accounts'], verbs: ['update']}]),
    role('auditors', [
      {
        apiGroups: ['doorplate.dev'],
        resources: ['accounts'],
        verbs: ['get', 'list', 'watch', 'create', 'patch', 'delete'],
      },
      {
        apiGroups: ['doorplate.dev'],
        resources: ['plans', 'projects', 'customdomains', 'apikeys', 'accounts/status'],
        verbs: ['update'],
      },
    ]),
    ...[p.tenant, p.excepted].flatMap((ns) => [
      bind('policy-test-admins', ns, 'admin', ...writers),
      bind('policy-test-careless', ns, group('careless'), ...writers),
    ]),
    bind('policy-test-admins', p.labelled, 'admin', 'tenant'),
    ...[p.release.namespace, 'kube-system'].map((ns) => bind(`${p.tenant}-admin`, ns, 'admin', 'tenant')),
    bind(`${p.tenant}-namespaces`, undefined, group('namespaces'), 'tenant', 'engineer', 'auditor'),
    bind(group('platform'), undefined, group('platform'), 'engineer'),
    bind(group('auditors'), undefined, group('auditors'), 'auditor'),
    ...[p.tenant, p.excepted].flatMap((namespace) =>
      [
        {apiVersion: 'v1', kind: 'ServiceAccount', metadata: {name: 'tenant'}},
        // Doorplate's, as it would have made them; whose, is not said, or an operator that runs here would end them as nobody's.
        ingress('ours', {rules: [ruleOf('ours.example')]}, {labels}),
        configMap('ours', {labels, finalizers: ['test.doorplate.dev/held']}),
        {...configMap('owner-only', {labels: {'doorplate.dev/owner-uid': ownerUid}})},
        {...configMap('managed-only', {labels: {'app.kubernetes.io/managed-by': 'doorplate'}})},
        // The same without the labels, such as cert-manager's solver.
        ingress(
          'solver',
          {rules: [ruleOf('ours.example')]},
          {labels: {app: 'solver'}, annotations: {'example.com/a': 'b'}, finalizers: ['test.doorplate.dev/held']},
        ),
        ingress('solving', {rules: [ruleOf('ours.example', '/.well-known/acme-challenge/x')]}, {labels: solverLabels}),
        certificate('plain', 'ours.example'),
        certificate('ours', 'ours.example', {labels}),
        certificate('resting', 'ours.example', {labels: restingLabels}),
        secret(secretName),
        nextKey(nextKeyName),
        {apiVersion: 'acme.cert-manager.io/v1', kind: 'Order', metadata: {name: 'plain'}, spec: certificateSpecs.Order},
        {apiVersion: 'traefik.io/v1alpha1', kind: 'IngressRoute', metadata: {name: 'full'}, spec: {a: 'b'}},
        {apiVersion: 'traefik.io/v1alpha1', kind: 'IngressRoute', metadata: {name: 'bare'}},
        // The tenant's own.
        configMap('own'),
        {
          apiVersion: 'v1',
          kind: 'Service',
          metadata: {name: 'web'},
          spec: {selector: {app: 'web'}, ports: [{port: 80}]},
        },
        customDomain('own', `${namespace}.customer.test`),
        apiKey('own'),
        apiKey('lifted', {annotations: {[liftBanAnnotation]: '2026-01-01T00:00:00Z'}}),
      ].map((o: Manifest) => ({...o, metadata: {...o.metadata, namespace}})),
    ),
  ];
}

export interface Write {
  method: 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  path: string;
  body: object;
  contentType?: string;
}

const pathOf = (apiVersion: string, kind: string, namespace: string | undefined, ...rest: string[]) =>
  [
    apiVersion === 'v1' ? '/api/v1' : `/apis/${apiVersion}`,
    ...(namespace === undefined ? [] : ['namespaces', namespace]),
    pluralOf(kind),
    ...rest,
  ].join('/');
export const create = (namespace: string | undefined, object: Manifest): Write => ({
  method: 'POST',
  path: pathOf(object.apiVersion, object.kind, namespace),
  body: {...object, metadata: {...object.metadata, ...(namespace !== undefined && {namespace})}},
});
export const serverSideApply = (object: Manifest): Write => ({
  method: 'PATCH',
  path: `${pathOf(object.apiVersion, object.kind, object.metadata.namespace, object.metadata.name)}?fieldManager=policy-test&force=true`,
  body: object,
  contentType: 'application/apply-patch+yaml',
});
/** A merge patch, of the object or of one of its subresources. */
export const patch = (
  namespace: string | undefined,
  apiVersion: string,
  kind: string,
  name: string,
  body: object,
  ...subresource: string[]
): Write => ({
  method: 'PATCH',
  path: pathOf(apiVersion, kind, namespace, name, ...subresource),
  body,
  contentType: 'application/merge-patch+json',
});
/** Of one object, or without a name of all. A dry run by its body: where there is one, the query does not count. */
const remove = (apiVersion: string, kind: string, ...name: string[]) => removeAs({}, apiVersion, kind, ...name);
const removeAs =
  (
    options: {propagationPolicy?: 'Background' | 'Foreground' | 'Orphan'},
    apiVersion: string,
    kind: string,
    ...name: string[]
  ) =>
  (p: Place): Write => ({
    method: 'DELETE',
    path: pathOf(apiVersion, kind, p.tenant, ...name),
    body: {apiVersion: 'v1', kind: 'DeleteOptions', dryRun: ['All'], ...options},
  });
const [ingressApi, certificateApi] = ['networking.k8s.io/v1', 'cert-manager.io/v1'];
const patchIngress =
  (name: string, body: object, ...subresource: string[]) =>
  (p: Place) =>
    patch(p.tenant, 'networking.k8s.io/v1', 'Ingress', name, body, ...subresource);
const patchConfigMap = (name: string, body: object) => (p: Place) => patch(p.tenant, 'v1', 'ConfigMap', name, body);
const patchApiKey =
  (name: string, body: object, ...subresource: string[]) =>
  (p: Place) =>
    patch(p.tenant, 'doorplate.dev/v1alpha1', 'ApiKey', name, body, ...subresource);
export const liftBan = (value: string | null) => ({metadata: {annotations: {[liftBanAnnotation]: value}}});
const patchNamespace =
  (labelsOf: object, ...subresource: string[]) =>
  (p: Place) =>
    patch(undefined, 'v1', 'Namespace', p.tenant, {metadata: {labels: labelsOf}}, ...subresource);

/** The policies of the chart, by the last part of their names. */
export const policies = ['routes', 'waits', 'labels', 'secrets', 'namespaces', 'bans'] as const;
export type Policy = (typeof policies)[number];

/** `refusedBy`: by which policy; undefined where the write passes. */
export interface Row {
  title: string;
  as: Who;
  write: (p: Place) => Write;
  refusedBy?: Policy;
}

const refused = (refusedBy: Policy, as: Who, rows: Record<string, Row['write']>): Row[] =>
  Object.entries(rows).map(([title, write]) => ({title, as, write, refusedBy}));
const passes = (as: Who, rows: Record<string, Row['write']>): Row[] =>
  Object.entries(rows).map(([title, write]) => ({title, as, write}));
const here = (object: Manifest) => (p: Place) => create(p.tenant, object);
const victim = ingress('x', {rules: [ruleOf('victim.example')]});

export const rows: Row[] = [
  ...refused('routes', 'tenant', {
    'a tenant can’t write an Ingress for somebody else’s hostname': here(victim),
    'a tenant can’t write an Ingress in a Namespace whose label does not say except': (p) => create(p.labelled, victim),
    'a tenant can’t write an Ingress by server-side apply': (p) =>
      serverSideApply({...victim, metadata: {name: 'x', namespace: p.tenant}}),
    'a tenant can’t write an Ingress for a hostname of their own, unproven': here(
      ingress('x', {rules: [ruleOf('own.customer.test')]}),
    ),
    'a tenant can’t write an Ingress for a project’s default host': here(
      ingress('x', {rules: [ruleOf('docs-acme-k3v9x2m4q7w1z.apps.platform.test')]}),
    ),
    'a tenant can’t write an Ingress for a wildcard': here(ingress('x', {rules: [ruleOf('*.victim.example')]})),
    'a tenant can’t write an Ingress for every hostname': here(ingress('x', {rules: [ruleOf()]})),
    'a tenant can’t write an Ingress with a default backend': here(ingress('x', {defaultBackend: backend})),
    'a tenant can’t write an Ingress for the challenge path of somebody else’s hostname': here(
      ingress('x', {rules: [ruleOf('victim.example', '/.well-known/acme-challenge/')]}),
    ),
    'a tenant can’t write an Ingress of the default class': here(
      ingress('x', {ingressClassName: null, rules: [ruleOf('victim.example')]}),
    ),
    'a tenant can’t write an Ingress of another class': here(
      ingress('x', {ingressClassName: 'other', rules: [ruleOf('victim.example')]}),
    ),
    'a tenant can’t write an Ingress that serves no hostname but their certificate for it': here(
      ingress('x', {tls: [{hosts: ['victim.example'], secretName: 'x'}], rules: [ruleOf('own.customer.test')]}),
    ),
    'a tenant can’t write an Ingress with a generated name': here({
      ...victim,
      metadata: {generateName: 'x'} as unknown as Metadata,
    }),
    'a tenant can’t change the hostname of an Ingress': patchIngress('solver', {
      spec: {rules: [ruleOf('victim.example')]},
    }),
    'a tenant can’t change the backend of an Ingress': patchIngress('solver', {
      spec: {
        rules: [
          {
            host: 'ours.example',
            http: {paths: [{path: '/', pathType: 'Prefix', backend: {service: {name: 'other', port: {number: 80}}}}]},
          },
        ],
      },
    }),
    'a tenant can’t add an annotation to an Ingress': patchIngress('solver', {
      metadata: {annotations: {'traefik.ingress.kubernetes.io/router.priority': '9999'}},
    }),
    'a tenant can’t change an annotation of an Ingress': patchIngress('solver', {
      metadata: {annotations: {'example.com/a': 'c'}},
    }),
    'a tenant can’t remove an annotation of an Ingress': patchIngress('solver', {
      metadata: {annotations: {'example.com/a': null}},
    }),
    'a tenant can’t change a label of an Ingress': patchIngress('solver', {metadata: {labels: {app: 'other'}}}),
    'a tenant can’t add a label to an Ingress': patchIngress('solver', {metadata: {labels: {more: 'x'}}}),
    'a tenant can’t keep an Ingress by a finalizer': patchIngress('solver', {
      metadata: {finalizers: ['test.doorplate.dev/held', 'test.doorplate.dev/mine']},
    }),
    'a tenant can’t keep an Ingress by Kubernetes’ own finalizer': patchIngress('solver', {
      metadata: {finalizers: ['test.doorplate.dev/held', 'foregroundDeletion']},
    }),
    'a tenant can’t annotate an Ingress through its status': patchIngress(
      'solver',
      {metadata: {annotations: {'traefik.ingress.kubernetes.io/router.priority': '9999'}}},
      'status',
    ),
    'a tenant can’t keep an Ingress by a finalizer through its status': patchIngress(
      'solver',
      {metadata: {finalizers: ['test.doorplate.dev/held', 'test.doorplate.dev/mine']}},
      'status',
    ),
    'a tenant can’t take a finalizer off an Ingress': patchIngress('solver', {metadata: {finalizers: null}}),
    'a tenant can’t have an Ingress deleted by giving it to an owner that is gone': patchIngress('solver', nobodys),
    'a tenant can’t have an Ingress deleted through its status': patchIngress('solver', nobodys, 'status'),
    ...Object.fromEntries(
      routeKinds.map(({apiVersion, kind}) => [
        `a tenant can’t write a ${kind} of ${apiVersion.split('/')[0]}`,
        here({apiVersion, kind, metadata: {name: 'x'}, spec: {}}),
      ]),
    ),
    'a tenant can’t change a route of Traefik': (p) =>
      patch(p.tenant, 'traefik.io/v1alpha1', 'IngressRoute', 'full', {spec: {a: 'c'}}),
    'a tenant can’t empty a route of Traefik': (p) =>
      patch(p.tenant, 'traefik.io/v1alpha1', 'IngressRoute', 'full', {spec: null}),
    'a tenant can’t fill a route of Traefik that is empty': (p) =>
      patch(p.tenant, 'traefik.io/v1alpha1', 'IngressRoute', 'bare', {spec: {a: 'b'}}),
    ...Object.fromEntries(
      certificateKinds.map(({apiVersion, kind}) => [
        `a tenant can’t write a ${kind} of cert-manager`,
        here({apiVersion, kind, metadata: {name: 'x'}, spec: certificateSpecs[kind]}),
      ]),
    ),
    'a tenant can’t change the hostname of a Certificate': (p) =>
      patch(p.tenant, 'cert-manager.io/v1', 'Certificate', 'plain', {spec: {dnsNames: ['victim.example']}}),
    'a tenant can’t have a certificate ordered anew by giving an Order to an owner that is gone': (p) =>
      patch(p.tenant, 'acme.cert-manager.io/v1', 'Order', 'plain', nobodys),
    'a tenant can’t have a certificate issued anew by giving a Certificate to an owner that is gone': (p) =>
      patch(p.tenant, certificateApi, 'Certificate', 'plain', nobodys),
    'a tenant can’t have a certificate issued anew through the status of a Certificate': (p) =>
      patch(
        p.tenant,
        'cert-manager.io/v1',
        'Certificate',
        'plain',
        {status: {conditions: [{type: 'Issuing', status: 'True'}]}},
        'status',
      ),
    'a tenant can’t delete an Ingress by which a challenge is answered': remove(ingressApi, 'Ingress', 'solving'),
    'a tenant can’t delete all Ingresses by which challenges are answered': (p) => {
      const all = remove(ingressApi, 'Ingress')(p);
      return {...all, path: `${all.path}?labelSelector=${encodeURIComponent(Object.keys(solverLabels).join())}`};
    },
    'a tenant can’t leave the Ingress of a challenge behind by deleting that': removeAs(
      {propagationPolicy: 'Orphan'},
      'acme.cert-manager.io/v1',
      'Order',
      'plain',
    ),
    'a tenant can’t write the status of an Order': (p) =>
      patch(p.tenant, 'acme.cert-manager.io/v1', 'Order', 'plain', {status: {state: 'valid'}}, 'status'),
    'a tenant can’t write the status of a CustomDomain': (p) =>
      patch(p.tenant, 'doorplate.dev/v1alpha1', 'CustomDomain', 'own', {status: {phase: 'Live'}}, 'status'),
    'a tenant can’t write the status of an ApiKey': patchApiKey('own', {status: {lastHandledLiftBan: 'x'}}, 'status'),
  }),
  ...refused('routes', 'api', {
    'Doorplate’s API can’t write an Ingress': here(victim),
    'Doorplate’s API can’t write a Certificate': here(certificate('x', 'victim.example')),
    'Doorplate’s API can’t write the status of a CustomDomain': (p) =>
      patch(p.tenant, 'doorplate.dev/v1alpha1', 'CustomDomain', 'own', {status: {phase: 'Live'}}, 'status'),
  }),
  ...refused('routes', 'apiNamesake', {
    'a tenant’s ServiceAccount of the API’s name can’t write the status of an ApiKey': patchApiKey(
      'own',
      {status: {lastHandledLiftBan: 'x'}},
      'status',
    ),
  }),
  ...refused('routes', 'redirector', {'Doorplate’s redirector can’t write an Ingress': here(victim)}),
  ...refused('routes', 'namesake', {
    'a tenant’s ServiceAccount of the operator’s name can’t write an Ingress': here(victim),
  }),
  ...refused('routes', 'cainjector', {'a ServiceAccount beside cert-manager’s can’t write an Ingress': here(victim)}),
  ...refused('routes', 'edge', {'the edge can’t write an Ingress': here(victim)}),
  ...refused('routes', 'auditor', {
    'somebody with all rights but to update Accounts can’t write an Ingress': here(victim),
  }),

  ...refused('labels', 'tenant', {
    'a tenant can’t make an object with Doorplate’s labels': here(configMap('x', {labels})),
    'a tenant can’t make an object with the label of an owner alone': here(
      configMap('x', {labels: {'doorplate.dev/owner-uid': ownerUid}}),
    ),
    'a tenant can’t make an object with the label of Doorplate’s management alone': here(
      configMap('x', {labels: {'app.kubernetes.io/managed-by': 'doorplate'}}),
    ),
    'a tenant can’t make a CustomDomain with Doorplate’s labels': here(customDomain('x', 'x.customer.test', {labels})),
    'a tenant can’t label an object of theirs as Doorplate’s': patchConfigMap('own', {metadata: {labels}}),
    'a tenant can’t label a Service as Doorplate’s through its status': (p) =>
      patch(p.tenant, 'v1', 'Service', 'web', {metadata: {labels}}, 'status'),
    'a tenant can’t change what Doorplate made': patchConfigMap('ours', {data: {a: 'c'}}),
    'a tenant can’t add to what Doorplate made': patchConfigMap('ours', {binaryData: {x: 'eA=='}}),
    'a tenant can’t change what has the label of an owner alone': patchConfigMap('owner-only', {data: {a: 'c'}}),
    'a tenant can’t change what has the label of Doorplate’s management alone': patchConfigMap('managed-only', {
      data: {a: 'c'},
    }),
    'a tenant can’t delete what has the label of an owner alone': remove('v1', 'ConfigMap', 'owner-only'),
    'a tenant can’t delete what has the label of Doorplate’s management alone': remove(
      'v1',
      'ConfigMap',
      'managed-only',
    ),
    'a tenant can’t take Doorplate’s labels off': patchConfigMap('ours', {
      metadata: {labels: {'app.kubernetes.io/managed-by': null, 'doorplate.dev/owner-uid': null}},
    }),
    'a tenant can’t give what Doorplate made to another owner': patchConfigMap('ours', {
      metadata: {labels: {'doorplate.dev/owner-uid': '00000000-0000-4000-8000-000000000002'}},
    }),
    'a tenant can’t annotate what Doorplate made': patchConfigMap('ours', {metadata: {annotations: {a: 'b'}}}),
    'a tenant can’t delete an Ingress that Doorplate made': remove(ingressApi, 'Ingress', 'ours'),
    'a tenant can’t delete all Ingresses, Doorplate’s among them': remove(ingressApi, 'Ingress'),
    'a tenant can’t have a certificate issued anew by deleting what Doorplate made': remove(
      certificateApi,
      'Certificate',
      'ours',
    ),
    'a tenant can’t delete a Certificate that rests': remove(certificateApi, 'Certificate', 'resting'),
    'a tenant can’t make an object that rests': here(configMap('x', {labels: restingLabels})),
    'a tenant can’t keep what Doorplate made by a finalizer': patchConfigMap('ours', {
      metadata: {finalizers: ['test.doorplate.dev/held', 'test.doorplate.dev/mine']},
    }),
    'a tenant can’t have what Doorplate made deleted by giving it to an owner that is gone': patchConfigMap(
      'ours',
      nobodys,
    ),
    'a tenant can’t take a finalizer off what Doorplate made': patchConfigMap('ours', {metadata: {finalizers: null}}),
  }),
  ...refused('labels', 'namesake', {
    'a tenant’s ServiceAccount of the operator’s name can’t make an object with Doorplate’s labels': here(
      configMap('x', {labels}),
    ),
  }),
  ...refused('labels', 'api', {
    'Doorplate’s API can’t make an object with Doorplate’s labels': here(
      customDomain('x', 'x.customer.test', {labels}),
    ),
  }),
  ...refused('labels', 'auditor', {
    'somebody with all rights but to update Accounts can’t make an object with Doorplate’s labels': here(
      configMap('x', {labels}),
    ),
  }),

  ...refused('secrets', 'tenant', {
    'a tenant can’t put a certificate for somebody else’s hostname into the Secret of their own': (p) =>
      patch(p.tenant, 'v1', 'Secret', secretName, {data: {'tls.crt': 'Yg=='}}),
    'a tenant can’t make the Secret of a hostname before cert-manager does': here(
      secret('next-customer-test-0123456789abc'),
    ),
    'a tenant can’t make the Secret of a hostname whose hash has no letter': here(
      secret('next-customer-test-0123456789012'),
    ),
    'a tenant can’t have a certificate issued anew by deleting its Secret': remove('v1', 'Secret', secretName),
    'a tenant can’t have a certificate ordered again and again by deleting its next key': remove(
      'v1',
      'Secret',
      nextKeyName,
    ),
    'a tenant can’t take the label off the next key, to delete it then': (p) =>
      patch(p.tenant, 'v1', 'Secret', nextKeyName, {metadata: {labels: null}}),
    'a tenant can’t make the next key of a certificate': here(nextKey('own-next-key')),
    'a tenant can’t have a certificate issued anew by giving its Secret to an owner that is gone': (p) =>
      patch(p.tenant, 'v1', 'Secret', secretName, nobodys),
    'a tenant can’t have a certificate ordered again and again by giving its next key to an owner that is gone': (p) =>
      patch(p.tenant, 'v1', 'Secret', nextKeyName, nobodys),
    'a tenant can’t keep the Secret of a hostname by a finalizer': (p) =>
      patch(p.tenant, 'v1', 'Secret', secretName, {metadata: {finalizers: ['test.doorplate.dev/mine']}}),
  }),
  ...refused('secrets', 'auditor', {
    'somebody with all rights but to update Accounts can’t write the Secret of a hostname': here(
      secret('next-customer-test-0123456789abc'),
    ),
  }),

  ...refused('namespaces', 'tenant', {
    'a tenant can’t give their Namespace to another Account': patchNamespace({'doorplate.dev/account': 'rich'}),
    'a tenant can’t take the Account off their Namespace': patchNamespace({'doorplate.dev/account': null}),
    'a tenant can’t give their Namespace to another Account through its status': patchNamespace(
      {'doorplate.dev/account': 'rich'},
      'status',
    ),
    'a tenant can’t give their Namespace to another Account through its finalization': (p) => ({
      method: 'PUT',
      path: pathOf('v1', 'Namespace', undefined, p.tenant, 'finalize'),
      body: {...namespaceOf(p.tenant, {'doorplate.dev/account': 'rich'}), spec: {finalizers: ['kubernetes']}},
    }),
    'a tenant can’t create a Namespace of an Account': (p) =>
      create(undefined, namespaceOf(`${p.tenant}-x`, {'doorplate.dev/account': 'rich'})),
    'a tenant can’t except their Namespace from the policy': patchNamespace({'doorplate.dev/admission': 'except'}),
    'a tenant can’t except their Namespace from the policy through its status': patchNamespace(
      {'doorplate.dev/admission': 'except'},
      'status',
    ),
    'a tenant can’t create a Namespace that is excepted from the policy': (p) =>
      create(undefined, namespaceOf(`${p.tenant}-x`, {'doorplate.dev/admission': 'except'})),
    'a tenant can’t end the exception of a Namespace': (p) =>
      patch(undefined, 'v1', 'Namespace', p.excepted, {metadata: {labels: {'doorplate.dev/admission': null}}}),
    'a tenant can’t give an excepted Namespace to an Account': (p) =>
      patch(undefined, 'v1', 'Namespace', p.excepted, {metadata: {labels: {'doorplate.dev/account': 'rich'}}}),
  }),
  ...refused('namespaces', 'auditor', {
    'somebody with all rights but to update Accounts can’t give a Namespace to an Account': patchNamespace({
      'doorplate.dev/account': 'rich',
    }),
    'somebody with all rights but to update Accounts can’t except a Namespace from the policy': patchNamespace({
      'doorplate.dev/admission': 'except',
    }),
  }),

  ...refused('bans', 'tenant', {
    'a tenant can’t lift the ban of their ApiKey': patchApiKey('own', liftBan('2026-01-02T00:00:00Z')),
    'a tenant can’t lift a ban again by another value': patchApiKey('lifted', liftBan('2026-01-02T00:00:00Z')),
    'a tenant can’t create an ApiKey whose ban is lifted': here(apiKey('x', liftBan('2026-01-02T00:00:00Z').metadata)),
    'a tenant can’t create an ApiKey with an empty value for its ban': here(apiKey('x', liftBan('').metadata)),
    'a tenant can’t lift a ban in an excepted Namespace': (p) =>
      patch(p.excepted, 'doorplate.dev/v1alpha1', 'ApiKey', 'own', liftBan('2026-01-02T00:00:00Z')),
  }),
  ...refused('bans', 'api', {
    'Doorplate’s API can’t lift a ban by the annotation': patchApiKey('own', liftBan('2026-01-02T00:00:00Z')),
  }),
  ...refused('bans', 'auditor', {
    'somebody with all rights but to update Accounts can’t lift a ban': patchApiKey(
      'own',
      liftBan('2026-01-02T00:00:00Z'),
    ),
  }),

  ...passes('tenant', {
    'a tenant writes ApiKeys': here(apiKey('x')),
    'a tenant changes their ApiKey': patchApiKey('lifted', {
      spec: {scopes: ['domains:write']},
      metadata: {annotations: {x: 'y'}},
    }),
    'a tenant takes the annotation of a lifted ban off': patchApiKey('lifted', liftBan(null)),
    'a tenant deletes their ApiKey': remove('doorplate.dev/v1alpha1', 'ApiKey', 'own'),
    'a tenant writes ConfigMaps': here(configMap('x')),
    'a tenant changes their own ConfigMap': patchConfigMap('own', {
      data: {a: 'c'},
      metadata: {labels: {x: 'y'}, annotations: {x: 'y'}, finalizers: ['x.example/y']},
    }),
    'a tenant writes objects that another tool manages': here(
      configMap('x', {labels: {'app.kubernetes.io/managed-by': 'Helm'}}),
    ),
    'a tenant writes Services': here({
      apiVersion: 'v1',
      kind: 'Service',
      metadata: {name: 'x'},
      spec: {ports: [{port: 80}]},
    }),
    'a tenant writes Deployments': here({
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: {name: 'x'},
      spec: {
        selector: {matchLabels: {a: 'b'}},
        template: {metadata: {labels: {a: 'b'}}, spec: {containers: [{name: 'x', image: 'x'}]}},
      },
    }),
    'a tenant writes HorizontalPodAutoscalers': here({
      apiVersion: 'autoscaling/v2',
      kind: 'HorizontalPodAutoscaler',
      metadata: {name: 'x'},
      spec: {maxReplicas: 2, scaleTargetRef: {apiVersion: 'apps/v1', kind: 'Deployment', name: 'x'}},
    }),
    'a tenant writes NetworkPolicies': here({
      apiVersion: 'networking.k8s.io/v1',
      kind: 'NetworkPolicy',
      metadata: {name: 'x'},
      spec: {podSelector: {}},
    }),
    'a tenant writes CustomDomains': here(customDomain('x', 'victim.example')),
    'a tenant asks for a check of their CustomDomain': (p) =>
      patch(p.tenant, 'doorplate.dev/v1alpha1', 'CustomDomain', 'own', {
        metadata: {annotations: {'doorplate.dev/requestedAt': 'now'}},
      }),
    'a tenant writes Projects': here({
      apiVersion: 'doorplate.dev/v1alpha1',
      kind: 'Project',
      metadata: {name: 'x'},
      spec: {serviceRef: {name: 'web', port: 80}},
    }),
    'a tenant deletes CustomDomains': remove('doorplate.dev/v1alpha1', 'CustomDomain', 'own'),
    'a tenant deletes their own ConfigMap': remove('v1', 'ConfigMap', 'own'),
    'a tenant deletes what others than Doorplate made': remove(ingressApi, 'Ingress', 'solver'),
    'a tenant writes Secrets of other names': here(secret('own-customer-test')),
    'a tenant writes Secrets with a hash of another form': here(secret('sealed-configuration')),
    'an update of the Secret of a hostname that changes nothing passes': (p) =>
      patch(p.tenant, 'v1', 'Secret', secretName, {}),
    'in an excepted Namespace anybody writes Secrets of hostnames': (p) =>
      create(p.excepted, secret('next-customer-test-0123456789abc')),
    'a tenant labels their Namespace otherwise': patchNamespace({x: 'y'}),
    'a tenant creates Namespaces of no Account': (p) => create(undefined, namespaceOf(`${p.tenant}-x`)),
    'an update of an Ingress that changes nothing passes': patchIngress('solver', {}),
    'an update of what Doorplate made that changes nothing passes': patchConfigMap('ours', {}),
    'in an excepted Namespace anybody writes Ingresses': (p) => create(p.excepted, victim),
    'in an excepted Namespace anybody writes Certificates': (p) =>
      create(p.excepted, certificate('x', 'victim.example')),
    'in an excepted Namespace anybody writes Doorplate’s labels': (p) => create(p.excepted, configMap('x', {labels})),
    'in Doorplate’s Namespace its rights alone decide about Ingresses': (p) => create(p.release.namespace, victim),
    'in Doorplate’s Namespace its rights alone decide about its labels': (p) =>
      create(p.release.namespace, configMap('x', {labels})),
    'in kube-system its rights alone decide about Ingresses': () => create('kube-system', victim),
    'in kube-system its rights alone decide about Doorplate’s labels': () =>
      create('kube-system', configMap('x', {labels})),
  }),
  ...passes('edge', {
    'the edge publishes its address in the status of an Ingress': patchIngress(
      'solver',
      {status: {loadBalancer: {ingress: [{ip: '192.0.2.1'}]}}},
      'status',
    ),
  }),
  ...refused('waits', 'garbageCollector', {
    'the garbage collector can’t let an Ingress by which a challenge is answered wait for its dependents': removeAs(
      {propagationPolicy: 'Foreground'},
      ingressApi,
      'Ingress',
      'solving',
    ),
    'the garbage collector can’t let such an Ingress wait until its dependents are left behind': removeAs(
      {propagationPolicy: 'Orphan'},
      ingressApi,
      'Ingress',
      'solving',
    ),
  }),
  ...refused('waits', 'certManager', {
    'cert-manager can’t let its solver’s Ingress wait for its dependents': removeAs(
      {propagationPolicy: 'Foreground'},
      ingressApi,
      'Ingress',
      'solving',
    ),
  }),
  ...passes('garbageCollector', {
    'the garbage collector deletes an Ingress by which a challenge is answered': removeAs(
      {propagationPolicy: 'Background'},
      ingressApi,
      'Ingress',
      'solving',
    ),
    'the garbage collector lets another Ingress wait for its dependents': removeAs(
      {propagationPolicy: 'Foreground'},
      ingressApi,
      'Ingress',
      'solver',
    ),
    'in an excepted Namespace an Ingress by which a challenge is answered waits for its dependents': (p) =>
      removeAs({propagationPolicy: 'Foreground'}, ingressApi, 'Ingress', 'solving')({...p, tenant: p.excepted}),
    'the garbage collector changes the owners of an Ingress': patchIngress('solver', nobodys),
    'the garbage collector takes its finalizer off an Ingress': patchIngress('solver', {metadata: {finalizers: null}}),
    'the garbage collector changes the owners of what Doorplate made': patchConfigMap('ours', nobodys),
    'the garbage collector changes the owners of the Secret of a hostname': (p) =>
      patch(p.tenant, 'v1', 'Secret', secretName, nobodys),
    'the garbage collector deletes what Doorplate made': remove(ingressApi, 'Ingress', 'ours'),
    'the garbage collector deletes the Secret of a hostname': remove('v1', 'Secret', secretName),
  }),
  ...passes('namespaceController', {
    'with its Namespace goes all that Doorplate made': remove(ingressApi, 'Ingress'),
    'with its Namespace go the Ingresses by which challenges are answered': remove(ingressApi, 'Ingress', 'solving'),
    'with its Namespace go Orders': remove('acme.cert-manager.io/v1', 'Order'),
    'with its Namespace go the Secrets of hostnames': remove('v1', 'Secret'),
  }),
  ...passes('operator', {
    'Doorplate deletes what it made': remove(certificateApi, 'Certificate', 'ours'),
    'Doorplate writes Ingresses': here(ingress('x', {rules: [ruleOf('x.customer.test')]}, {labels})),
    'Doorplate changes the owners of what it made': patchIngress('ours', nobodys),
    'Doorplate changes what it made': patchIngress('ours', {spec: {rules: [ruleOf('y.customer.test')]}}),
    'Doorplate writes Certificates': here(certificate('x', 'x.customer.test', {labels})),
    'Doorplate writes the status of a CustomDomain': (p) =>
      patch(
        p.tenant,
        'doorplate.dev/v1alpha1',
        'CustomDomain',
        'own',
        {status: {phase: 'AwaitingVerification'}},
        'status',
      ),
  }),
  ...passes('api', {
    'Doorplate’s API writes CustomDomains': here(customDomain('x', 'x.customer.test')),
    'Doorplate’s API asks for a check of a CustomDomain': (p) =>
      patch(p.tenant, 'doorplate.dev/v1alpha1', 'CustomDomain', 'own', {
        metadata: {annotations: {'doorplate.dev/requestedAt': 'now'}},
      }),
    'Doorplate’s API writes ApiKeys': here(apiKey('x')),
    'Doorplate’s API writes the status of an ApiKey': patchApiKey('own', {status: {lastHandledLiftBan: 'x'}}, 'status'),
  }),
  ...passes('certManager', {
    'cert-manager writes the Secret of a hostname': (p) =>
      patch(p.tenant, 'v1', 'Secret', secretName, {data: {'tls.crt': 'Yg=='}}),
    'cert-manager deletes its solver’s Ingress': remove(ingressApi, 'Ingress', 'solving'),
    'cert-manager deletes an Order': remove('acme.cert-manager.io/v1', 'Order', 'plain'),
    'cert-manager changes the owners of an Order': (p) =>
      patch(p.tenant, 'acme.cert-manager.io/v1', 'Order', 'plain', nobodys),
    'cert-manager deletes the next key of a certificate': remove('v1', 'Secret', nextKeyName),
    'cert-manager writes its solver’s Ingress': here(victim),
    'cert-manager writes Orders': here({
      apiVersion: 'acme.cert-manager.io/v1',
      kind: 'Order',
      metadata: {name: 'x', labels},
      spec: certificateSpecs.Order,
    }),
    'cert-manager writes the status of a Certificate': (p) =>
      patch(p.tenant, 'cert-manager.io/v1', 'Certificate', 'plain', {status: {revision: 7}}, 'status'),
  }),
  ...passes('engineer', {
    'the platform writes Ingresses': here(victim),
    'the platform deletes what Doorplate made': remove(ingressApi, 'Ingress', 'ours'),
    'the platform writes Doorplate’s labels': here(configMap('x', {labels})),
    'the platform gives a Namespace to another Account': patchNamespace({'doorplate.dev/account': 'rich'}),
    'the platform takes the Account off a Namespace': patchNamespace({'doorplate.dev/account': null}),
    'the platform excepts a Namespace from the policy': patchNamespace({'doorplate.dev/admission': 'except'}),
    'the platform lifts the ban of an ApiKey': patchApiKey('own', liftBan('2026-01-02T00:00:00Z')),
    'the platform lifts a ban again': patchApiKey('lifted', liftBan('2026-01-02T00:00:00Z')),
    'the platform creates a Namespace of an Account': (p) =>
      create(undefined, namespaceOf(`${p.tenant}-x`, {'doorplate.dev/account': 'rich'})),
  }),
  ...passes('admin', {'the cluster’s administrator writes Ingresses': here(victim)}),
];

/** One API server, spoken to as whoever. */
export class Api {
  readonly #credentials: Credentials;
  #open: Promise<{agent: Agent; headers: Record<string, string | string[]>}> | undefined;

  constructor(credentials: Credentials) {
    this.#credentials = credentials;
  }

  /** Sends a write. Throws where no answer comes. */
  async send(
    write: Write,
    identity: Record<string, string> = {},
    query = '',
  ): Promise<{status: number; reason: string; message: string; warnings: string}> {
    this.#open ??= this.#credentials
      .read()
      .then(({tls, headers}) => ({agent: new Agent({connect: tls, connections: 16}), headers}));
    const {agent, headers} = await this.#open;
    const {
      statusCode,
      headers: {warning = []},
      body,
    } = await agent.request({
      origin: this.#credentials.server,
      path: write.path + (query === '' ? '' : `${write.path.includes('?') ? '&' : '?'}${query}`),
      method: write.method,
      body: JSON.stringify(write.body),
      headers: {
        accept: 'application/json',
        'content-type': write.contentType ?? 'application/json',
        ...headers,
        ...identity,
      },
    });
    const {reason = '', message = ''} = (await body.json()) as {reason?: string; message?: string};
    return {status: statusCode, reason, message, warnings: [warning].flat().join('\n')};
  }

  /** As the administrator; throws what the API server refuses. */
  async make(object: Manifest): Promise<void> {
    const {status, message} = await this.send(serverSideApply(object));
    if (status !== 200 && status !== 201)
      throw new Error(`${object.kind} ${object.metadata.name}: ${status} ${message}`);
  }

  async close(): Promise<void> {
    await (await this.#open)?.agent.close();
  }
}

/** What the API server answers to a row. Bindings are those of a release's policies, without its name: `labels-owner`. */
export interface Answer {
  /** Refused by several, the API server tells of one. */
  refused?: {by: Policy; binding: string; message: string};
  /** Those that would have refused it and only warn. */
  warned: string[];
}

/** Runs a row. Throws if the write neither passes nor is refused by a policy: a right is missing, or an expression fails. */
export async function answerTo(
  api: Api,
  place: Place,
  row: Row,
  {prefix, mark}: Policies = policiesOf(place),
): Promise<Answer> {
  const identity = {...who[row.as](place), ...mark};
  const {status, reason, message, warnings} = await api.send(row.write(place), identity, 'dryRun=All');
  const ours = (name: string | undefined) => (name?.startsWith(prefix) ? name.slice(prefix.length) : undefined);
  const warned = [...warnings.matchAll(/ValidatingAdmissionPolicy '[^']+' with binding '([^']+)'/g)].flatMap(
    (m) => ours(m[1]) ?? [],
  );
  if (status === 200 || status === 201) return {warned};
  const [, policy, binding, said] =
    /ValidatingAdmissionPolicy '([^']+)' with binding '([^']+)' denied request: (only [^]+)/.exec(message) ?? [];
  const [by, through] = [ours(policy), ours(binding)];
  if (status !== 403 || reason !== 'Forbidden' || by === undefined || through === undefined || said === undefined)
    throw new Error(`neither passed nor refused by a policy: ${status} ${message}`);
  return {refused: {by: by as Policy, binding: through, message: said}, warned};
}

/** By which policy a row is refused, and what it says; neither where it passes. Throws as `answerTo` does. */
export async function outcome(api: Api, place: Place, row: Row): Promise<{refusedBy?: Policy; message?: string}> {
  const {refused: refusal} = await answerTo(api, place, row);
  return refusal ? {refusedBy: refusal.by, message: refusal.message} : {};
}

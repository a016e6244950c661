/**
 * The admission policy on the whole cluster: every row of its table (test/support/policy.ts), and that nobody who should is in
 * its way. Who may do what else in the cluster is the platform's: the tenant here has been given more than `admin`.
 */
import {afterAll, beforeAll, describe, expect, test} from '@jest/globals';
import {parseAllDocuments} from 'yaml';
import {apply, audit, type AuditEvent, eventually, kubectl, sh} from '../../cluster/cluster.ts';
import {admin} from '../support/admin.ts';
import {
  Api,
  outcome,
  placeOf,
  policies,
  routeKinds,
  rows,
  solverLabels,
  standing,
  standIn,
  who,
} from '../support/policy.ts';

interface Rendered {
  kind: string;
  metadata: {name: string};
  spec: {matchConstraints: {resourceRules: object[]}; matchConditions: {expression: string}[]};
}

const place = placeOf('policy', {namespace: 'doorplate-system', name: 'doorplate'});
const api = new Api(admin());
const labels = {
  'app.kubernetes.io/managed-by': 'doorplate',
  'doorplate.dev/owner-uid': '00000000-0000-4000-8000-000000000003',
};
const get = (...args: string[]) => kubectl(['get', '-n', place.tenant, '--ignore-not-found', ...args]);

beforeAll(async () => {
  await apply(routeKinds.map(standIn));
  await eventually('the kinds are served', () => apply(standing(place)).then(() => true));
  await eventually('the roles have taken Doorplate’s up', async () => {
    const {status} = await api.send(
      {
        method: 'POST',
        path: `/apis/doorplate.dev/v1alpha1/namespaces/${place.tenant}/projects`,
        body: {
          apiVersion: 'doorplate.dev/v1alpha1',
          kind: 'Project',
          metadata: {name: 'x'},
          spec: {serviceRef: {name: 'x', port: 80}},
        },
      },
      who.tenant(place),
      'dryRun=All',
    );
    return status === 201;
  });
});

afterAll(async () => {
  // Waited for: in a kind that is going nothing can be made.
  await kubectl(['delete', 'crd', '-l', 'test.doorplate.dev/stand-in=policy']);
  await kubectl([
    'delete',
    'rolebinding',
    `${place.tenant}-admin`,
    '-n',
    place.release.namespace,
    '--ignore-not-found',
  ]);
  await kubectl(['delete', 'rolebinding', `${place.tenant}-admin`, '-n', 'kube-system', '--ignore-not-found']);
  const made = standing(place)
    .filter((o) => o.kind.startsWith('Cluster'))
    .map((o) => `${o.kind}/${o.metadata.name}`);
  await kubectl(['delete', '--ignore-not-found', ...made]);
  await api.close();
});

describe('who writes what', () => {
  test.each(rows)('$title', async (row) => {
    expect((await outcome(api, place, row)).refusedBy).toBe(row.refusedBy);
  });

  test.each([
    [
      'a route',
      'a tenant can’t write an Ingress for somebody else’s hostname',
      'only Doorplate writes Ingress here, because a route gives its hostnames to this namespace. Attach a hostname with a CustomDomain instead',
    ],
    [
      'a certificate',
      'a tenant can’t write a Certificate of cert-manager',
      'only Doorplate and cert-manager write Certificate here. Attach the hostname with a CustomDomain instead',
    ],
    [
      'a deletion',
      'a tenant can’t delete an Ingress by which a challenge is answered',
      'only cert-manager deletes Ingress here, because it answers the CA. cert-manager deletes it after the answer. To remove the hostname',
    ],
    [
      'a status',
      'a tenant can’t write the status of a CustomDomain',
      'only its controller writes the status of CustomDomain here, because others trust it. Change the spec of the CustomDomain or Project instead',
    ],
    [
      'labels',
      'a tenant can’t make an object with Doorplate’s labels',
      'only Doorplate writes and deletes objects with the labels doorplate.dev/owner-uid and app.kubernetes.io/managed-by: doorplate. Choose other labels',
    ],
    [
      'a Secret',
      'a tenant can’t have a certificate issued anew by deleting its Secret',
      'only cert-manager writes and deletes the Secrets of hostnames, whose names end in a hyphen and 13 characters, and those with the label cert-manager.io/next-private-key. Choose another name',
    ],
    [
      'an Account',
      'a tenant can’t give their Namespace to another Account',
      'only the platform sets, changes or removes the label doorplate.dev/account, which names the owner of the hostnames. Ask a user who may update Accounts',
    ],
    [
      'a lifted ban',
      'a tenant can’t lift the ban of their ApiKey',
      'only the platform sets the annotation doorplate.dev/lift-ban, which lifts the ban of an API key. The ban ends by itself: see the status of the ApiKey',
    ],
    [
      'an exception',
      'a tenant can’t except their Namespace from the policy',
      "only the platform sets, changes or removes the label doorplate.dev/admission, which excepts a namespace from Doorplate's admission policy. Ask a user who may update Accounts",
    ],
  ])('the refusal of %s says what to do instead', async (_, title, said) => {
    const row = rows.find((r) => r.title === title);
    expect(await outcome(api, place, row!)).toEqual({
      refusedBy: row!.refusedBy,
      message: expect.stringContaining(said),
    });
  });
});

/** The policies as the chart renders them with further values. */
const rendered = (...sets: string[]) =>
  sh('helm', [
    'template',
    'doorplate',
    'charts/doorplate',
    '-n',
    'doorplate-system',
    '-f',
    'examples/demo/values.yaml',
    ...sets.flatMap((s) => ['--set', s]),
  ]);

describe('what the platform sets', () => {
  test('lists of further writers and further kinds of routes are accepted by the API server', async () => {
    const chart = await rendered(
      "admissionPolicy.exceptUsers={system:serviceaccount:gateway:controller,it's <me>}",
      'admissionPolicy.exceptGroups={trusted,"quoted"}',
      'admissionPolicy.certManager.namespace=certs',
      'admissionPolicy.certManager.serviceAccounts={a,b}',
      'admissionPolicy.furtherRoutes[0].apiGroups={projectcontour.io}',
      'admissionPolicy.furtherRoutes[0].resources={httpproxies}',
    );
    const documents = parseAllDocuments(chart)
      .map((d) => d.toJS() as Rendered | null)
      .filter((o) => o?.kind === 'ValidatingAdmissionPolicy') as Rendered[];
    expect(documents).toHaveLength(policies.length);
    await apply(documents, {dryRun: true});
    const routes = documents.find((o) => o.metadata.name.endsWith('-routes'))!.spec;
    expect(routes.matchConstraints.resourceRules.at(-1)).toMatchObject({
      apiGroups: ['projectcontour.io'],
      resources: ['httpproxies'],
    });
    const conditions = routes.matchConditions.map((c) => c.expression).join('\n');
    for (const name of [
      'doorplate-system:doorplate-operator',
      'serviceaccount:certs:a"',
      'serviceaccount:certs:b"',
      'gateway:controller',
      'trusted',
    ])
      expect(conditions).toContain(name);
    expect(conditions).not.toContain('cert-manager:cert-manager');
  });
});

/** An Ingress with these labels that belongs to a ConfigMap. */
const owned = (owner: string, uid: string, its: Record<string, string>) => [
  {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'Ingress',
    metadata: {
      name: owner,
      namespace: place.tenant,
      labels: its,
      ownerReferences: [{apiVersion: 'v1', kind: 'ConfigMap', name: owner, uid, blockOwnerDeletion: true}],
    },
    spec: {
      rules: [
        {
          host: 'owned.example',
          http: {paths: [{path: '/', pathType: 'Prefix', backend: {service: {name: 'web', port: {number: 80}}}}]},
        },
      ],
    },
  },
];

/** The garbage collector reads by watches of its own. */
const heard = () =>
  new Promise((resolve) => {
    setTimeout(resolve, 5000);
  });
const isRefusedCollector = ({user, responseStatus}: AuditEvent): boolean =>
  user.username.endsWith(':generic-garbage-collector') && responseStatus?.code === 403;

const ownerOf = async (name: string, its: Record<string, string> = labels) => {
  await apply([{apiVersion: 'v1', kind: 'ConfigMap', metadata: {name, namespace: place.tenant}}]);
  await apply(owned(name, await get('configmap', name, '-o', 'jsonpath={.metadata.uid}'), its));
  await heard();
};

describe('what Kubernetes itself does to Doorplate’s objects', () => {
  test('the garbage collector takes an owner off that has left its dependents', async () => {
    await ownerOf('leaves');
    await kubectl(['delete', 'configmap', '-n', place.tenant, 'leaves', '--cascade=orphan']);
    expect(await get('ingress', 'leaves', '-o', 'jsonpath={.metadata.name}{.metadata.ownerReferences}')).toBe('leaves');
  });

  test('the garbage collector removes what an owner takes with it', async () => {
    await ownerOf('takes');
    await kubectl(['delete', 'configmap', '-n', place.tenant, 'takes', '--cascade=foreground']);
    await expect(
      eventually('it is gone', async () => (await get('ingress', 'takes', '-o', 'name')) === ''),
    ).resolves.toBe(true);
  });

  test('an Ingress by which a challenge is answered waits for nothing that a tenant has hung on it: it goes when cert-manager deletes it', async () => {
    await ownerOf('answers', solverLabels);
    const uid = await get('ingress', 'answers', '-o', 'jsonpath={.metadata.uid}');
    const hung = {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: {
        name: 'hung',
        namespace: place.tenant,
        finalizers: ['test.doorplate.dev/held'],
        ownerReferences: [
          {apiVersion: 'networking.k8s.io/v1', kind: 'Ingress', name: 'answers', uid, blockOwnerDeletion: true},
        ],
      },
    };
    expect(
      await api.send(
        {method: 'POST', path: `/api/v1/namespaces/${place.tenant}/configmaps`, body: hung},
        who.tenant(place),
      ),
    ).toMatchObject({status: 201});
    await heard();
    const since = new Date();
    await kubectl(['delete', 'configmap', '-n', place.tenant, 'answers', '--cascade=foreground', '--wait=false']);
    await eventually('the garbage collector was refused', async () => {
      const refused = await audit(since, isRefusedCollector);
      return refused.some((e) => e.objectRef?.namespace === place.tenant && e.objectRef.name === 'answers');
    });
    expect(await get('ingress', 'answers', '-o', 'jsonpath={.metadata.name}{.metadata.finalizers}')).toBe('answers');
    // As cert-manager does it: how the dependents go is left open.
    expect(
      await api.send(
        {method: 'DELETE', path: `/apis/networking.k8s.io/v1/namespaces/${place.tenant}/ingresses/answers`, body: {}},
        who.certManager(),
      ),
    ).toMatchObject({status: 200});
    expect(await get('ingress', 'answers', '-o', 'name')).toBe('');
    await kubectl([
      'patch',
      'configmap',
      '-n',
      place.tenant,
      'hung',
      '--type=merge',
      '-p',
      '{"metadata":{"finalizers":null}}',
    ]);
  });

  test('a Namespace is deleted with all of it', async () => {
    for (const ns of [place.tenant, place.excepted]) {
      for (const held of ['ingress/solver', 'configmap/ours'])
        await kubectl(['patch', held, '-n', ns, '--type=merge', '-p', '{"metadata":{"finalizers":null}}']);
    }
    const namespaces = [place.tenant, place.excepted, place.labelled];
    await kubectl(['delete', 'namespace', ...namespaces]);
    expect(await kubectl(['get', 'namespace', ...namespaces, '--ignore-not-found', '-o', 'name'])).toBe('');
  });
});

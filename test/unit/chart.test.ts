/** The chart, as Helm renders it: what a platform engineer may set. */
import {execFile} from 'node:child_process';
import {readdir, readFile} from 'node:fs/promises';
import {fileURLToPath} from 'node:url';
import {promisify} from 'node:util';
import {describe, expect, test} from '@jest/globals';
import {parse, parseAllDocuments} from 'yaml';
import type {Ingress} from '../../operator/api/foreign.ts';
import {parseSettings, toPolicy} from '../../operator/config.ts';
import {bin} from '../support/kube-server.ts';
import {policies} from '../support/policy.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));

/** With the demo's values and these; throws with what Helm says. */
const template = async (flag: '--set' | '--set-json', sets: readonly string[]) =>
  (
    await promisify(execFile)(
      `${bin}/helm`,
      [
        'template',
        'doorplate',
        `${root}charts/doorplate`,
        '-n',
        'doorplate-system',
        '-f',
        `${root}examples/demo/values.yaml`,
        ...sets.flatMap((s) => [flag, s]),
      ],
      {maxBuffer: 16 << 20},
    )
  ).stdout;
const rendered = (...sets: string[]) => template('--set', sets);
const renderedAs = (...sets: string[]) => template('--set-json', sets);

test('what is rendered depends on the values alone: the same ones render the same, without a cluster to ask', async () => {
  const everything = ['metrics.serviceMonitor.enabled=true', 'metrics.dashboard.enabled=true'];
  expect(await rendered(...everything)).toBe(await rendered(...everything));
  const folder = `${root}charts/doorplate/templates`;
  const templates = await Promise.all((await readdir(folder)).map((name) => readFile(`${folder}/${name}`, 'utf8')));
  const calls = templates.flatMap((text) => [...text.matchAll(/\{\{(.*?)\}\}/gs)].map(([, call]) => call));
  expect(calls.length).toBeGreaterThan(100);
  const chance = /(?<![.$"\w-])(now|lookup|rand\w*|uuidv4|gen[A-Z]\w+|htpasswd|bcrypt|getHostByName)\b/;
  expect(calls.filter((call) => chance.test(call!))).toEqual([]);
});

describe('values that do not hold', () => {
  test('those of the demo do', async () => {
    expect(await rendered()).toContain('kind: Deployment');
  });

  test.each([
    [
      'image.repository=',
      'image.repository is not set. No prebuilt image is published. Build the image with `make release`',
    ],
    ['image.digest=latest', '/image/digest'],
    ['redirector.topologySpreadConstraints[0].maxSkew=1', '/redirector/topologySpreadConstraints/0'],
    ['operator.nodeSelectors.a=b', '/operator'],
    ['commonLabels.app\\.kubernetes\\.io/name=a', "'app.kubernetes.io/name'"],
    ['fullnameOverride=Edge', '/fullnameOverride'],
    [`fullnameOverride=${'a'.repeat(53)}`, '/fullnameOverride'],
    ['nameOverride=a: b', '/nameOverride'],
    ['operator.heapMegabytes=300,operator.extraEnv[0].name=NODE_OPTIONS', 'operator.extraEnv sets NODE_OPTIONS'],
    ['redirector.extraEnv[0].name=POD_NAME', 'redirector.extraEnv sets POD_NAME'],
    ['api.extraEnv[0].name=LANG,api.extraEnv[1].name=LANG', 'api.extraEnv sets LANG'],
    [
      'operator.serviceAccount.name=a,api.serviceAccount.name=a',
      'operator.serviceAccount.name and api.serviceAccount.name are both a',
    ],
    ['operator.heapMegabytes=1', '/operator/heapMegabytes'],
    ['api.podDisruptionBudget.maxUnavailable=0', '/api/podDisruptionBudget/maxUnavailable'],
    ['redirector.extraEnv[0].value=a', '/redirector/extraEnv/0'],
    ['log.format=xml', '/log/format'],
    ['livenessProbe.path=/', '/livenessProbe'],
    ['networkPolicy.enabled=true', '/networkPolicy/ingressController'],
    ['networkPolicy.prometheus[0].nameSelector.a=b', '/networkPolicy/prometheus/0'],
    ['proxy.url=http://me:secret@proxy:3128', '/proxy/url'],
    ['caBundle.configMap=a,caBundle.secret=b', '/caBundle/secret'],
    ['platform.zone=', '/platform/zone'],
    ['edge.addresses={}', '/edge'],
    ['edge.hostname=lb.example.com', 'exactly one of edge.addresses, edge.hostname and edge.service'],
    ['edge.addresses=null', 'exactly one of edge.addresses, edge.hostname and edge.service. Found: none'],
    ['edge.addresses=null,edge.hostname=lb', '/edge/hostname'],
    ['edge.addresses=null,edge.service.name=traefik', 'edge.service needs both a namespace and a name'],
    ['edge.service.namespace=traefik,edge.service.name=traefik', 'Found: edge.addresses, edge.service'],
    ['issuerRef.name=', '/issuerRef/name'],
    [
      'issuerRef.name=,issuers[0].issuerRef.name=a',
      'budgets is for issuerRef. With issuers, set the budgets of each issuer in issuers[].budgets',
    ],
    ['ingressClassName=', '/ingressClassName'],
    ['plainHttp.shared=perhaps', '/plainHttp/shared'],
    ['plainHttp.probe={nowhere}', '/plainHttp/probe/0'],
    ['dns.recheckInterval=soon', '/dns/recheckInterval'],
    ['platform.tls=Sometimes', '/platform/tls'],
    ['dnss.recursive={}', 'dnss'],
    ['graceTime=never', '/graceTime'],
    ['defaultPlan=', '/defaultPlan'],
    ['admissionPolicy.enable=false', '/admissionPolicy'],
    ['admissionPolicy.mode=Denied', '/admissionPolicy/mode'],
    ['admissionPolicy.scope=Account', '/admissionPolicy/scope'],
    ['admissionPolicy.certManager.serviceAccounts={}', '/admissionPolicy/certManager/serviceAccounts'],
    ['admissionPolicy.furtherRoutes[0].apiGroups={x.example}', '/admissionPolicy/furtherRoutes/0'],
    ['api.host=api.apps.platform.test', 'api.host must not be platform.zone or a name below it'],
    ['api.host=Apps.Platform.test.', 'api.host must not be platform.zone or a name below it'],
    ['api.trustedProxies={0.0.0.0/0}', '/api/trustedProxies/0'],
    ['api.replicas=2', '/valkey/url'],
    ['operator.replicas=0', '/operator/replicas'],
    ['operator.workers=0', '/operator/workers'],
    ['operator.workers=201', '/operator/workers'],
    ['operator.workers=null', '/operator'],
    ['operator.replicas=2,leaderElection.enabled=false', '/leaderElection/enabled'],
    ['api.withoutKey.requestsPerMinute=0', '/api/withoutKey/requestsPerMinute'],
    ['api.bans.strikes=0', '/api/bans/strikes'],
    ['api.bans.firstBan=soon', '/api/bans/firstBan'],
    ['api.audit.retention=long', '/api/audit/retention'],
    ['api.audit.megabytes=0', '/api/audit/megabytes'],
    [
      'api.perServiceAccount.requestsPerDay=59',
      'api.perServiceAccount.requestsPerDay must be at least api.perServiceAccount.requestsPerMinute',
    ],
    ['api.audience=', '/api/audience'],
    ['api.authorize.enabled=true', 'api.authorize.enabled needs api.replicas of 2 or more'],
    [
      'api.authorize.enabled=true,api.authorize.acceptOutages=true',
      'api.authorize.enabled needs networkPolicy.authorizeClients',
    ],
    ['api.storage.size=big', '/api/storage/size'],
    ['api.page.colour=blue', '/api/page/colour'],
    ['api.page.logo=http://example.com/logo.svg', '/api/page/logo'],
    ['api.page.supportUrl=javascript:alert(1)', '/api/page/supportUrl'],
    ['api.page.frameAncestors={https://example.com; script-src *}', '/api/page/frameAncestors/0'],
    ['api.page.returnOrigins={https://*.example.com}', '/api/page/returnOrigins/0'],
    ['api.page.sessionLifetime=4m', 'but must be from 5m to 7d'],
    ['api.page.sessionLifetime=8d', 'but must be from 5m to 7d'],
    ['valkey.url=redis://:secret@valkey:6379', '/valkey/url'],
    ['plans.pro.customDomains.maxHostnamesPerProject=many', '/plans/pro/customDomains/maxHostnamesPerProject'],
    ['plans.pro.rateLimit.requestsPerDay=10000000000', '/plans/pro/rateLimit/requestsPerDay'],
    ['plans.Starter.rateLimit.requestsPerDay=60', "'Starter'"],
    ['edge.addresses={192.0.2.300}', '/edge/addresses/0'],
    ['edge.addresses={192.0.2.0/33},edge.probe={192.0.2.1}', '/edge/addresses/0'],
    ['edge.probe={192.0.2.1:99999}', '/edge/probe/0'],
    ['edge.probe={edge.traefik.svc:65536}', '/edge/probe/0'],
    ['plainHttp.probe={10.0.0.1:99999}', '/plainHttp/probe/0'],
    ['plainHttp.probe={[2001:db8::1]:0}', '/plainHttp/probe/0'],
    ['api.trustedProxies={10.42.0.300}', '/api/trustedProxies/0'],
    ['leaderElection.leaseDuration=10s', 'leaderElection.leaseDuration (10s) must be longer than'],
    ['leaderElection.retryPeriod=9000ms', 'leaderElection.renewDeadline (10s) must be longer than'],
    [
      'plans.free.customDomains.allowed=true',
      'plans.free.customDomains.maxHostnamesPerProject must be at least 1 if plans.free.customDomains.allowed is true',
    ],
    [
      'plans.pro.customDomains.allowed=false',
      'plans.pro.customDomains.maxHostnamesPerProject must be at least 1 if plans.pro.customDomains.allowed is true, and 0',
    ],
    [
      'plans.free.rateLimit.requestsPerDay=50',
      'plans.free.rateLimit.requestsPerDay must be at least plans.free.rateLimit.requestsPerMinute',
    ],
  ])('%s stops helm, and the message names the value', async (value, named) => {
    await expect(rendered(value)).rejects.toThrow(named);
  });

  test('an API that is exposed, without the proxies that are believed, stops helm, and the message names the value', async () => {
    await expect(renderedAs('api.trustedProxies=[]')).rejects.toThrow('/api/trustedProxies');
  });
});

/** What the operator reads. */
const settingsOf = async (...sets: string[]) => {
  const all = parseAllDocuments(await rendered(...sets)).map(
    (d) => d.toJS() as {metadata: {name: string}; data: Record<string, string>} | null,
  );
  return parseSettings(all.find((o) => o?.metadata.name === 'doorplate-config')!.data['config.yaml']!);
};

test('the addresses and times that the operator takes, helm takes, too', async () => {
  const addresses = ['192.0.2.255', '10.0.0.0/8', '2001:db8::1', '::ffff:192.0.2.1', '2001:db8::/128'];
  const probe = ['192.0.2.1', '192.0.2.1:65535', '2001:db8::1', '::', '[2001:db8::1]:443', '[::1]', 'a.b.svc:9'];
  const {edge, leaderElection} = await settingsOf(
    `edge.addresses={${addresses.join(',')}},edge.probe={${probe.join(',')}}`,
    'leaderElection.leaseDuration=2m,leaderElection.renewDeadline=015s,leaderElection.retryPeriod=12s',
  );
  expect([edge.addresses, edge.probe.length]).toEqual([addresses, probe.length]);
  expect(leaderElection).toMatchObject({leaseDuration: 120_000, renewDeadline: 15_000, retryPeriod: 12_000});
});

test('the operator gets its workers from operator.workers', async () => {
  expect((await settingsOf('operator.workers=12')).operator).toEqual({deployment: 'doorplate-operator', workers: 12});
});

test('a plan may be named by a number', async () => {
  const {free} = (parse(await readFile(`${root}charts/doorplate/values.yaml`, 'utf8')) as {plans: {free: object}})
    .plans;
  const plans = parseAllDocuments(await renderedAs(`plans=${JSON.stringify({2024: free})}`))
    .map((d) => d.toJS() as {kind: string; metadata: {name: unknown}} | null)
    .filter((o) => o?.kind === 'Plan');
  expect(plans.map((o) => o!.metadata.name)).toContain('2024');
});

describe('the edge', () => {
  test.each([
    ['edge.hostname=lb.example.com', {hostname: 'lb.example.com'}],
    ['edge.service.namespace=traefik,edge.service.name=edge', {service: {namespace: 'traefik', name: 'edge'}}],
  ])('may be known by %s in place of addresses', async (value, expected) => {
    expect((await settingsOf(`edge.addresses=null,${value}`)).edge).toMatchObject({addresses: [], ...expected});
  });
});

describe('the Ingress for plain HTTP of all hostnames', () => {
  test.each([
    ['auto', 'auto'],
    ['true', true],
    ['false', false],
  ])('is the operator’s, which reads plainHttp.shared=%s as it is', async (value, setting) => {
    expect((await settingsOf(`plainHttp.shared=${value}`)).plainHttp.shared).toBe(setting);
  });

  test('is for the redirector’s Service, which outlives the release', async () => {
    const {redirector} = toPolicy(await settingsOf(), 'doorplate-system');
    const service = parseAllDocuments(await rendered())
      .map((d) => d.toJS() as Ingress | null)
      .find((o) => o?.kind === 'Service' && o.metadata.name === redirector.service);
    expect(service?.metadata.annotations).toEqual({'helm.sh/resource-policy': 'keep'});
  });
});

describe('the admission policy', () => {
  interface Binding {
    kind: string;
    metadata: {name: string};
    spec: {
      policyName: string;
      validationActions: string[];
      matchResources?: {
        namespaceSelector?: {matchExpressions: {operator: string}[]};
        excludeResourceRules?: {apiGroups: string[]; resources: string[]}[];
        resourceRules?: {apiGroups: string[]; resources: string[]}[];
      };
    };
  }
  const bindings = async (...sets: string[]) =>
    parseAllDocuments(await rendered(...sets))
      .map((d) => d.toJS() as Binding | null)
      .filter((o) => o?.kind === 'ValidatingAdmissionPolicyBinding')
      .map((o) => ({...o!.spec, name: o!.metadata.name.replace('doorplate-system-doorplate-', '')}));
  /** `routes: Deny in Exists`: what a binding does, in namespaces whose label for an Account is so. */
  const told = async (...sets: string[]) =>
    (await bindings(...sets)).map(({name, validationActions, matchResources: {namespaceSelector} = {}}) =>
      [`${name}: ${validationActions.join('+')}`, namespaceSelector?.matchExpressions[0]?.operator]
        .join(' in ')
        .replace(/ in $/, ''),
    );
  const always = [
    'routes-status: Deny',
    'labels-managed-by: Deny',
    'labels-owner: Deny',
    'bans: Deny',
    'namespaces: Deny',
  ];
  const ofOthers = ['routes', 'waits', 'secrets'];

  test('switched off, there is no policy and no binding', async () => {
    expect(await rendered('admissionPolicy.enabled=false')).not.toContain('ValidatingAdmissionPolicy');
    const bound = new Set((await bindings()).map(({policyName}) => policyName));
    expect([...bound].toSorted()).toEqual(policies.map((name) => `doorplate-system-doorplate-${name}`).toSorted());
  });

  test.each([
    ['Audit', 'Audit'],
    ['Warn', 'Warn+Audit'],
    ['Deny', 'Deny'],
  ])(
    'with mode %s, does so where scope says to what others write, always denies what is Doorplate’s own, and with scope Accounts only audits elsewhere',
    async (mode, actions) => {
      const sets = [`admissionPolicy.mode=${mode}`, 'admissionPolicy.scope=All'];
      expect((await told(...sets)).toSorted()).toEqual(
        [...always, ...ofOthers.map((name) => `${name}: ${actions}`)].toSorted(),
      );
      sets[1] = 'admissionPolicy.scope=Accounts';
      expect((await told(...sets)).toSorted()).toEqual(
        [
          ...always,
          ...ofOthers.map((name) => `${name}: ${actions} in Exists`),
          ...ofOthers.map((name) => `${name}-elsewhere: Audit in DoesNotExist`),
        ].toSorted(),
      );
    },
  );

  test('binds the status of Doorplate’s kinds apart from all other routes', async () => {
    const all = await bindings();
    const rules = (name: string) => all.find((b) => b.name === name)?.matchResources;
    const itsOwn = [{apiGroups: ['doorplate.dev'], resources: ['*/*']}];
    expect(rules('routes')?.excludeResourceRules).toMatchObject(itsOwn);
    expect(rules('routes-status')?.resourceRules).toMatchObject(itsOwn);
  });

  test('as shipped, denies in namespaces of an Account; the operator is told', async () => {
    const shipped = parse(await readFile(`${root}charts/doorplate/values.yaml`, 'utf8')) as {
      admissionPolicy: {mode: string; scope: string};
    };
    const {mode, scope} = shipped.admissionPolicy;
    expect([mode, scope]).toEqual(['Deny', 'Accounts']);
    const config = parseAllDocuments(await rendered('admissionPolicy.mode=Warn', `admissionPolicy.scope=${scope}`))
      .map((d) => d.toJS() as {metadata: {name: string}; data: {'config.yaml': string}} | null)
      .find((o) => o?.metadata.name === 'doorplate-config');
    expect(parseSettings(config!.data['config.yaml']).admissionPolicy).toEqual({enabled: true, mode: 'Warn', scope});
  });
});

describe('the operator, as it is rendered', () => {
  interface Rendered {
    kind: string;
    metadata: {name: string};
    spec: {replicas: number; strategy: {type: string}; maxUnavailable: number; selector: object; template: {spec: Pod}};
  }
  interface Pod {
    topologySpreadConstraints: {topologyKey: string; whenUnsatisfiable: string; labelSelector: object}[];
  }
  const render = async (name: string, ...sets: string[]) => {
    const objects = parseAllDocuments(await rendered(...sets))
      .map((d) => d.toJS() as Rendered | null)
      .filter((o) => o?.metadata.name === name);
    const find = (kind: string) => objects.find((o) => o?.kind === kind)?.spec;
    return {deployment: find('Deployment')!, budget: find('PodDisruptionBudget')};
  };
  test('has a standby unless told otherwise, and is replaced one Pod after the other', async () => {
    const shipped = parse(await readFile(`${root}charts/doorplate/values.yaml`, 'utf8')) as {
      operator: {replicas: number};
    };
    const {replicas} = shipped.operator;
    const {deployment} = await render('doorplate-operator', `operator.replicas=${replicas}`);
    expect([replicas, deployment.replicas, deployment.strategy]).toEqual([
      2,
      2,
      {type: 'RollingUpdate', rollingUpdate: {maxUnavailable: 0, maxSurge: 1}},
    ]);
  });

  test('alone, is never two at once, and holds up the drain of no node', async () => {
    const {deployment, budget} = await render(
      'doorplate-operator',
      'operator.replicas=1',
      'leaderElection.enabled=false',
    );
    expect([deployment.replicas, deployment.strategy, budget]).toEqual([1, {type: 'Recreate'}, undefined]);
  });

  test.each([
    ['operator', 'operator.replicas=2'],
    ['redirector', 'redirector.replicas=2'],
    ['api', 'api.replicas=2,valkey.url=redis://valkey:6379'],
  ])(
    'of two Pods of the %s one at most is evicted, and they stand on two nodes where there are two',
    async (role, sets) => {
      const {deployment, budget} = await render(`doorplate-${role}`, sets);
      expect(budget).toEqual({maxUnavailable: 1, selector: deployment.selector});
      expect(deployment.template.spec.topologySpreadConstraints).toEqual([
        {
          maxSkew: 1,
          topologyKey: 'kubernetes.io/hostname',
          whenUnsatisfiable: 'ScheduleAnyway',
          labelSelector: deployment.selector,
        },
      ]);
    },
  );
});

describe('the API, as it is rendered', () => {
  interface Rendered {
    kind: string;
    metadata: {name: string};
    spec: {
      [key: string]: unknown;
      strategy: {type: string};
      template: {spec: {volumes: object[]; containers: {env: {name: string}[]}[]}};
    };
    data: Record<string, string>;
  }
  const render = async (...sets: string[]): Promise<Rendered[]> => {
    const text = await renderedAs(...sets);
    return parseAllDocuments(text)
      .map((d) => d.toJS() as Rendered | null)
      .filter((o) => o !== null && o.metadata.name.endsWith('doorplate-api')) as Rendered[];
  };
  const find = (objects: Rendered[], kind: string) => objects.find((o) => o.kind === kind);
  const ledger = (objects: Rendered[]) =>
    find(objects, 'Deployment')?.spec.template.spec.volumes.find((v) => (v as {name: string}).name === 'ledger');

  test('switched off, nothing of it is there', async () => {
    expect(await render('api.enabled=false')).toEqual([]);
  });

  test('without a hostname it has neither Ingress nor Certificate, and needs no proxies', async () => {
    expect((await render('api.host=""', 'api.trustedProxies=[]')).map((o) => o.kind).toSorted()).toEqual([
      'ClusterRole',
      'ClusterRoleBinding',
      'Deployment',
      'Service',
      'ServiceAccount',
    ]);
    expect((await render()).map((o) => o.kind)).toEqual(expect.arrayContaining(['Ingress', 'Certificate']));
  });

  test('with a StorageClass its ledger is on a volume that outlives the Pod, written by one Pod at a time', async () => {
    const objects = await render('api.storage={"className": "fast", "size": "2Gi"}');
    expect(find(objects, 'PersistentVolumeClaim')?.spec).toEqual({
      accessModes: ['ReadWriteOnce'],
      storageClassName: 'fast',
      resources: {requests: {storage: '2Gi'}},
    });
    expect([ledger(objects), find(objects, 'Deployment')?.spec.strategy]).toEqual([
      {name: 'ledger', persistentVolumeClaim: {claimName: 'doorplate-api'}},
      {type: 'Recreate'},
    ]);
  });

  test('without one its ledger goes with the Pod', async () => {
    const objects = await render();
    expect([find(objects, 'PersistentVolumeClaim'), ledger(objects)]).toEqual([
      undefined,
      {name: 'ledger', emptyDir: {sizeLimit: '1Gi'}},
    ]);
  });

  test('with Valkey there are as many replicas as wanted, no volume claim, and the password comes from its Secret', async () => {
    const objects = await render(
      'valkey={"url": "redis://valkey:6379", "passwordSecret": {"name": "valkey"}}',
      'api.replicas=3',
      'api.storage={"className": "fast"}',
    );
    expect([
      find(objects, 'PersistentVolumeClaim'),
      find(objects, 'Deployment')?.spec.replicas,
      find(objects, 'Deployment')?.spec.strategy.type,
    ]).toEqual([undefined, 3, 'RollingUpdate']);
    expect(find(objects, 'Deployment')?.spec.template.spec.containers[0]?.env).toContainEqual({
      name: 'VALKEY_PASSWORD',
      valueFrom: {secretKeyRef: {name: 'valkey', key: 'password'}},
    });
  });

  test('what proxies ask for the platform’s own APIs has a Service of its own, to which no Ingress leads', async () => {
    const text = await renderedAs(
      'api.authorize.enabled=true',
      'api.authorize.acceptOutages=true',
      'networkPolicy.authorizeClients=[{"namespaceSelector": {}}]',
    );
    const objects = parseAllDocuments(text)
      .map((d) => d.toJS() as Rendered | null)
      .filter((o) => o !== null);
    const service = objects.find((o) => o.metadata.name === 'doorplate-authorize');
    expect(service).toMatchObject({kind: 'Service', spec: {ports: [{port: 8083}, {port: 8084}]}});
    expect(JSON.stringify(objects.filter((o) => o.kind === 'Ingress'))).not.toContain('authorize');
    expect((await rendered()).includes('doorplate-authorize')).toBe(false);
  });

  test.each(['the defaults of values.yaml', 'none'])(
    'with several issuers and budgets that are %s, the operator gets none',
    async (which) => {
      const {budgets} = parse(await readFile(`${root}charts/doorplate/values.yaml`, 'utf8')) as {budgets: object};
      const text = await renderedAs(
        'issuerRef.name=""',
        'issuers=[{"issuerRef": {"name": "a"}, "preset": "ZeroSSL"}]',
        `budgets=${which === 'none' ? 'null' : JSON.stringify(budgets)}`,
      );
      const {data} = parseAllDocuments(text)
        .map((d) => d.toJS() as Rendered | null)
        .find((o) => o?.kind === 'ConfigMap')!;
      expect(parse(data['config.yaml']!)).not.toHaveProperty('budgets');
      expect(parseSettings(data['config.yaml']!).issuers).toMatchObject([
        {issuerRef: {name: 'a'}, budgets: {countRenewals: true}},
      ]);
    },
  );

  test('what the chart renders is a configuration that every role takes', async () => {
    const {data} = parseAllDocuments(await rendered())
      .map((d) => d.toJS() as Rendered | null)
      .find((o) => o?.kind === 'ConfigMap')!;
    expect(parseSettings(data['config.yaml']!)).toMatchObject({
      api: {enabled: true, host: 'api.platform.test', storage: {path: '/var/lib/doorplate'}},
      valkey: {url: ''},
    });
  });
});

describe('what tenants may read', () => {
  interface Readable {
    kind: string;
    metadata: {name: string};
    data: {'config.yaml': string};
    rules: {resources: string[]; resourceNames?: string[]; verbs: string[]}[];
    subjects: object[];
  }
  const readable = async (...sets: string[]): Promise<Readable[]> =>
    parseAllDocuments(await rendered(...sets))
      .map((d) => d.toJS() as Readable | null)
      .filter((o) => o !== null && o.metadata.name.endsWith('doorplate-public')) as Readable[];

  test('is a configuration by which the plugin decides as the operator does', async () => {
    const config = (await readable('deniedNames={denied.example}')).find((o) => o.kind === 'ConfigMap')!.data[
      'config.yaml'
    ];
    const all = parseAllDocuments(await rendered('deniedNames={denied.example}')).map(
      (d) => d.toJS() as Readable | null,
    );
    const own = all.find((o) => o?.metadata.name === 'doorplate-config')!.data['config.yaml'];
    const [published, operators] = [config, own].map((text) => toPolicy(parseSettings(text), 'doorplate-system'));
    expect({...published, budgets: undefined}).toEqual({...operators, budgets: undefined});
    expect(parseSettings(config).dns).toEqual(parseSettings(own).dns);
  });

  test('has no word of Valkey, of proxies that are believed, or of what is logged', async () => {
    const text = (await readable('valkey.url=redis://valkey.internal:6379')).map((o) => JSON.stringify(o)).join();
    expect(text).not.toMatch(/valkey|trustedProxies|log/);
  });

  test('is that ConfigMap and the default Plan, by name, for reading', async () => {
    const rules = (await readable('defaultPlan=starter')).flatMap((o) => o.rules ?? []);
    expect(rules.map(({resources, resourceNames, verbs}) => [resources, resourceNames, verbs])).toEqual([
      [['plans'], ['starter'], ['get']],
      [['configmaps'], ['doorplate-public'], ['get']],
    ]);
  });
});

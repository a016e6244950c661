/** The NetworkPolicies of the chart: who reaches Doorplate's Pods, whom they reach, and nobody else. */
import {BlockList, isIP} from 'node:net';
import {describe, expect, test} from '@jest/globals';
import {renderChart} from '../support/alerts.ts';

interface Peer {
  namespaceSelector?: {matchLabels: {team: string}};
  ipBlock?: {cidr: string};
}
interface Rule {
  from?: Peer[];
  to?: Peer[];
  ports?: {protocol: string; port: number}[];
}
interface Rendered {
  kind: string;
  metadata: {name: string; labels: Record<string, string>};
  spec: {
    podSelector: {matchLabels: Record<string, string>};
    template?: {metadata: {labels: Record<string, string>}};
    policyTypes: string[];
    /** None where nobody may come. */
    ingress: Rule[] | null;
    egress: Rule[];
  };
}

const on = 'networkPolicy.enabled=true';
/** The Pods of a namespace, by its label `team`. */
const team = (list: string, name: string) => `networkPolicy.${list}[0].namespaceSelector.matchLabels.team=${name}`;
const traefik = team('ingressController', 'traefik');
const told = [
  on,
  traefik,
  team('prometheus', 'monitoring'),
  team('apiClients', 'backend'),
  team('authorizeClients', 'gateway'),
  'networkPolicy.apiServer.to[0].ipBlock.cidr=192.0.2.5/32',
  'api.authorize.enabled=true',
  'api.authorize.acceptOutages=true',
];

const family = (address: string) => (isIP(address) === 6 ? 'ipv6' : 'ipv4');

function isAmong(party: string, {namespaceSelector, ipBlock}: Peer): boolean {
  if (ipBlock === undefined || isIP(party) === 0) return namespaceSelector?.matchLabels.team === party;
  const [network = '', bits] = ipBlock.cidr.split('/');
  const list = new BlockList();
  list.addSubnet(network, Number(bits), family(network));
  return list.check(party, family(party));
}

/** As Kubernetes reads a NetworkPolicy: a rule without peers is for everybody, one without ports for all of them. */
function allows(rules: readonly Rule[] | null, party: string, where: string): boolean {
  const [port, protocol = 'TCP'] = where.split('/');
  return (rules ?? []).some(
    ({from, to, ports}) =>
      ((from ?? to)?.some((peer) => isAmong(party, peer)) ?? true) &&
      (ports?.some((of) => of.port === Number(port) && of.protocol === protocol) ?? true),
  );
}

const policy = (role: string, values: readonly string[]) =>
  renderChart<Rendered>(...values).find(
    ({kind, metadata}) => kind === 'NetworkPolicy' && metadata.name === `doorplate-${role}`,
  )!.spec;

describe('With NetworkPolicies', () => {
  test('each Pod has one for both directions; there are none unless told', () => {
    const selectors = (objects: readonly Rendered[], of: string) => objects.filter(({kind}) => kind === of);
    const objects = renderChart<Rendered>(...told);
    const policies = selectors(objects, 'NetworkPolicy').map(({spec}) => spec);
    expect(policies.map(({podSelector}) => podSelector)).toEqual(
      ['operator', 'preflight', 'redirector', 'api', 'uninstall'].map((role) => ({
        matchLabels: {
          'app.kubernetes.io/name': 'doorplate',
          'app.kubernetes.io/instance': 'doorplate',
          'app.kubernetes.io/component': role,
        },
      })),
    );
    // Pods of a Deployment, of the uninstall Job and of the preflight.
    const labels = objects.flatMap(({kind, metadata, spec}) =>
      kind === 'Pod' ? [metadata.labels] : spec?.template ? [spec.template.metadata.labels] : [],
    );
    expect(labels).toHaveLength(policies.length);
    for (const {podSelector} of policies)
      expect(labels.filter((l) => Object.entries(podSelector.matchLabels).every(([k, v]) => l[k] === v))).toHaveLength(
        1,
      );
    for (const {policyTypes} of policies) expect(policyTypes).toEqual(['Ingress', 'Egress']);
    expect(selectors(renderChart<Rendered>(), 'NetworkPolicy')).toEqual([]);
  });

  test.each([
    ['uninstall', {yes: [], no: ['monitoring 8081', 'traefik 8081', 'tenant 8081']}],
    ['preflight', {yes: [], no: ['monitoring 8081', 'traefik 8081', 'tenant 8081']}],
    ['operator', {yes: ['monitoring 8081'], no: ['traefik 8081', 'tenant 8081', 'monitoring 8080']}],
    [
      'redirector',
      {
        yes: ['traefik 8080', 'monitoring 8081'],
        no: ['tenant 8080', 'traefik 8081', 'monitoring 8080', '192.0.2.5 8080'],
      },
    ],
    [
      'api',
      {
        yes: ['traefik 8082', 'backend 8082', 'gateway 8083', 'gateway 8084', 'monitoring 8081'],
        no: ['tenant 8082', 'gateway 8082', 'traefik 8083', 'backend 8084', 'tenant 8081'],
      },
    ],
  ])('the %s is reached by whom it is for alone', (role, {yes, no}) => {
    const {ingress} = policy(role, told);
    const reached = (flow: string) => allows(ingress, ...(flow.split(' ') as [string, string]));
    expect([...yes, ...no].filter(reached)).toEqual(yes);
  });

  const stranger = '198.51.100.1';
  test.each([
    [
      'operator',
      told,
      {
        yes: [
          '192.0.2.5 6443',
          `${stranger} 53/UDP`,
          `${stranger} 53`,
          `${stranger} 443`,
          'traefik 8443',
          '10.244.0.1 80',
        ],
        no: [
          '192.0.2.6 6443',
          `${stranger} 80`,
          `${stranger} 25`,
          'tenant 8443',
          '10.244.0.1 8443',
          `${stranger} 443/UDP`,
        ],
      },
    ],
    [
      'redirector',
      told,
      {
        yes: ['192.0.2.5 6443', `${stranger} 53/UDP`],
        no: ['192.0.2.6 6443', `${stranger} 443`, 'traefik 8443', '10.244.0.1 80', 'tenant 8080'],
      },
    ],
    [
      'api',
      told,
      {
        yes: ['192.0.2.5 6443', `${stranger} 53`],
        no: [`${stranger} 443`, `${stranger} 6379`, 'traefik 8443', 'tenant 80'],
      },
    ],
    [
      'api',
      [...told, 'valkey.url=rediss://valkey:6380/1', team('valkey.to', 'valkey')],
      {yes: ['valkey 6380'], no: ['valkey 6379', 'tenant 6380']},
    ],
    ['api', [...told, 'valkey.url=redis://valkey'], {yes: ['valkey 6379'], no: ['valkey 443']}],
    [
      'operator',
      [...told, 'caaIdentities={ca.test}'],
      {yes: ['10.244.0.1 443'], no: [`${stranger} 443`, `${stranger} 3128`]},
    ],
    [
      'operator',
      [...told, 'proxy.url=http://proxy.test:3128', 'networkPolicy.acme.to[0].ipBlock.cidr=192.0.2.9/32'],
      {yes: ['192.0.2.9 3128'], no: [`${stranger} 3128`, `${stranger} 443`]},
    ],
    [
      'operator',
      [
        ...told,
        'caaIdentities={ca.test}',
        'dns.recursive={192.0.2.53:5353}',
        'edge.probe={192.0.2.1:8443,[fd00::1]:9443,fd00::2}',
      ],
      {
        yes: ['192.0.2.53 5353/UDP', '192.0.2.1 8443', 'fd00::1 9443', 'fd00::2 443', 'fd00::2 80', '192.0.2.1 80'],
        no: ['10.244.0.1 443', '192.0.2.1 443', 'fd00::3 443', 'fd00::1 443'],
      },
    ],
    [
      'operator',
      [...told, 'caaIdentities={ca.test}', 'plainHttp.probe={192.0.2.1:8080}'],
      {yes: ['192.0.2.1 8080'], no: ['192.0.2.1 80', '10.244.0.1 80']},
    ],
    [
      'operator',
      [...told, 'caaIdentities={ca.test}', 'edge.addresses=null', 'edge.hostname=lb.example.net'],
      {yes: [`${stranger} 443`, `${stranger} 80`, 'fd00::1 443'], no: [`${stranger} 25`]},
    ],
    [
      'operator',
      [...told, 'caaIdentities={ca.test}', 'edge.probe={traefik.traefik.svc,192.0.2.1}'],
      {yes: ['traefik 8443', '192.0.2.1 443'], no: ['10.244.0.1 443', `${stranger} 443`]},
    ],
    ['operator', [...told, 'plainHttp.shared=false'], {yes: ['10.244.0.1 443'], no: ['10.244.0.1 80']}],
  ])('the %s reaches what it needs and nothing else, with %j', (role, values, {yes, no}) => {
    const {egress} = policy(role, values);
    const reached = (flow: string) => allows(egress, ...(flow.split(' ') as [string, string]));
    expect([...yes, ...no].filter(reached)).toEqual(yes);
  });

  test('the preflight reaches what the operator does, so that it sees the same, and is reached by nobody', () => {
    const [{egress}, its] = [policy('operator', told), policy('preflight', told)];
    expect(its.egress).toEqual(egress);
    expect(its.ingress ?? []).toEqual([]);
  });

  test('a list that is empty is everybody, but for an API that has a hostname: that is reached by it', () => {
    const {ingress} = policy('api', [on, traefik]);
    expect([allows(ingress, 'tenant', '8081'), allows(ingress, 'tenant', '8082')]).toEqual([true, false]);
    expect(allows(policy('api', [on, traefik, 'api.host=']).ingress, 'tenant', '8082')).toBe(true);
  });

  test('the ports of the authorizer are for its clients alone, also where all other NetworkPolicies are off', () => {
    const values = told.filter((value) => value !== on);
    const all = renderChart<Rendered>(...values).filter(({kind}) => kind === 'NetworkPolicy');
    expect(all.map(({metadata, spec}) => [metadata.name, spec.policyTypes])).toEqual([['doorplate-api', ['Ingress']]]);
    const {ingress} = policy('api', values);
    const flows = ['gateway 8083', 'gateway 8084', 'tenant 8082', 'traefik 8081', 'tenant 8083', 'traefik 8084'];
    const reached = (flow: string) => allows(ingress, ...(flow.split(' ') as [string, string]));
    expect(flows.filter(reached)).toEqual(['gateway 8083', 'gateway 8084', 'tenant 8082', 'traefik 8081']);
  });
});

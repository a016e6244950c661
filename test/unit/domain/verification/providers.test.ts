/** DNS providers by their name servers, and their words for the record at an apex. */
import {describe, expect, test} from '@jest/globals';
import * as fc from 'fast-check';
import {customDomainKind} from '../../../../operator/api/custom-domain.ts';
import type {Edge, Observation} from '../../../../operator/domain/verification/method.ts';
import {instruction, recordsFor} from '../../../../operator/domain/verification/methods.ts';
import {judgeAuthoritative, judgeBoth} from '../../../../operator/domain/verification/verdict.ts';
import {providerOf, providers} from '../../../../operator/domain/verification/providers.ts';
import type {RecordPlace, Question} from '../../../../operator/domain/verification/records.ts';

const target = 'docs-acme-p0emfyp6ay01j.apps.platform.test';
const token = 'k3v9x2m4q7w1zk3v9x2m4q7w1z';
const apex: Question = {hostname: 'example.com', target, token};
const edge: Edge = {edgeAddresses: ['2001:db8::1', '192.0.2.1']};
const rules = {...edge, addressOnly: false, cdns: []};
/** The same, where its addresses change. */
const behind = (edgeHostname: string): Edge => ({...edge, edgeHostname});
const txt = `TXT _doorplate-challenge -> ${token} (TTL 3600) in the zone example.com`;

test('What a provider has at an apex is said by somebody, who is named in docs/reference/dns-providers.md', () => {
  expect(providers.filter(({atApex}) => atApex !== undefined).length).toBeGreaterThan(20);
  expect(providers.filter(({atApex, source}) => (atApex === undefined) !== (source === undefined))).toEqual([]);
});

describe('The provider of', () => {
  test.each<[string, string[]]>([
    ['Cloudflare', ['ada.ns.cloudflare.com', 'bob.ns.cloudflare.com']],
    ['Route 53', ['ns-1056.awsdns-04.org', 'ns-1686.awsdns-18.co.uk', 'ns-215.awsdns-26.com', 'ns-970.awsdns-57.net']],
    ['GoDaddy', ['ns51.domaincontrol.com', 'ns52.domaincontrol.com']],
    ['Namecheap', ['dns1.registrar-servers.com', 'dns2.registrar-servers.com']],
    ['Google Cloud DNS or Squarespace', ['ns-cloud-a1.googledomains.com', 'ns-cloud-a2.googledomains.com']],
    ['Azure DNS', ['ns1-01.azure-dns.com', 'ns2-01.azure-dns.net', 'ns3-01.azure-dns.org', 'ns4-01.azure-dns.info']],
    ['DNSimple', ['ns1.dnsimple.com', 'ns2.dnsimple-edge.net', 'ns3.dnsimple.com', 'ns4.dnsimple-edge.org']],
    ['IONOS', ['ns1045.ui-dns.biz', 'ns1045.ui-dns.com', 'ns1045.ui-dns.de', 'ns1045.ui-dns.org']],
    ['Hetzner', ['helium.ns.hetzner.de', 'hydrogen.ns.hetzner.com', 'oxygen.ns.hetzner.com']],
    ['OVH', ['dns104.ovh.net', 'ns104.ovh.net']],
    ['deSEC', ['ns1.desec.io', 'ns2.desec.org']],
  ])('%s is known by its servers', (name, servers) => {
    expect(providerOf(servers)).toBe(name);
  });

  test.each([
    ['ada.ns.notcloudflare.com'],
    ['ada.xns.cloudflare.com'],
    ['ada.ns.cloudflare.com.evil.test'],
    ['notcloudflare.com.evil.test'],
    ['ns.cloudflare.com\\046evil.test'],
    ['www.cloudflare.com'],
    ['ns-1.awsdns-64.org'],
    ['ns-1.awsdns-4.org'],
    ['awsdns-04.org.evil.test'],
    ['ns1.linode.com.example.net'],
    ['members.linode.com'],
    ['ns3021234.ovh.net'],
    ['ns.com'],
    ['com'],
    [''],
  ])('%j is nobody known: only whole labels count', (server) => {
    expect(providerOf([server])).toBeUndefined();
  });

  test('servers of several, or of one and of somebody unknown, is nobody known', () => {
    expect(providerOf(['ada.ns.cloudflare.com', 'ns51.domaincontrol.com'])).toBeUndefined();
    expect(providerOf(['ada.ns.cloudflare.com', 'ns1.example.com'])).toBeUndefined();
    expect(providerOf(['ns1.example.com', 'ada.ns.cloudflare.com'])).toBeUndefined();
    expect(providerOf([])).toBeUndefined();
  });

  test('each name server is one alone, written as DNS names are compared', () => {
    const servers = providers.flatMap((provider) => provider.servers);
    expect(new Set(servers).size).toBe(servers.length);
    expect(servers.filter((name) => !/^[-a-z0-9]+(\.[-a-z0-9]+)+$/.test(name))).toEqual([]);
    for (const {name, servers: own} of providers)
      for (const server of own) expect(providerOf([`x.${server}`, server])).toBe(name);
  });
});

const at = (provider?: string): RecordPlace => ({
  apex: true,
  zone: {name: 'example.com', nameServers: ['ns1.example.net'], ...(provider !== undefined && {provider})},
});

describe('At an apex', () => {
  test.each<[string, string | undefined, string]>([
    [
      'a provider that flattens has a CNAME',
      'Cloudflare',
      `CNAME @ -> ${target} (Cloudflare flattens it at an apex) and ${txt} at Cloudflare`,
    ],
    [
      'a provider with an ALIAS has that',
      'Namecheap',
      `ALIAS @ -> ${target} (Namecheap follows it at an apex) and ${txt} at Namecheap`,
    ],
    [
      'a provider with an ANAME has that',
      'name.com',
      `ANAME @ -> ${target} (name.com follows it at an apex) and ${txt} at name.com`,
    ],
    [
      "a provider that follows no name needs the edge's addresses",
      'GoDaddy',
      `A @ -> 192.0.2.1 (GoDaddy has no record that follows a name at an apex) and AAAA @ -> 2001:db8::1 and ${txt} at GoDaddy`,
    ],
    [
      "a provider that follows only its own names needs the edge's addresses",
      'Route 53',
      `A @ -> 192.0.2.1 (Route 53 follows only names of AWS at an apex) and AAAA @ -> 2001:db8::1 and ${txt} at Route 53`,
    ],
    [
      'a provider of which nothing more is known has whatever it calls it',
      'Hover',
      `ALIAS or ANAME @ -> ${target} (or A 192.0.2.1, AAAA 2001:db8::1) and ${txt} at Hover`,
    ],
    [
      'nobody known has whatever it calls it',
      undefined,
      `ALIAS or ANAME @ -> ${target} (or A 192.0.2.1, AAAA 2001:db8::1) and ${txt}`,
    ],
  ])('%s', (_, provider, expected) => {
    expect(instruction(apex, at(provider), edge)).toBe(expected);
  });

  test('where the provider follows no name and the addresses are not all known, the platform is to be asked for them', () => {
    const note = 'GoDaddy has no record that follows a name at an apex: ask the platform for its addresses';
    expect(instruction(apex, at('GoDaddy'), {edgeAddresses: ['192.0.2.0/24']})).toBe(
      `ALIAS @ -> ${target} (${note}) and ${txt} at GoDaddy`,
    );
    expect(recordsFor(apex, at('GoDaddy'), {edgeAddresses: []})[0]).toMatchObject({type: 'ALIAS', note});
  });

  test.each(providers.map(({name}) => [name]))(
    'what is said of %s fits the schema, with as many addresses as are ever named',
    (provider) => {
      const many = ['192.0.2.1', '192.0.2.2', '2001:db8::1', '2001:db8::2'];
      const hostname = apex.hostname;
      const dnsRecords = recordsFor(apex, at(provider), {edgeAddresses: many}).map(
        ({type, name, zone, value, ttl, note}) => ({
          hostname,
          type,
          name,
          zone,
          value,
          ttl,
          note,
          state: 'Unknown',
        }),
      );
      expect(dnsRecords.length).toBeLessThanOrEqual(5);
      const {success} = customDomainKind.status.safeParse({observedGeneration: 1, dnsRecords});
      expect(success).toBe(true);
    },
  );

  test('below it the provider changes nothing: a CNAME is one everywhere', () => {
    expect(instruction({...apex, hostname: 'docs.example.com'}, {...at('GoDaddy'), apex: false}, edge)).toBe(
      `CNAME docs -> ${target} (TTL 3600) in the zone example.com at GoDaddy`,
    );
  });
});

describe('Of an edge whose addresses change', () => {
  const [balancer, other] = ['nlb-1.elb.eu-west-1.amazonaws.com', 'lb.cloud.example'];

  test.each([
    [
      'Route 53',
      balancer,
      `ALIAS @ -> ${balancer} (Route 53 follows only names of AWS at an apex, and this is one) and ${txt} at Route 53`,
    ],
    [
      'Route 53',
      other,
      `ALIAS @ -> ${target} (Route 53 follows only names of AWS at an apex: the platform's addresses change, so attach a name below it, such as www) and ${txt} at Route 53`,
    ],
    [
      'GoDaddy',
      balancer,
      `ALIAS @ -> ${target} (GoDaddy has no record that follows a name at an apex: the platform's addresses change, so attach a name below it, such as www) and ${txt} at GoDaddy`,
    ],
    ['Namecheap', other, `ALIAS @ -> ${target} (Namecheap follows it at an apex) and ${txt} at Namecheap`],
  ])('%s is told what it can have for %s', (provider, edgeHostname, expected) => {
    expect(instruction(apex, at(provider), behind(edgeHostname))).toBe(expected);
  });

  test('none is told', () => {
    expect(instruction(apex, at(), behind(other))).toBe(`ALIAS or ANAME @ -> ${target} and ${txt}`);
    expect(recordsFor(apex, at('GoDaddy'), behind(other)).map(({type}) => type)).toEqual(['ALIAS', 'TXT']);
  });
});

test('Records are named relative to the zone that DNS delegates, not to the registrable name', () => {
  const place: RecordPlace = {apex: false, zone: {name: 'shop.example.com', nameServers: ['ns1.example.net']}};
  expect(
    recordsFor({...apex, hostname: 'a.b.shop.example.com'}, place, edge, 'TXT').map(({name, zone}) => [name, zone]),
  ).toEqual([
    ['a.b', 'shop.example.com'],
    ['_doorplate-challenge.a.b', 'shop.example.com'],
  ]);
});

const seen = (change: Partial<Observation> = {}): Observation => ({
  zone: 'example.com',
  nameServers: ['ns51.domaincontrol.com', 'ns52.domaincontrol.com'],
  findings: [{server: {address: '198.51.100.1'}, cname: [], a: [], aaaa: [], chain: []}],
  ...change,
});
const zone = {
  name: 'example.com',
  nameServers: ['ns51.domaincontrol.com', 'ns52.domaincontrol.com'],
  provider: 'GoDaddy',
};

describe('The zone of a name', () => {
  test('is told with its servers and the provider, whatever the verdict is', () => {
    expect(judgeAuthoritative(apex, rules, seen())).toMatchObject({
      kind: 'Refuted',
      zone,
      message: expect.stringContaining('Create A @ -> 192.0.2.1 (GoDaddy'),
    });
    const failing = seen({
      findings: [{server: {address: '198.51.100.1'}, failure: 'Timeout', cname: [], a: [], aaaa: [], chain: []}],
    });
    expect(judgeAuthoritative(apex, rules, failing)).toMatchObject({kind: 'Unknown', zone});
    const right = seen({findings: [{server: {address: '198.51.100.1'}, cname: [target], a: [], aaaa: [], chain: []}]});
    expect(judgeBoth({...apex, hostname: 'docs.example.com'}, rules, right, {findings: right.findings})).toEqual({
      kind: 'Proven',
      by: 'CNAME',
      apex: false,
      zone,
    });
    expect(judgeBoth({...apex, hostname: 'docs.example.com'}, rules, right, {findings: []})).toMatchObject({
      kind: 'Unknown',
      reason: 'ResolverFailure',
      zone,
    });
    expect(judgeBoth({...apex, hostname: 'docs.example.com'}, rules, right, {findings: seen().findings})).toMatchObject(
      {kind: 'Refuted', reason: 'PropagationPending', zone},
    );
  });

  test('is the same in whatever order its servers are told', () => {
    expect(
      judgeAuthoritative(apex, rules, seen({nameServers: ['ns52.domaincontrol.com', 'ns51.domaincontrol.com']})),
    ).toEqual(judgeAuthoritative(apex, rules, seen()));
  });

  test('is not told where it is above the registrable name: nobody has registered that, or a private suffix lends it', () => {
    expect(judgeAuthoritative(apex, rules, seen({zone: 'com'}))).not.toHaveProperty('zone');
    expect(
      judgeAuthoritative({...apex, hostname: 'docs.example.uk.com'}, rules, seen({zone: 'uk.com'})),
    ).not.toHaveProperty('zone');
    expect(judgeAuthoritative(apex, rules, seen({nameServers: []}))).not.toHaveProperty('zone');
  });

  test('is bounded and printable, and its servers are in no message, whatever they are called', () => {
    const text = fc.oneof(
      fc.string({unit: 'binary', maxLength: 40}),
      fc.string({minLength: 300, maxLength: 1000}),
      fc.constantFrom('ns51.domaincontrol.com', '<b>ns</b>.example', 'x\r\ny'),
    );
    fc.assert(
      fc.property(fc.array(text, {minLength: 1, maxLength: 40}), (nameServers) => {
        const verdict = judgeAuthoritative(apex, rules, seen({nameServers}));
        const host = {
          hostname: 'example.com',
          role: 'Primary',
          phase: 'Live',
          reason: 'Serving',
          message: '',
          since: '',
          waitingFor: 'Nobody',
          zone: verdict.zone,
        };
        expect(customDomainKind.status.safeParse({observedGeneration: 1, hosts: [host]}).success).toBe(true);
        expect(verdict.zone?.nameServers.every((server) => /^[\x21-\x7e]*$/.test(server))).toBe(true);
        // Of the servers at most the provider is told.
        const {provider} = verdict.zone ?? {};
        expect(verdict).toMatchObject({
          message: `example.com has no address. Create ${instruction(apex, at(provider), edge)}.`,
        });
      }),
    );
  });
});

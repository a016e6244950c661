/** Each question of the preflight, by real sockets on loopback: what it makes of a sound platform, and of one where something is missing. */
import {issuersOf} from '../../../operator/issuer-settings.ts';
import {execFileSync} from 'node:child_process';
import {randomBytes} from 'node:crypto';
import {mkdtempSync, readFileSync, rmSync} from 'node:fs';
import {createServer, type Server} from 'node:https';
import {createServer as createTcpServer, type AddressInfo} from 'node:net';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {afterAll, beforeAll, beforeEach, describe, expect, test} from '@jest/globals';
import type {AcmeIssuer, AcmeSolver, AriStatus, Certificate} from '../../../operator/api/foreign.ts';
import {parseSettings} from '../../../operator/config.ts';
import type {PreflightWorld} from '../../../operator/preflight/question.ts';
import {type Answered, askAll, report} from '../../../operator/preflight/questions.ts';
import {eventually} from '../../support/kube-api.ts';
import {type Asked, fakeServer, type FakeServer, type Parts, record, reply, soa} from '../dns/fake-servers.ts';

const [zone, parent, edgeAddress] = ['apps.platform.test', 'platform.test', '192.0.2.10'];
const address = `127.${[...randomBytes(3)].map((byte) => 1 + (byte % 250)).join('.')}`;
const folder = mkdtempSync(join(tmpdir(), 'doorplate-preflight-'));

/** One name server for all; what a row changes of it. */
let dns: FakeServer;
let isSilent: (asked: Asked) => boolean;
let answerOf: (asked: Asked) => Parts | undefined;
/** The CA and the edge, by TLS. */
let server: Server;
let directory: {status: number; body: string};
let port: number;
let caBundle: string;

/** What stands in DNS on a sound platform. */
function sound({name, type}: Asked): Parts {
  const at = name.toLowerCase();
  if (at === parent && type === 'NS')
    return {answers: [record(parent, 'NS', `ns.${parent}`)], additionals: [record(`ns.${parent}`, 'A', address)]};
  if (at === `ns.${parent}` && type === 'A') return {answers: [record(at, 'A', address)]};
  if (at.endsWith(`.${zone}`) && type === 'A') return {answers: [record(at, 'A', edgeAddress)]};
  return {authorities: [soa(parent, 60, 60)]};
}

const behaviour = (asked: Asked) => (isSilent(asked) ? [] : [reply(asked, answerOf(asked) ?? sound(asked))]);

beforeAll(async () => {
  const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
  const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost'];
  const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '1'];
  execFileSync('openssl', ['req', '-x509', ...curve, ...subject, '-keyout', key, '-out', cert], {stdio: 'ignore'});
  caBundle = readFileSync(cert).toString('base64');
  server = createServer({key: readFileSync(key), cert: readFileSync(cert)}, (_, response) => {
    response.writeHead(directory.status).end(directory.body);
  });
  await new Promise<void>((resolve) => {
    server.listen(0, 'localhost', resolve);
  });
  ({port} = server.address() as AddressInfo);
  // Port 53: a delegation tells no port.
  dns = await fakeServer(behaviour, {address, port: 53});
});
afterAll(async () => {
  server.closeAllConnections();
  server.close();
  await dns.close();
  rmSync(folder, {recursive: true});
});
beforeEach(() => {
  isSilent = () => false;
  answerOf = () => undefined;
  directory = {status: 200, body: JSON.stringify({newOrder: 'https://ca.test/order'})};
});

const solver = (ingress: object): AcmeSolver => ({http01: {ingress}});
const ready = {type: 'Ready', status: 'True' as const, reason: 'ACMEAccountRegistered', message: 'registered'};

function issuerOf({
  solvers = [solver({ingressClassName: 'edge'})],
  conditions = [{...ready, lastTransitionTime: '2026-11-01T00:00:00Z'}],
}: {solvers?: AcmeSolver[]; conditions?: NonNullable<AcmeIssuer['status']>['conditions']} = {}): AcmeIssuer {
  return {
    apiVersion: 'cert-manager.io/v1',
    kind: 'ClusterIssuer',
    metadata: {name: 'acme'},
    spec: {acme: {server: `https://localhost:${port}/dir`, caBundle, solvers}},
    status: {conditions},
  };
}

interface Change {
  settings?: {platform?: object; edge?: object; dns?: object; issuerRef?: object; caaIdentities?: string[]};
  issuer?: AcmeIssuer | 'None' | 'NoCertManager' | 'NotAllowed';
  edge?: PreflightWorld['edgeAddresses'];
  certificates?: Certificate[];
}

/** A certificate that is issued. `ari`: renewal information that cert-manager has read for it. */
function issued(ari?: AriStatus, name = 'docs'): Certificate {
  return {
    apiVersion: 'cert-manager.io/v1',
    kind: 'Certificate',
    metadata: {name, namespace: 'acme'},
    spec: {
      secretName: name,
      dnsNames: ['docs.example.com'],
      issuerRef: {name: 'acme'},
      privateKey: {algorithm: 'ECDSA', size: 256, rotationPolicy: 'Always'},
    },
    status: {notAfter: inHours(100), ...(ari && {acme: {ari}})},
  };
}
const inHours = (hours: number): string => new Date(Date.now() + hours * 3_600_000).toISOString();

function worldWith({
  settings: {dns: ofDns, ...settings} = {},
  issuer = issuerOf(),
  edge,
  certificates = [issued()],
}: Change): PreflightWorld {
  const all = parseSettings(
    JSON.stringify({
      platform: {zone},
      edge: {addresses: [edgeAddress]},
      issuerRef: {name: 'acme'},
      ingressClassName: 'edge',
      dns: {allowPrivateAddresses: true, ...ofDns},
      redirector: {service: 'redirector'},
      ...settings,
    }),
  );
  return {
    settings: all,
    issuers: issuersOf(all),
    edgeAddresses: edge ?? {
      edge: {edgeAddresses: all.edge.addresses},
      endpoints: [{address: '127.0.0.1', port}],
    },
    resolvers: all.dns.recursive.length > 0 ? all.dns.recursive : [{address, port: 53}],
    hasCertManager: async () => issuer !== 'NoCertManager',
    readIssuer: async () => {
      if (issuer === 'NotAllowed') throw new Error('forbidden');
      return issuer === 'None' || issuer === 'NoCertManager' ? undefined : issuer;
    },
    certificates: async () => certificates,
  };
}

const ask = (change: Change): Promise<Answered[]> => askAll(worldWith(change), new AbortController().signal);
/**
 * Questions are asked again for so long: a busy machine may not run this process before the time limit of a query ends, and the answer
 * is `unknown` then.
 */
const patienceMs = 15_000;

/** Expects an answer to a question. */
const expectAnswer = (question: string, change: Change, expected: object): Promise<void> =>
  eventually(async () => {
    const answers = await ask(change);
    expect(answers.find(({name}) => name === question)).toMatchObject(expected);
  }, patienceMs);

/** What stands for a name of the zone in place of the edge's address. */
const leadsTo = (...answers: string[]) => {
  answerOf = ({name, type}) =>
    name.endsWith(`.${zone}`)
      ? {answers: type === 'A' ? answers.map((a) => record(name, 'A', a)) : [], authorities: [soa(parent, 60, 60)]}
      : undefined;
};
const refused: Parts = {rcode: 2};

test('on a sound platform every question is answered well, and needs nothing', async () => {
  await eventually(async () => {
    const answers = await ask({});
    expect(answers.map(({name, outcome, remedy}) => [name, outcome, remedy])).toEqual(
      ['wildcard', 'dns', 'acme', 'issuer', 'edge', 'ari'].map((name) => [name, 'ok', undefined]),
    );
    expect(report(answers)).toContain('Nothing failed.');
  }, patienceMs);
});

type Row = [situation: string, make: () => Change, outcome: Answered['outcome'], seen: string, remedy: string];

describe('The wildcard record', () => {
  test.each<Row>([
    ['is missing', () => (leadsTo(), {}), 'failed', 'has no address', `Create the record *.${zone}`],
    [
      'leads elsewhere',
      () => (leadsTo('192.0.2.99'), {}),
      'failed',
      `has 192.0.2.99; the edge has ${edgeAddress}`,
      `Point *.${zone} only to the edge`,
    ],
    [
      'leads elsewhere with one address of two',
      () => (leadsTo(edgeAddress, '192.0.2.99'), {}),
      'failed',
      '192.0.2.99',
      'only to the edge',
    ],
    ['leads to a CDN', () => (leadsTo('104.16.1.1'), {}), 'unknown', 'of Cloudflare', 'Doorplate cannot see this'],
    [
      'leads to a proxy of the platform that is named',
      () => (leadsTo('198.51.100.1'), {settings: {dns: {cdns: [{name: 'Ours', networks: ['198.51.100.0/24']}]}}}),
      'unknown',
      'of Ours',
      'forwards to the edge',
    ],
    [
      'could not be asked for',
      () => ((answerOf = ({name}) => (name.endsWith(`.${zone}`) ? refused : undefined)), {}),
      'unknown',
      'SERVFAIL',
      'dns.recursive',
    ],
    [
      'is there before an address of the edge is known',
      () => ({edge: {edge: {edgeAddresses: []}, endpoints: []}}),
      'unknown',
      'no address of the edge is known yet',
      'edge.service',
    ],
  ])('%s', async (_, make, outcome, seen, remedy) => {
    await expectAnswer('wildcard', make(), {
      outcome,
      seen: expect.stringContaining(seen),
      remedy: expect.stringContaining(remedy),
    });
  });

  test('leads to the edge where each of its addresses is in a network of the edge, of either family', async () => {
    answerOf = ({name, type}) =>
      name.endsWith(`.${zone}`)
        ? {answers: [type === 'A' ? record(name, 'A', '198.51.100.7') : record(name, 'AAAA', '2001:db8::7')]}
        : undefined;
    const edgeAddresses = ['198.51.100.0/24', '2001:db8::/64'];
    await expectAnswer('wildcard', {edge: {edge: {edgeAddresses}, endpoints: []}}, {outcome: 'ok'});
  });
});

describe('Name servers outside', () => {
  const recursive = [address, `${address.replace(/\d+$/, '251')}`];
  test.each<Row>([
    [
      'do not answer by UDP',
      () => ((isSilent = ({overTcp, recursionDesired}) => !overTcp && !recursionDesired), {}),
      'failed',
      'UDP no answer within 2 s, TCP answers',
      'Allow outgoing traffic to port 53 over UDP and TCP, or set dns.mode to RecursiveOnly',
    ],
    [
      'do not answer by TCP',
      () => ((isSilent = ({overTcp}) => overTcp), {}),
      'failed',
      'UDP answers, TCP no answer within 2 s',
      'Allow outgoing traffic to port 53',
    ],
    [
      'have private addresses',
      () => ({settings: {dns: {allowPrivateAddresses: false}}}),
      'unknown',
      `No name server of ${zone} is known`,
      'dns.allowPrivateAddresses',
    ],
    [
      'are not known to the resolvers',
      () => ((answerOf = ({type}) => (type === 'NS' ? refused : undefined)), {}),
      'failed',
      `No name server of ${zone} is known`,
      'dns.recursive',
    ],
    [
      'are two resolvers, of which one is not there',
      () => ({settings: {dns: {mode: 'RecursiveOnly', recursive}}}),
      'failed',
      "can't be reached (ECONNREFUSED)",
      'name other resolvers in dns.recursive',
    ],
  ])('%s', async (_, make, outcome, seen, remedy) => {
    await expectAnswer('dns', make(), {
      outcome,
      seen: expect.stringContaining(seen),
      remedy: expect.stringContaining(remedy),
    });
  });

  test('that refuse an answer were reached', async () => {
    answerOf = ({type}) => (type === 'SOA' ? {rcode: 5} : undefined);
    await expectAnswer('dns', {}, {outcome: 'ok'});
  });
});

describe('The ACME directory', () => {
  test.each<Row>([
    [
      'is an error',
      () => ((directory = {status: 503, body: ''}), {}),
      'failed',
      'answered 503',
      'Allow connections to localhost:',
    ],
    [
      'is none',
      () => ((directory = {status: 200, body: '{}'}), {}),
      'failed',
      'not an ACME directory',
      'Allow connections',
    ],
    ['is no JSON', () => ((directory = {status: 200, body: '<html>'}), {}), 'failed', 'JSON', 'Allow connections'],
    [
      'is of a CA that nobody trusts',
      () => {
        const issuer = issuerOf();
        delete issuer.spec!.acme!.caBundle;
        return {issuer};
      },
      'failed',
      'self-signed',
      'spec.acme.caBundle',
    ],
  ])('%s', async (_, make, outcome, seen, remedy) => {
    await expectAnswer('acme', make(), {
      outcome,
      seen: expect.stringContaining(seen),
      remedy: expect.stringContaining(remedy),
    });
  });

  test.each<[string, Change]>([
    ['the issuer is', {issuer: 'None'}],
    ['nobody has to reach it: the names of the CA are set', {settings: {caaIdentities: ['ca.test']}}],
  ])('is unknown where %s', async (_, change) => {
    directory = {status: 503, body: ''};
    await expectAnswer('acme', change, {outcome: 'unknown'});
  });
});

describe('The issuer', () => {
  const elsewhere = [solver({ingressClassName: 'nginx'})];
  test.each<Row>([
    ['is not there', () => ({issuer: 'None'}), 'failed', 'There is no ClusterIssuer acme', 'issuerRef'],
    ['has no cert-manager', () => ({issuer: 'NoCertManager'}), 'failed', 'cert-manager is not installed', 'Install it'],
    [
      'is not ready',
      () => ({
        issuer: issuerOf({
          conditions: [{type: 'Ready', status: 'False', reason: 'ErrRegister', message: 'no', lastTransitionTime: ''}],
        }),
      }),
      'failed',
      'ErrRegister: no',
      'kubectl describe clusterissuer.cert-manager.io acme',
    ],
    [
      'has said nothing yet',
      () => ({issuer: issuerOf({conditions: []})}),
      'failed',
      'does not report that it is ready',
      'kubectl describe',
    ],
    ['has no solver', () => ({issuer: issuerOf({solvers: []})}), 'failed', 'none of its solvers', 'Add a solver'],
    [
      'has a solver of other names alone',
      () => ({
        issuer: issuerOf({solvers: [{selector: {dnsZones: ['a.test']}, ...solver({ingressClassName: 'edge'})}]}),
      }),
      'failed',
      'none of its solvers is for every hostname',
      'Add a solver without a selector',
    ],
    [
      'solves by another class',
      () => ({issuer: issuerOf({solvers: elsewhere})}),
      'failed',
      'uses the class nginx',
      'Set http01.ingress.ingressClassName to edge',
    ],
    [
      'solves by another class before it solves by the right one',
      () => ({issuer: issuerOf({solvers: [...elsewhere, solver({ingressClassName: 'edge'})]})}),
      'failed',
      'uses the class nginx',
      'to edge',
    ],
    [
      'solves by DNS',
      () => ({issuer: issuerOf({solvers: [{dns01: {}}]})}),
      'unknown',
      'dns01',
      "may write in customers' zones",
    ],
    [
      'solves by a class that it does not name',
      () => ({issuer: issuerOf({solvers: [solver({})]})}),
      'unknown',
      'names no class',
      'to edge',
    ],
  ])('%s', async (_, make, outcome, seen, remedy) => {
    await expectAnswer('issuer', make(), {
      outcome,
      seen: expect.stringContaining(seen),
      remedy: expect.stringContaining(remedy),
    });
  });

  test.each<[string, () => Change]>([
    ['names the class as in former times', () => ({issuer: issuerOf({solvers: [solver({class: 'edge'})]})})],
    [
      'has others for some names',
      () => ({issuer: issuerOf({solvers: [{selector: {dnsZones: ['a.test']}, dns01: {}}, solver({class: 'edge'})]})}),
    ],
    ['has an empty selector', () => ({issuer: issuerOf({solvers: [{selector: {}, ...solver({class: 'edge'})}]})})],
  ])('is sound where its solver %s', async (_, make) => {
    await expectAnswer('issuer', make(), {outcome: 'ok'});
  });

  test.each<[string, Change]>([
    ['may not be read', {issuer: 'NotAllowed'}],
    ['is not of cert-manager', {settings: {issuerRef: {name: 'x', group: 'other.test'}}}],
  ])('is unknown where it %s', async (_, change) => {
    await expectAnswer('issuer', change, {outcome: 'unknown'});
  });
});

const at = (...endpoints: PreflightWorld['edgeAddresses']['endpoints']): Change => ({
  edge: {edge: {edgeAddresses: [edgeAddress]}, endpoints},
});

describe('The edge', () => {
  test.each<Row>([
    ['is not reached', () => at({address, port: 1}), 'failed', `${address}:1: connection refused`, 'edge.probe'],
    [
      'is not reached at one address of two',
      () => at({address: '127.0.0.1', port}, {address: '::1', port: 1}),
      'failed',
      ' speaks TLS; [::1]:1: ',
      'networkPolicy.ingressController',
    ],
    ['has no address', () => at(), 'failed', 'No address of the edge is known', 'edge.service'],
  ])('%s', async (_, make, outcome, seen, remedy) => {
    await expectAnswer('edge', make(), {
      outcome,
      seen: expect.stringContaining(seen),
      remedy: expect.stringContaining(remedy),
    });
  });

  describe('that hangs up without a word, as some do on a name for which they have no certificate', () => {
    const hangingUp = createTcpServer((socket) => {
      socket.on('error', () => {});
      socket.once('data', () => socket.resetAndDestroy());
    });
    beforeAll(() => new Promise<void>((resolve) => hangingUp.listen(0, '127.0.0.1', resolve)));
    afterAll(() => void hangingUp.close());

    /** Expects an answer about this edge, with more addresses if given. */
    const expectOf = (
      expected: object,
      tls: 'PerProject' | 'Wildcard',
      ...more: PreflightWorld['edgeAddresses']['endpoints']
    ) => {
      const there = {address: '127.0.0.1', port: (hangingUp.address() as AddressInfo).port};
      return expectAnswer('edge', {...at(there, ...more), settings: {platform: {zone, tls}}}, expected);
    };

    test('may be right where each project has a certificate of its own', async () => {
      const expected = {
        outcome: 'unknown',
        seen: expect.stringContaining('connection reset'),
        remedy: expect.stringContaining('edge.proxyProtocol'),
      };
      await expectOf(expected, 'PerProject');
      await expectOf({outcome: 'unknown'}, 'PerProject', {address: '127.0.0.1', port});
    });
    test('is wrong where its certificate is for all names of the zone', async () => {
      await expectOf({outcome: 'failed'}, 'Wildcard');
    });
    test('is wrong where another of its addresses is not reached', async () => {
      await expectOf({outcome: 'failed'}, 'PerProject', {address, port: 1});
    });
  });
});

describe("cert-manager's feature gate ACMEUseARI", () => {
  const current = {nextCheck: inHours(6)};
  test.each<[string, Certificate[], Answered['outcome'], string]>([
    ['is not seen before the first certificate', [], 'unknown', 'no certificate yet'],
    ['is not seen by a certificate that is not issued', [{...issued(), status: {}}], 'unknown', 'no certificate yet'],
    ['is off', [issued(), issued()], 'ok', 'reads no renewal information'],
    ['is on', [issued(), issued(current, 'shop')], 'failed', 'for 1 certificates, such as acme/shop'],
    ['is on, and the CA did not answer', [issued({nextCheck: inHours(0.5)})], 'failed', 'for 1 certificates'],
    [
      'is on, and a check is late by less than an hour',
      [issued({nextCheck: inHours(-0.9)})],
      'failed',
      'for 1 certificates',
    ],
    ['was on until some time ago', [issued({nextCheck: inHours(-1.1)})], 'ok', 'reads no renewal information'],
    ['is on in a version that compares certificates', [issued({...current, certID: 'a.b'})], 'ok', 'compares'],
    [
      'is on since a version that does not compare',
      [issued({...current, certID: 'a.b'}), issued(current)],
      'failed',
      'for 1',
    ],
  ])('%s', async (_, certificates, outcome, seen) => {
    const [answer] = await askAll(worldWith({certificates}), new AbortController().signal, 'Repeated');
    expect(answer).toMatchObject({name: 'ari', outcome, seen: expect.stringContaining(seen)});
    expect(answer?.remedy ?? '').toMatch(outcome === 'failed' ? /Remove ACMEUseARI .*or upgrade/ : /^$/);
  });

  test('is the one question that repeats: it costs no request', async () => {
    const answers = await askAll(worldWith({}), new AbortController().signal, 'Repeated');
    expect(answers.map(({name}) => name)).toEqual(['ari']);
  });
});

test('what failed is told apart from what is unknown, each with what to do', async () => {
  leadsTo('104.16.1.1');
  await eventually(async () => {
    const text = report(await ask({issuer: 'None'}));
    expect(text).toMatch(/^unknown +wildcard +Does \*\.apps\.platform\.test resolve to the edge\?$/m);
    expect(text).toMatch(/^FAILED +issuer +Is the ClusterIssuer acme ready, with a solver of the class edge\?$/m);
    expect(text).toMatch(/^ +-> Create it/m);
    expect(text).toContain('1 of 6 failed.');
  }, patienceMs);
});

/** Where the edge is, by its hostname or by its Service: what changes, what stays, and who is told. */
import {afterEach, beforeEach, describe, expect, jest, test} from '@jest/globals';
import {pino} from 'pino';
import type {Service} from '../../../../operator/api/foreign.ts';
import {EdgeAddresses} from '../../../../operator/controllers/state/edge-addresses.ts';
import type {EdgeAddress} from '../../../../operator/edge/probe.ts';
import type {ServicePort} from '../../../../operator/setting-values.ts';
import {hours, minutes, seconds} from '../../../support/world.ts';

const none = {
  addresses: [] as string[],
  hostname: '',
  service: {namespace: '', name: ''},
  probe: [] as (EdgeAddress | ServicePort)[],
};
const hostname = 'lb.cloud.example';

/** By name: what resolvers say now; a name without an answer leads nowhere. */
let dns: Map<string, {addresses: string[]; ttlSeconds: number}>;
let asked: string[];
let service: Service | undefined;
let tell: (now: Service | undefined, before: Service | undefined) => void;
let changes: number;
let counted: string[];
let edge: EdgeAddresses;

async function start(known: Partial<typeof none>, synced = Promise.resolve()): Promise<void> {
  edge = new EdgeAddresses({
    edge: {...none, ...known},
    services: {
      get: () => service,
      onChange: (handler) => {
        tell = handler;
      },
      synced,
    },
    resolve: async (name) => {
      asked.push(name);
      const answer = dns.get(name);
      if (!answer) throw new Error(`${name} has no address`);
      return answer;
    },
    log: pino({level: 'silent'}),
    count: (result) => counted.push(result),
  });
  edge.onChange(() => {
    changes++;
  });
  edge.start();
  await edge.synced;
}

const serviceAt = (...ingress: {ip?: string; hostname?: string}[]): Service => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: {namespace: 'traefik', name: 'edge'},
  spec: {},
  status: {loadBalancer: {ingress}},
});

/** The watch tells of it. */
async function change(next: Service | undefined): Promise<void> {
  const before = service;
  service = next;
  tell(next, before);
  await jest.advanceTimersByTimeAsync(0);
}
const at = (address: string) => ({address, port: 443});

beforeEach(() => {
  jest.useFakeTimers();
  [dns, asked, service, changes, counted] = [new Map(), [], undefined, 0, []];
});
afterEach(() => {
  edge.stop();
  jest.useRealTimers();
});

describe('Addresses', () => {
  test('that are set are all there is to know: nobody is asked', async () => {
    await start({addresses: ['192.0.2.1', '2001:db8::1']});
    await jest.advanceTimersByTimeAsync(hours);
    expect([edge.edge, edge.endpoints]).toEqual([
      {edgeAddresses: ['192.0.2.1', '2001:db8::1']},
      [at('192.0.2.1'), at('2001:db8::1')],
    ]);
    expect([asked, changes, counted]).toEqual([[], 0, []]);
  });
});

describe('A hostname', () => {
  test('is asked again when its TTL is over; addresses that rotate count for an hour more and are told to nobody', async () => {
    dns.set(hostname, {addresses: ['192.0.2.1'], ttlSeconds: 60});
    await start({hostname});
    expect([edge.edge, edge.endpoints, changes]).toEqual([
      {edgeAddresses: ['192.0.2.1'], edgeHostname: hostname},
      [at('192.0.2.1')],
      1,
    ]);
    dns.set(hostname, {addresses: ['192.0.2.2', '2001:db8::2'], ttlSeconds: 60});
    await jest.advanceTimersByTimeAsync(minutes - 1);
    expect(asked).toHaveLength(1);
    await jest.advanceTimersByTimeAsync(1);
    expect([edge.edge.edgeAddresses, edge.endpoints]).toEqual([
      ['192.0.2.1', '192.0.2.2', '2001:db8::2'],
      [at('192.0.2.2'), at('2001:db8::2')],
    ]);
    await jest.advanceTimersByTimeAsync(hours + minutes);
    expect([edge.edge.edgeAddresses, changes]).toEqual([['192.0.2.2', '2001:db8::2'], 1]);
  });

  test.each([
    ['never sooner than after 30 s', 1, 30 * seconds],
    ['never later than after 5 min', 86_400, 5 * minutes],
  ])('is asked again %s', async (_, ttlSeconds, pause) => {
    dns.set(hostname, {addresses: ['192.0.2.1'], ttlSeconds});
    await start({hostname});
    await jest.advanceTimersByTimeAsync(pause - 1);
    expect(asked).toHaveLength(1);
    await jest.advanceTimersByTimeAsync(1);
    expect(asked).toHaveLength(2);
  });

  test('that leads nowhere keeps the addresses that were known, and is asked again soon', async () => {
    dns.set(hostname, {addresses: ['192.0.2.1'], ttlSeconds: 300});
    await start({hostname});
    const before = edge.edge;
    dns.clear();
    await jest.advanceTimersByTimeAsync(5 * minutes);
    expect([edge.edge === before, edge.endpoints, counted]).toEqual([true, [at('192.0.2.1')], ['found', 'failed']]);
    dns.set(hostname, {addresses: ['192.0.2.2'], ttlSeconds: 300});
    await jest.advanceTimersByTimeAsync(30 * seconds);
    expect([edge.endpoints, counted.at(-1)]).toEqual([[at('192.0.2.2')], 'found']);
  });

  test('that leads nowhere at the start holds nobody up, and is told of once it leads somewhere', async () => {
    await start({hostname});
    expect([edge.edge, edge.endpoints, changes]).toEqual([{edgeAddresses: [], edgeHostname: hostname}, [], 0]);
    dns.set(hostname, {addresses: ['192.0.2.1'], ttlSeconds: 60});
    await jest.advanceTimersByTimeAsync(30 * seconds);
    expect([edge.edge.edgeAddresses, changes]).toEqual([['192.0.2.1'], 1]);
  });

  test('is not asked any more when the process stops', async () => {
    await start({hostname});
    edge.stop();
    await jest.advanceTimersByTimeAsync(hours);
    expect(asked).toHaveLength(1);
  });

  test('leads to addresses that are not looked at where the platform says where to look', async () => {
    dns.set(hostname, {addresses: ['192.0.2.1'], ttlSeconds: 60});
    edge = new EdgeAddresses({
      edge: {...none, hostname, probe: [{address: '10.96.0.4', port: 8443}]},
      services: {get: () => undefined, onChange: () => {}, synced: Promise.resolve()},
      resolve: async (name) => dns.get(name)!,
      log: pino({level: 'silent'}),
    });
    edge.start();
    await edge.synced;
    expect([edge.edge.edgeAddresses, edge.endpoints]).toEqual([['192.0.2.1'], [{address: '10.96.0.4', port: 8443}]]);
  });
});

describe('A Service', () => {
  const known = {service: {namespace: 'traefik', name: 'edge'}};

  test('whose address changes is told of, and its former address counts no more', async () => {
    service = serviceAt({ip: '192.0.2.1'}, {ip: '2001:db8::1'});
    await start(known);
    expect(edge.edge).toEqual({edgeAddresses: ['192.0.2.1', '2001:db8::1']});
    await change(serviceAt({ip: '192.0.2.2'}));
    expect([edge.edge, edge.endpoints, changes]).toEqual([{edgeAddresses: ['192.0.2.2']}, [at('192.0.2.2')], 2]);
    await jest.advanceTimersByTimeAsync(hours);
    expect(asked).toEqual([]);
  });

  test.each<[string, Service | undefined]>([
    ['loses its address', serviceAt()],
    ['is deleted', undefined],
    ['gets what is no address', serviceAt({ip: 'pending'}, {})],
  ])('that %s leaves what was known', async (_, next) => {
    service = serviceAt({ip: '192.0.2.1'});
    await start(known);
    await change(next);
    expect([edge.edge, counted.at(-1), changes]).toEqual([{edgeAddresses: ['192.0.2.1']}, 'failed', 1]);
  });

  test('that gets a name which leads nowhere yet leaves what was known', async () => {
    service = serviceAt({ip: '192.0.2.1'});
    await start(known);
    await change(serviceAt({hostname}));
    expect([edge.edge, edge.endpoints, changes]).toEqual([{edgeAddresses: ['192.0.2.1']}, [at('192.0.2.1')], 1]);
  });

  test('that comes late holds nobody up', async () => {
    await start(known);
    expect([edge.edge, edge.endpoints]).toEqual([{edgeAddresses: []}, []]);
    await change(serviceAt({ip: '192.0.2.1'}));
    expect([edge.edge.edgeAddresses, changes]).toEqual([['192.0.2.1'], 1]);
  });

  test('with a name is resolved, again and again, and the name is what customers may be told', async () => {
    service = serviceAt({hostname: 'LB.cloud.example.'});
    dns.set(hostname, {addresses: ['192.0.2.1'], ttlSeconds: 60});
    await start(known);
    expect(edge.edge).toEqual({edgeAddresses: ['192.0.2.1'], edgeHostname: hostname});
    dns.set(hostname, {addresses: ['192.0.2.2'], ttlSeconds: 60});
    await jest.advanceTimersByTimeAsync(minutes);
    expect([edge.endpoints, changes]).toEqual([[at('192.0.2.2')], 1]);
  });

  test('of another name is not looked at', async () => {
    service = serviceAt({ip: '192.0.2.1'});
    await start(known);
    service = serviceAt({ip: '192.0.2.2'});
    tell({...service, metadata: {namespace: 'traefik', name: 'another'}}, undefined);
    await jest.advanceTimersByTimeAsync(0);
    expect(edge.edge.edgeAddresses).toEqual(['192.0.2.1']);
  });
});

const inside = (...clusterIPs: string[]): Service => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: {namespace: 'traefik', name: 'edge'},
  spec: {clusterIPs},
});

describe('A Service where to look', () => {
  const probe: ServicePort[] = [{service: {namespace: 'traefik', name: 'edge'}, port: 8443}];
  test('is looked at by the addresses that it has inside now, of both families, and the edge is where it was', async () => {
    service = inside('10.96.4.20', 'fd00::4:20');
    await start({addresses: ['192.0.2.1'], probe: [...probe, {address: '192.0.2.7', port: 443}]});
    expect(edge.endpoints).toEqual([
      {address: '10.96.4.20', port: 8443},
      {address: 'fd00::4:20', port: 8443},
      {address: '192.0.2.7', port: 443},
    ]);
    expect(edge.edge).toEqual({edgeAddresses: ['192.0.2.1']});
    service = inside('10.96.4.21');
    expect(edge.endpoints.map(({address}) => address)).toEqual(['10.96.4.21', '192.0.2.7']);
  });

  test.each([
    ['is not there', undefined],
    ['is headless', inside('None')],
  ])('that %s is looked at nowhere', async (_, now) => {
    service = now;
    await start({addresses: ['192.0.2.1'], probe});
    expect(edge.endpoints).toEqual([]);
  });
});

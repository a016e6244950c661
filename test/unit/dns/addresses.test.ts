/** The addresses of a name, as resolvers give them. */
import {afterEach, expect, test} from '@jest/globals';
import {resolveAddresses} from '../../../operator/dns/addresses.ts';
import {type Asked, fakeServer, type FakeServer, type Parts, record, reply} from './fake-servers.ts';

const name = 'lb.cloud.example';
const servers: FakeServer[] = [];
afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.close()));
});

async function resolver(answer: (asked: Asked) => Parts | undefined): Promise<FakeServer> {
  const server = await fakeServer((asked) => {
    const parts = answer(asked);
    return parts ? [reply(asked, parts)] : [];
  });
  servers.push(server);
  return server;
}
const addressOf =
  (a: string, ttl = 60) =>
  ({type}: Asked): Parts => ({answers: type === 'A' ? [record(name, 'A', a, ttl)] : []});

test('of both families are all told, along a chain of names, with the shortest TTL on the way', async () => {
  const server = await resolver(({type}) => ({
    answers: [
      record(name, 'CNAME', 'pool.cloud.example', 20),
      record('pool.cloud.example', type as 'A', type === 'A' ? '192.0.2.1' : '2001:db8::1', 60),
      record('other.cloud.example', 'A', '192.0.2.66', 1),
    ],
  }));
  expect(await resolveAddresses([server], `${name}.`)).toEqual({
    addresses: ['192.0.2.1', '2001:db8::1'],
    ttlSeconds: 20,
  });
  expect(server.asked.map(({type, recursionDesired}) => [type, recursionDesired]).toSorted()).toEqual([
    ['A', true],
    ['AAAA', true],
  ]);
});

test('are those of all resolvers together', async () => {
  const both = await Promise.all([resolver(addressOf('192.0.2.2', 30)), resolver(addressOf('192.0.2.1', 300))]);
  expect(await resolveAddresses(both, name)).toEqual({addresses: ['192.0.2.1', '192.0.2.2'], ttlSeconds: 30});
});

test('that a resolver makes of each A for a network of IPv6 alone (DNS64) are not of the name', async () => {
  const server = await resolver(({type}) => ({
    answers: [
      record(name, 'CNAME', 'pool.cloud.example'),
      record('pool.cloud.example', type as 'A', type === 'A' ? '192.0.2.1' : '64:ff9b::192.0.2.1'),
    ],
  }));
  expect((await resolveAddresses([server], name)).addresses).toEqual(['192.0.2.1']);
});

test('of a resolver that fails for one family do not count: half an answer would take addresses away', async () => {
  const half = await resolver((asked) => (asked.type === 'A' ? addressOf('192.0.2.9')(asked) : {rcode: 2}));
  const whole = await resolver(addressOf('192.0.2.1'));
  expect((await resolveAddresses([half, whole], name)).addresses).toEqual(['192.0.2.1']);
  await expect(resolveAddresses([half], name)).rejects.toThrow(`${name} has no address: 127.0.0.1 answered SERVFAIL`);
});

test.each<[string, Parts]>([
  ['there is no such name', {rcode: 3}],
  ['it has none', {answers: []}],
  ['it leads to a name that has none', {answers: [record(name, 'CNAME', 'pool.cloud.example')]}],
])('are an error where %s', async (_, parts) => {
  await expect(resolveAddresses([await resolver(() => parts)], name)).rejects.toThrow(`${name} has no address`);
});

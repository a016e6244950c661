/** What the API shows of objects: the words are those of their status. */
import {expect, test} from '@jest/globals';
import type {CustomDomainStatus} from '../../../operator/api/custom-domain.ts';
import {shorterStatuses} from '../../../operator/domain/status/status-size.ts';
import {decide} from '../../../operator/domain/lifecycle.ts';
import * as schemas from '../../../operator/http/schemas.ts';
import {hostsOf} from '../../../operator/http/views.ts';
import {domain, served, settled, t0, world} from '../../support/world.ts';

const spec = domain({redirects: [{from: 'old.example.com'}]});
const lines = (status?: CustomDomainStatus): string[] =>
  hostsOf({...spec, status}).map((h) => `${h.hostname} ${h.role} ${h.phase} ${h.reason} ${h.waitingFor}`);

test('a hostname of which the status says nothing yet is looked at next', () => {
  expect(lines()).toEqual([
    'docs.example.com Primary AwaitingVerification CheckPending Nobody',
    'old.example.com RedirectSource AwaitingVerification CheckPending Nobody',
  ]);
});

test('a hostname of an object that has no room for its status says so, and what to do', () => {
  const [, told] = shorterStatuses({observedGeneration: 1, phase: 'Live'}, undefined, t0);
  expect(lines(told)).toEqual([
    'docs.example.com Primary NotAccepted StatusTooLarge Customer',
    'old.example.com RedirectSource NotAccepted StatusTooLarge Customer',
  ]);
  expect(hostsOf({...spec, status: told})[0]?.message).toContain('Reduce or shorten its labels');
});

test('a verified hostname has the method and the time of its status, whatever records that lists', () => {
  const [host] = decide(settled(world({facts: {'docs.example.com': served()}}))).status.hosts!;
  const status = {observedGeneration: 1, hosts: [{...host!, verifiedBy: 'TXT' as const}]};
  const [view] = hostsOf({...spec, status});
  expect(view).toMatchObject({verifiedBy: 'TXT', verifiedAt: host!.verifiedAt, records: []});
  expect(schemas.host.parse(view)).toEqual(view);
});

/** How often the hostnames of a spec and a status are read, where they are so many. */
function readsOf(many: number): number {
  let reads = 0;
  const names = Array.from({length: many}, (_, i) => `r${i}.example.com`);
  const counted = (text: string): string => {
    const read = (): string => (reads++, text);
    return {endsWith: () => false, replace: read, [Symbol.toPrimitive]: read} as unknown as string;
  };
  const status = {
    hosts: names.map((hostname) => ({hostname})),
    dnsRecords: names.map((name) => ({
      get hostname() {
        return (reads++, name);
      },
    })),
  } as CustomDomainStatus;
  const {redirects} = domain({redirects: names.map((name) => ({from: counted(name)}))}).spec;
  const hosts = hostsOf({...spec, spec: {...spec.spec, redirects}, status});
  expect(hosts.map((h) => h.records.length)).toEqual([0, ...names.map(() => 1)]);
  return reads;
}

test('twice as many hostnames are twice the work: none is compared with all others', () => {
  expect(readsOf(10)).toBeGreaterThanOrEqual(20);
  expect(readsOf(200)).toBeLessThanOrEqual(2 * readsOf(100));
});

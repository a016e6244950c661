/** Which default host a Project gets. */
import {describe, expect, test} from '@jest/globals';
import type {DomainClaim, Project} from '../../../../operator/api/foreign.ts';
import {defaultHostOf} from '../../../../operator/domain/project/default-hostname.ts';
import {formerProjectHost, projectHost} from '../../../../operator/domain/hostnames/hostname.ts';
import type {Tenant} from '../../../../operator/domain/tenant.ts';
import {enterprise, heldClaim, policy, project} from '../../../support/world.ts';

const {installation, zone} = policy;
const parts = {installation, zone, namespace: 'acme', name: 'docs'};
const host = projectHost({...parts, tenant: {account: 'acme'}});
/** A claim that nobody holds. */
const rests = (name: string, tenant: DomainClaim['spec']['tenant']): DomainClaim => ({
  ...heldClaim(name),
  spec: {tenant, proof: 'DNS'},
  status: {generation: 1},
});

describe('The default host of a Project that is made', () => {
  const made: Project = {...project(), status: {observedGeneration: 3}};
  const ofAccount: Tenant = {account: 'acme', namespaceUID: 'uid-namespace', plan: enterprise};
  const alone: Tenant = {namespaceUID: 'uid-namespace', plan: enterprise};
  const ofAlone = projectHost({...parts, tenant: {namespaceUID: 'uid-namespace'}});
  const former = formerProjectHost(parts);
  const hostFor = (tenant: Tenant, ...claims: DomainClaim[]) =>
    defaultHostOf(made, tenant, policy, (name) => claims.find((c) => c.metadata.name === name)).host;

  test.each<[situation: string, tenant: Tenant, claims: DomainClaim[], expected: string]>([
    ['is that of its Account', ofAccount, [], host],
    ['is that of its Namespace where that has no Account', alone, [], ofAlone],
    [
      'is what its tenant had before its Namespace was given an Account',
      ofAccount,
      [rests(ofAlone, {namespaceUID: 'uid-namespace'})],
      ofAlone,
    ],
    [
      'is what a former release has made, where its tenant keeps that',
      ofAccount,
      [rests(former, {account: 'acme'})],
      former,
    ],
    [
      'is what a former release has made in place of what was taken',
      ofAccount,
      [rests(former, {account: 'rival'}), rests(formerProjectHost({...parts, counter: 1}), {account: 'acme'})],
      formerProjectHost({...parts, counter: 1}),
    ],
    ["is its own where a former one is another tenant's", ofAccount, [rests(former, {account: 'rival'})], host],
    [
      'is the next where the platform has given its Namespace away with the first',
      ofAccount,
      [rests(host, {account: 'rival'})],
      projectHost({...parts, tenant: {account: 'acme'}, counter: 1}),
    ],
  ])('%s', (_, tenant, claims, expected) => {
    expect(hostFor(tenant, ...claims)).toBe(expected);
  });
});

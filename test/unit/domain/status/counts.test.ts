/** The numbers of a CustomDomain's hostnames in its status. */
import {describe, expect, test} from '@jest/globals';
import type {CustomDomainStatus} from '../../../../operator/api/custom-domain.ts';
import {decide, removing} from '../../../../operator/domain/lifecycle.ts';
import {later, refuted, served, settled, t0, world} from '../../../support/world.ts';

const docs = 'docs.example.com';
const old = 'old.example.com';
const counted = ({hostsLive, attachedHostnames, liveHostnames}: CustomDomainStatus) => [
  hostsLive,
  attachedHostnames,
  liveHostnames,
];
const half = settled(world({redirects: [{from: old}], facts: {[docs]: served(), [old]: refuted()}}));

describe('Status counts the hostnames', () => {
  test('that are attached and that are Live, beside the printed text', () => {
    expect(counted(decide(half).status)).toEqual(['1/2', 2, 1]);
  });

  test('of the spec alone, while a former primary is served', () => {
    const {domain} = half;
    const moved = later({...half, domain: {...domain, spec: {...domain.spec, primary: 'new.example.com'}}}, {});
    const {status} = decide(moved);
    expect(status.hosts!.map(({role}) => role)).toContain('FormerPrimary');
    expect(counted(status)).toEqual(['0/2', 2, 0]);
    expect(counted(removing(status, t0))).toEqual(['0/2', 2, 0]);
  });

  test('with none Live during removal', () => {
    expect(counted(removing(half.domain.status!, t0))).toEqual(['0/2', 2, 0]);
  });
});

import type {V1Lease} from '@kubernetes/client-node';
import {defineResource, type NativeKind} from '../objects.ts';

export type Lease = NativeKind<V1Lease>;

export const leases = defineResource<Lease>({
  group: 'coordination.k8s.io',
  version: 'v1',
  plural: 'leases',
  kind: 'Lease',
  namespaced: true,
});

export interface ElectionTimes {
  /** A lease without an observed change for this long is free. Rounded up to whole seconds. */
  leaseDurationMs: number;
  /** A leader that could not renew for this long stops writing and exits. */
  renewDeadlineMs: number;
  /** A leader's renewal interval. Candidates check the lease two to four times as often. */
  retryPeriodMs: number;
}

/** client-go's defaults. */
export const electionTimes: Readonly<ElectionTimes> = {
  leaseDurationMs: 15_000,
  renewDeadlineMs: 10_000,
  retryPeriodMs: 2000,
};

import type {V1Lease} from '@kubernetes/client-node';
import {defineResource, type NativeKind} from './objects.ts';

export type Lease = NativeKind<V1Lease>;

export const leases = defineResource<Lease>({
  group: 'coordination.k8s.io',
  version: 'v1',
  plural: 'leases',
  kind: 'Lease',
  namespaced: true,
});

export interface ElectionTimes {
  /** A lease that was not seen to change for this long is free. Whole seconds: it is rounded up. */
  leaseDurationMs: number;
  /** A leader that could not renew for this long stops writing and ends. */
  renewDeadlineMs: number;
  /** A leader renews this often; candidates look two to four times as often. */
  retryPeriodMs: number;
}

/** Those of client-go. */
export const electionTimes: Readonly<ElectionTimes> = {
  leaseDurationMs: 15_000,
  renewDeadlineMs: 10_000,
  retryPeriodMs: 2000,
};

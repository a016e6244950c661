/**
 * The only table of how waiting tools judge a status. Each reason in reasons/ names its row here. test/gitops compares the table with the
 * real tools.
 */
import type {TimelessCondition} from '../times.ts';

/**
 * The results of kstatus (Helm and Flux wait with it), Argo CD with the checks in examples/argocd, and Flux with those in examples/flux.
 */
export interface HealthRow {
  means: string;
  /** The condition that is set beside Ready. */
  condition?: 'Reconciling' | 'Stalled';
  kstatus: 'InProgress' | 'Failed' | 'Current' | 'Terminating';
  argoCD: 'Progressing' | 'Suspended' | 'Degraded' | 'Healthy';
  flux: 'InProgress' | 'Failed' | 'Current';
}

export const healthRows = {
  pending: {
    means: 'Doorplate or the certificate authority is working on it.',
    condition: 'Reconciling',
    kstatus: 'InProgress',
    argoCD: 'Progressing',
    flux: 'InProgress',
  },
  awaited: {
    means: 'The DNS does not verify the hostname yet; the message names the record.',
    condition: 'Reconciling',
    kstatus: 'InProgress',
    argoCD: 'Suspended',
    flux: 'InProgress',
  },
  stalled: {
    means: 'An action is required. Doorplate continues when the cause is removed.',
    condition: 'Stalled',
    kstatus: 'Failed',
    argoCD: 'Degraded',
    flux: 'Failed',
  },
  ending: {
    means: 'It is served for a limited time. An action is required before the time in the message.',
    kstatus: 'Current',
    argoCD: 'Degraded',
    flux: 'Failed',
  },
  done: {means: 'No action is required.', kstatus: 'Current', argoCD: 'Healthy', flux: 'Current'},
  removing: {
    means: 'It is being deleted.',
    kstatus: 'Terminating',
    argoCD: 'Progressing',
    flux: 'InProgress',
  },
} as const satisfies Record<string, HealthRow>;

export type HealthName = keyof typeof healthRows;

/** The health of a reason by itself. A stalled hostname is `ending` while it is still served. */
export type ReasonHealth = Exclude<HealthName, 'ending'>;

/** Conditions of an object that is not Ready. kstatus reads Reconciling and Stalled before Ready, so Doorplate never sets both. */
export function notReady(
  health: ReasonHealth,
  why: Pick<TimelessCondition, 'reason' | 'message'>,
): TimelessCondition[] {
  const {condition}: HealthRow = healthRows[health];
  return [
    {type: 'Ready', status: 'False', ...why},
    ...(condition ? [{type: condition, status: 'True' as const, ...why}] : []),
  ];
}

/** The stages of a CustomDomain's reconcile: the stages of all kinds (stages.ts), and the points at which status is published. */
import type {CustomDomain} from '../api/foreign.ts';
import {becomesVerified, goesLive} from '../domain/status/publishing.ts';
import type {Decision, FreshAttempt} from '../domain/world.ts';
import {type Key, keyOf} from '../kube/objects.ts';
import {servedHostnamesOf} from '../resources/relations.ts';
import {customDomains} from '../resources/resources.ts';
import {
  applyCertificates,
  applyRoutes,
  ensureFinalizer,
  Reconciliation,
  removeObjects,
  requestOrders,
  type Stage,
  writeClaims,
} from './stages.ts';

/** A running reconcile of a CustomDomain. */
export abstract class DomainReconciliation extends Reconciliation<CustomDomain, Decision> {
  readonly resource = customDomains;
  /** Remaining time until the plan's status is published, ms. The stage `publishStatus` sets it. */
  debouncedMs = 0;

  get orderOwner(): Key {
    return keyOf(this.object);
  }

  override get wakeAfterMs(): number | undefined {
    return this.debouncedMs > 0 ? this.debouncedMs : super.wakeAfterMs;
  }

  names(): ReadonlySet<string> {
    return new Set(servedHostnamesOf(this.object));
  }

  /** Time for which the plan's status is debounced, ms; 0: publish it now. */
  abstract debounceMs(): number;
  /** Publishes the plan's status if it differs, and an Event for the change. */
  abstract publish(): Promise<void>;
  /** Forgets the requested check that the published status answers. */
  abstract answer(): void;
  /** Starts fresh attempts. Failures that concern a single Certificate are in `writes`. Returns whether there was such a failure. */
  abstract startAttempts(attempts: readonly FreshAttempt[]): Promise<boolean>;
  /** Schedules DNS checks and edge probes without waiting for their results. */
  abstract scheduleProbes(looks: Decision['looks']): void;
}

type DomainStage = Stage<DomainReconciliation>;

/** Status reports a hostname as Live before the routes that it replaces are removed. */
const publishLive: DomainStage = async (r) => {
  if (goesLive(r.object, r.plan)) await r.publish();
};

/** Status reports a hostname as verified before its Certificate is created: after a crash, only status records the verification. */
const publishVerification: DomainStage = async (r) => {
  if (becomesVerified(r.object, r.plan)) await r.publish();
};

const startAttempts: DomainStage = async (r) => {
  if (await r.startAttempts(r.plan.freshAttempts)) r.replan();
};

const scheduleProbes: DomainStage = async (r) => r.scheduleProbes(r.plan.looks);

const publishStatus: DomainStage = async (r) => {
  r.debouncedMs = r.debounceMs();
  if (r.debouncedMs > 0) return;
  await r.publish();
  r.answer();
};

/** The stages that carry out a CustomDomain's plan, in order. */
export const domainStages: readonly DomainStage[] = [
  removeObjects,
  ensureFinalizer,
  writeClaims,
  requestOrders,
  publishLive,
  applyRoutes,
  publishVerification,
  applyCertificates,
  startAttempts,
  scheduleProbes,
  publishStatus,
];

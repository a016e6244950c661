/** A preflight check, and its result. */
import type {AcmeIssuer, Certificate, IssuerRef} from '../api/foreign.ts';
import type {IssuerPolicy} from '../domain/certificates/choose-issuer.ts';
import type {Settings} from '../config.ts';
import type {Edge} from '../domain/verification/method.ts';
import type {DnsServer} from '../dns/wire.ts';
import type {EdgeAddress} from '../edge/probe.ts';

/** What is asked from; the questions themselves go out on the wire. */
export interface PreflightWorld {
  settings: Pick<Settings, 'platform' | 'edge' | 'dns' | 'ingressClassName'>;
  /** The preferred one first. */
  issuers: readonly IssuerPolicy[];
  /** As it is known now; `endpoints`: where the operator looks. */
  edgeAddresses: {edge: Edge; endpoints: readonly EdgeAddress[]};
  resolvers: readonly DnsServer[];
  /** Whether the cluster has the kinds of cert-manager. */
  hasCertManager: () => Promise<boolean>;
  /** Undefined: it does not exist. */
  readIssuer: (issuer: IssuerRef, signal: AbortSignal) => Promise<AcmeIssuer | undefined>;
  /** Some of Doorplate's Certificates: none without cert-manager. */
  certificates: (signal: AbortSignal) => Promise<readonly Certificate[]>;
}

export interface PreflightAnswer {
  /** `unknown`: the check could not run, or its findings are inconclusive. It never counts as a failure. */
  outcome: 'ok' | 'failed' | 'unknown';
  /** What was seen, a sentence. */
  seen: string;
  /** The setting to change or the connection to open; absent if the check succeeded. */
  remedy?: string;
}

export interface PreflightQuestion {
  /** The label of the metric. */
  name: string;
  /** A sentence with a question mark. */
  asks: (world: Pick<PreflightWorld, 'settings' | 'issuers'>) => string;
  /** An exception counts as `unknown`. */
  ask: (world: PreflightWorld, signal: AbortSignal) => Promise<PreflightAnswer>;
  /** The answer can change while all is well. The operator asks again each hour, which must cost it no request. */
  repeats?: true;
}

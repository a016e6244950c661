/** What a question of the preflight is, and its answer. */
import type {AcmeIssuer} from '../api/foreign.ts';
import type {Settings} from '../config.ts';
import type {Edge} from '../domain/proofs/proof.ts';
import type {Server} from '../dns/wire.ts';
import type {EdgeAddress} from '../edge/probe.ts';

/** What is asked from; the questions themselves go out on the wire. */
export interface World {
  settings: Pick<Settings, 'platform' | 'edge' | 'dns' | 'issuerRef' | 'ingressClassName' | 'caaIdentities'>;
  /** As it is known now; `endpoints`: where the operator looks. */
  edgeAddresses: {edge: Edge; endpoints: readonly EdgeAddress[]};
  resolvers: readonly Server[];
  /** The issuer that the settings name; undefined: there is none. */
  readIssuer: (signal: AbortSignal) => Promise<AcmeIssuer | undefined>;
}

export interface Answer {
  /** `unknown`: it could not be asked, or what was seen does not tell. That is never a no. */
  outcome: 'ok' | 'failed' | 'unknown';
  /** What was seen, a sentence. */
  seen: string;
  /** What to set or to open; not where all is well. */
  remedy?: string;
}

export interface Question {
  /** The label of the metric. */
  name: string;
  /** A sentence with a question mark. */
  asks: (settings: World['settings']) => string;
  /** What it throws counts as `unknown`. */
  ask: (world: World, signal: AbortSignal) => Promise<Answer>;
}

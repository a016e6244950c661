import type {Logger} from 'pino';
import type {Certificate} from '../api/foreign.ts';
import {caaIdentities} from '../acme/directory.ts';
import type {Hostname} from '../domain/hostname.ts';
import type {Syncable} from '../kube/cache.ts';
import type {Client} from '../kube/client.ts';
import {clusterIssuers, issuers} from './resources.ts';

const dayMs = 86_400_000;
/** After a failure, and then twice as long each time, up to a day. */
const firstPauseMs = 60_000;
/** How long a start waits for the first answer. */
const startWaitsMs = 3_000;

export interface IssuerOptions {
  client: Pick<Client, 'get'>;
  issuerRef: Certificate['spec']['issuerRef'];
  /** Doorplate's own: where a namespaced Issuer is read. */
  namespace: string;
  /** What the platform has set; then nothing is asked. */
  configured: readonly Hostname[];
  /** Called when the names have changed. */
  onChange: () => void;
  log: Logger;
  /** {@link caaIdentities}, or a stand-in. */
  ask?: typeof caaIdentities;
}

/**
 * Knows how the CA is named in CAA records: by the setting, or by the directory of the ACME server that the issuer names, read
 * once a day. A failure never stops anything: what was known stays, and until something is known CAA is left to the CA, which
 * looks at it anyway (RFC 8659, 3).
 */
export class Issuer implements Syncable {
  /** Resolves when the first answer is there, or is not after 3 s. */
  readonly synced: Promise<void>;
  #resolveSynced: () => void = () => {};
  #isSynced = false;
  #identities: readonly Hostname[];
  #pauseMs = firstPauseMs;
  readonly #options: IssuerOptions;
  readonly #stop = new AbortController();
  #timer: NodeJS.Timeout | undefined;

  constructor(options: IssuerOptions) {
    this.#options = options;
    this.#identities = options.configured;
    this.synced = new Promise((resolve) => { this.#resolveSynced = resolve; });
  }

  get isSynced(): boolean { return this.#isSynced; }

  /** The CA's names in CAA records; empty: unknown. */
  get identities(): readonly Hostname[] { return this.#identities; }

  start(): void {
    const {configured, issuerRef} = this.#options;
    if (configured.length > 0 || issuerRef.group !== 'cert-manager.io') {
      this.#begun();
      return;
    }
    const wait = setTimeout(() => this.#begun(), startWaitsMs);
    void this.#refresh().finally(() => { clearTimeout(wait); this.#begun(); });
  }

  stop(): void {
    this.#stop.abort();
    clearTimeout(this.#timer);
  }

  #begun(): void {
    this.#isSynced = true;
    this.#resolveSynced();
  }

  async #refresh(): Promise<void> {
    const {log, issuerRef, onChange} = this.#options;
    let next = dayMs;
    try {
      const now = await this.#read();
      this.#pauseMs = firstPauseMs;
      if (now.join() !== this.#identities.join()) {
        this.#identities = now;
        log.info({issuer: issuerRef.name, caaIdentities: now}, now.length > 0 ? 'the CA names itself for CAA records' : 'the CA names itself nowhere: CAA is not looked at');
        onChange();
      }
    } catch (error) {
      if (this.#stop.signal.aborted) return;
      next = this.#pauseMs;
      this.#pauseMs = Math.min(2 * this.#pauseMs, dayMs);
      log.warn({err: error, issuer: issuerRef.name, retryInMs: next}, 'the ACME directory of the issuer could not be read: CAA is looked at by what was known before; caaIdentities would say it');
    }
    if (this.#stop.signal.aborted) return;
    this.#timer = setTimeout(() => void this.#refresh(), next);
    this.#timer.unref();
  }

  async #read(): Promise<Hostname[]> {
    const {client, issuerRef: {kind, name}, namespace, ask = caaIdentities} = this.#options;
    const {signal} = this.#stop;
    const issuer = kind === 'Issuer' ? await client.get(issuers, `${namespace}/${name}`, {signal}) : await client.get(clusterIssuers, name, {signal});
    if (!issuer) throw new Error(`there is no ${kind} ${name}`);
    const {server, caBundle} = issuer.spec?.acme ?? {};
    // Not an ACME issuer: nobody looks at CAA.
    if (server === undefined) return [];
    return ask(server, {signal, ...(caBundle !== undefined && {caBundle: Buffer.from(caBundle, 'base64').toString('latin1')})});
  }
}

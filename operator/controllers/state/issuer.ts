import type {Logger} from 'pino';
import type {AcmeIssuer, IssuerRef} from '../../api/foreign.ts';
import {caaIdentities, type DirectoryOptions} from '../../acme/directory.ts';
import type {Hostname} from '../../domain/hostnames/hostname.ts';
import type {Syncable} from '../../kube/cache/cache.ts';
import type {Client} from '../../kube/client/client.ts';
import {proxyFor} from '../../kube/client/proxy.ts';
import {clusterIssuers, issuers} from '../../resources/resources.ts';

/** An account that is replaced would block its own CAA records for so long. */
const periodMs = 3_600_000;
/** Pause after a failure, or while no account exists. It doubles each time, up to the period. */
const firstPauseMs = 60_000;
/** How long a start waits for the first answer. */
const startWaitsMs = 3_000;

export interface IssuerOptions {
  client: Pick<Client, 'get'>;
  issuerRef: IssuerRef;
  /** Doorplate's own: where a namespaced Issuer is read. */
  namespace: string;
  /** What the platform has set; then the directory is not asked. */
  configured: readonly Hostname[];
  log: Logger;
  /** {@link caaIdentities}, or a stand-in. */
  ask?: typeof caaIdentities | undefined;
}

/** Undefined if the issuer does not exist. Throws if it cannot be read. */
export const readIssuer = (
  {client, issuerRef: {kind, name}, namespace}: Pick<IssuerOptions, 'client' | 'issuerRef' | 'namespace'>,
  signal: AbortSignal,
): Promise<AcmeIssuer | undefined> =>
  kind === 'Issuer'
    ? client.get(issuers, `${namespace}/${name}`, {signal})
    : client.get(clusterIssuers, name, {signal});

/** Where the directory of an ACME issuer is, and how it is reached; undefined: it is no ACME issuer. */
export function directoryOf({
  spec,
}: AcmeIssuer): ({server: string} & Pick<DirectoryOptions, 'proxy' | 'caBundle'>) | undefined {
  const {server, caBundle} = spec?.acme ?? {};
  if (server === undefined) return undefined;
  return {
    server,
    proxy: proxyFor(server),
    ...(caBundle !== undefined && {caBundle: Buffer.from(caBundle, 'base64').toString('latin1')}),
  };
}

/**
 * Knows what CAA records must say: the CA's names, by the setting or by the directory of the ACME server that the issuer names, and
 * the platform's account there (RFC 8657), by the issuer's status; read once an hour. A failure never stops anything: what
 * was known stays, and until something is known CAA is left to the CA, which looks at it anyway (RFC 8659, 3).
 */
export class Issuer implements Syncable {
  /** Resolves when the first answer is there, or is not after 3 s. */
  readonly synced: Promise<void>;
  #resolveSynced: () => void = () => {};
  #isSynced = false;
  #isKnown = false;
  #identities: readonly Hostname[];
  #accountUri: string | undefined;
  #pauseMs = firstPauseMs;
  readonly #options: IssuerOptions;
  readonly #handlers: (() => void)[] = [];
  readonly #stop = new AbortController();
  #timer: NodeJS.Timeout | undefined;

  constructor(options: IssuerOptions) {
    this.#options = options;
    this.#identities = options.configured;
    this.synced = new Promise((resolve) => {
      this.#resolveSynced = resolve;
    });
  }

  get isSynced(): boolean {
    return this.#isSynced;
  }

  /** Whether the issuer has been read in this process. */
  get isKnown(): boolean {
    return this.#isKnown;
  }

  /** The CA's names in CAA records; empty: unknown. */
  get identities(): readonly Hostname[] {
    return this.#identities;
  }

  /** The platform's account at the CA, as `accounturi` has it; undefined: unknown. */
  get accountUri(): string | undefined {
    return this.#accountUri;
  }

  /** Calls when the names or the account have changed. */
  onChange(handler: () => void): void {
    this.#handlers.push(handler);
  }

  start(): void {
    if (this.#options.issuerRef.group !== 'cert-manager.io') {
      this.#isKnown = true;
      this.#begun();
      return;
    }
    const wait = setTimeout(() => this.#begun(), startWaitsMs);
    void this.#refresh().finally(() => {
      clearTimeout(wait);
      this.#begun();
    });
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
    const {log, issuerRef} = this.#options;
    let next = periodMs;
    try {
      const {identities, accountUri} = await this.#read();
      this.#isKnown = true;
      if (accountUri === undefined) next = this.#pause();
      else this.#pauseMs = firstPauseMs;
      if (identities.join() !== this.#identities.join() || accountUri !== this.#accountUri) {
        [this.#identities, this.#accountUri] = [identities, accountUri];
        log.info(
          {issuer: issuerRef.name, caaIdentities: identities, accountUri},
          identities.length > 0
            ? 'the CA publishes its names for CAA records'
            : 'the CA publishes no names for CAA records: CAA records are not checked',
        );
        for (const handler of this.#handlers) handler();
      }
    } catch (error) {
      if (this.#stop.signal.aborted) return;
      next = this.#pause();
      log.warn(
        {err: error, issuer: issuerRef.name, retryInMs: next},
        'the ACME directory of the issuer could not be read: CAA checks use the names known before. Set caaIdentities to name the CA',
      );
    }
    if (this.#stop.signal.aborted) return;
    this.#timer = setTimeout(() => void this.#refresh(), next);
    this.#timer.unref();
  }

  #pause(): number {
    const now = this.#pauseMs;
    this.#pauseMs = Math.min(2 * now, periodMs);
    return now;
  }

  async #read(): Promise<{identities: readonly Hostname[]; accountUri?: string}> {
    const {issuerRef, configured, ask = caaIdentities} = this.#options;
    const {signal} = this.#stop;
    const issuer = await readIssuer(this.#options, signal);
    if (!issuer) throw new Error(`there is no ${issuerRef.kind} ${issuerRef.name}`);
    const directory = directoryOf(issuer);
    // Not an ACME issuer: nobody looks at CAA.
    if (!directory) return {identities: configured};
    const accountUri = issuer.status?.acme?.uri || undefined;
    const identities = configured.length > 0 ? configured : await ask(directory.server, {...directory, signal});
    return {identities, ...(accountUri !== undefined && {accountUri})};
  }
}

import type {IssuerPolicy} from '../../domain/certificates/choose-issuer.ts';
import type {Hostname} from '../../domain/hostnames/hostname.ts';
import type {Syncable} from '../../kube/cache/cache.ts';
import {CaProgress} from '../orders/ca-progress.ts';
import {CaAvailability, type AvailabilityOptions} from './ca-availability.ts';
import {Issuer, type IssuerOptions} from './issuer.ts';

export interface CasOptions
  extends
    Omit<AvailabilityOptions, 'issuers' | 'progress' | 'ask'>,
    Omit<IssuerOptions, 'issuerRef' | 'configured' | 'ask' | 'log' | 'client'> {
  log: IssuerOptions['log'];
  /** The preferred one first. */
  issuers: readonly IssuerPolicy[];
  askNames?: IssuerOptions['ask'];
  askAvailability?: AvailabilityOptions['ask'];
}

/** The certificate authorities (CAs) of the issuers, by the issuers' names: what CAA records must say, and whether they answer. */
export class Cas implements Syncable {
  /** Notes the orders of this process. */
  readonly progress = new CaProgress();
  readonly synced: Promise<void>;
  #isSynced = false;
  readonly #issuers: ReadonlyMap<string, Issuer>;
  readonly #availability: CaAvailability;

  constructor({issuers, askNames, askAvailability, ...options}: CasOptions) {
    this.#issuers = new Map(
      issuers.map(({issuerRef, caaIdentities}) => [
        issuerRef.name,
        new Issuer({...options, issuerRef, configured: caaIdentities, ask: askNames}),
      ]),
    );
    this.#availability = new CaAvailability({
      ...options,
      issuers: issuers.map(({issuerRef}) => issuerRef),
      progress: this.progress,
      ...(askAvailability && {ask: askAvailability}),
    });
    this.synced = this.#sync();
  }

  async #sync(): Promise<void> {
    await Promise.all([...this.#issuers.values()].map(({synced}) => synced));
    this.#isSynced = true;
  }

  get isSynced(): boolean {
    return this.#isSynced;
  }

  /** The CA's names in CAA records; empty: unknown. */
  identities(issuer: string): readonly Hostname[] {
    return this.#issuers.get(issuer)?.identities ?? [];
  }

  /** All CAs as CAA records see them, the preferred one first. */
  all(): {issuer: string; identities: readonly Hostname[]; accountUri?: string}[] {
    return [...this.#issuers].map(([issuer, {identities, accountUri}]) => ({
      issuer,
      identities,
      ...(accountUri !== undefined && {accountUri}),
    }));
  }

  unavailableSince(issuer: string): number | undefined {
    return this.#availability.unavailableSince(issuer);
  }

  /** Whether its names are known, and it has answered for so long that certificates may move back to it. */
  isCertain(issuer: string): boolean {
    return this.#availability.isSteady(issuer) && this.#issuers.get(issuer)?.isKnown === true;
  }

  /** Calls when the names or the account of a CA have changed, or whether it answers. */
  onChange(handler: () => void): void {
    for (const issuer of this.#issuers.values()) issuer.onChange(handler);
    this.#availability.onChange(handler);
  }

  start(): void {
    for (const issuer of this.#issuers.values()) issuer.start();
    this.#availability.start();
  }

  stop(): void {
    for (const issuer of this.#issuers.values()) issuer.stop();
    this.#availability.stop();
  }
}

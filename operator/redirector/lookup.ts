/** Reads a redirect from the API server if the table lacks it. The edge may read a new route before this Pod reads the redirect. */
import type {Logger} from 'pino';
import {Rate} from '../dns/rate.ts';
import type {Client} from '../kube/client/client.ts';
import {type Clock, systemClock} from '../kube/clock.ts';
import {normalise} from '../domain/hostnames/hostname.ts';
import {customDomains, domainClaims, projects} from '../resources/resources.ts';
import {rulesOfDomain, rulesOfProject} from './rules.ts';
import type {RedirectRule} from './table.ts';

export interface LookupOptions {
  client: Pick<Client, 'get'>;
  log: Pick<Logger, 'info' | 'debug'>;
  clock?: Clock;
  /** A request waits at most this long for the API server. */
  timeoutMs?: number;
}

/** Lookups of all hosts together. Requests for unknown hosts must not load the API server. */
const most = {perSecond: 20, burst: 100};
/** A busy hostname costs one lookup in this time, ms. A removed redirect is answered that much longer. */
const keptMs = 1000;

/**
 * The operator publishes a redirect before it writes the route. So a read that begins when the request arrives finds the redirect, however
 * late the watch is.
 */
export class Lookup {
  readonly #options: LookupOptions;
  readonly #clock: Clock;
  readonly #found = new Map<string, {rule: RedirectRule; until: number}>();
  readonly #underWay = new Map<string, Promise<RedirectRule | undefined>>();
  readonly #rate = new Rate(most);

  constructor(options: LookupOptions) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
  }

  /** The rule for a host. Undefined if there is none, the API server does not answer in time, or there are too many lookups. */
  async ruleOf(host: string): Promise<RedirectRule | undefined> {
    const found = this.#found.get(host);
    if (found && found.until > this.#clock.now()) return found.rule;
    // A lookup that began before this request may have missed the redirect.
    return (await this.#underWay.get(host)) ?? this.#underWay.get(host) ?? this.#begin(host);
  }

  #begin(host: string): Promise<RedirectRule | undefined> | undefined {
    if (normalise(host) !== host || !this.#rate.take('all', this.#clock.now())) return undefined;
    const lookup = this.#read(host).finally(() => this.#underWay.delete(host));
    this.#underWay.set(host, lookup);
    return lookup;
  }

  async #read(host: string): Promise<RedirectRule | undefined> {
    const {log, timeoutMs = 1000} = this.#options;
    try {
      const rule = (await this.#rulesFor(host, AbortSignal.timeout(timeoutMs))).find((r) => r.host === host);
      if (rule) {
        log.info({host}, 'the redirect is published, and the watch has not reported it yet');
        this.#keep(rule);
      }
      return rule;
    } catch (error) {
      log.debug({err: error, host}, 'no lookup of a redirect');
      return undefined;
    }
  }

  async #rulesFor(host: string, signal: AbortSignal): Promise<RedirectRule[]> {
    const {client} = this.#options;
    const {holder} = (await client.get(domainClaims, host, {signal}))?.status ?? {};
    if (!holder) return [];
    const {kind, namespace, name, uid} = holder;
    const key = `${namespace}/${name}`;
    if (kind === 'Project') {
      const project = await client.get(projects, key, {signal});
      return project?.metadata.uid === uid ? rulesOfProject(project) : [];
    }
    const domain = await client.get(customDomains, key, {signal});
    return domain?.metadata.uid === uid ? rulesOfDomain(domain) : [];
  }

  #keep(rule: RedirectRule): void {
    const now = this.#clock.now();
    for (const [host, {until}] of this.#found) if (until <= now) this.#found.delete(host);
    this.#found.set(rule.host, {rule, until: now + keptMs});
  }
}

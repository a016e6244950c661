import type {HostStatus} from '../../api/custom-domain.ts';
import type {CustomDomain} from '../../api/foreign.ts';
import type {Hostname} from '../../domain/hostnames/hostname.ts';
import {isRefusedToWait, isWaiting, type WaitingRoom} from '../../domain/hostnames/waiting.ts';
import {type Tenant, tenantKey} from '../../domain/tenant.ts';
import {byText} from '../../domain/text.ts';
import {SortedList} from '../../kube/collections/sorted-list.ts';
import type {ChangeSource} from '../../kube/controller/wake.ts';
import {isDeepEqual} from '../../kube/equality.ts';
import {type Key, keyOf} from '../../kube/objects.ts';

/** A hostname that was refused. `since`: the time of the refusal, RFC 3339. */
interface QueuedHostname {
  since: string;
  key: Key;
  hostname: Hostname;
}

const oldest = (a: QueuedHostname, b: QueuedHostname): number =>
  byText(a.since, b.since) || byText(a.key, b.key) || byText(a.hostname, b.hostname);

/** The hostnames of one CustomDomain. */
interface Entry extends Pick<WaitingRoom, 'held' | 'refused'> {
  tenant: string;
}

const isSame = (a: Entry | undefined, b: Entry | undefined): boolean =>
  isDeepEqual(a && [a.tenant, [...a.held], [...a.refused]], b && [b.tenant, [...b.held], [...b.refused]]);

/** Of one tenant. */
interface Places {
  /** Number of hostnames that wait. */
  taken: number;
  queue: SortedList<QueuedHostname>;
}

/**
 * The hostnames that wait for verification, by tenant. Each decision is counted when it is made: CustomDomains that are decided side by
 * side never exceed the limit together, and an object without room for its status counts as well. A process begins with the published
 * statuses. Reading a CustomDomain's room takes constant time, except while older hostnames are about to take free places.
 */
export class VerificationSlots implements ChangeSource<[Key]> {
  readonly #limit: number;
  readonly #entries = new Map<Key, Entry>();
  readonly #tenants = new Map<string, Places>();
  readonly #handlers: ((domain: Key) => void)[] = [];

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Counts the published statuses. Call it once, before the first decision. */
  begin(domains: readonly CustomDomain[], tenantOf: (namespace: string) => Tenant | undefined): void {
    for (const domain of domains) {
      const tenant = tenantOf(domain.metadata.namespace ?? '');
      if (tenant) this.note(keyOf(domain), tenant, domain.status?.hosts ?? []);
    }
  }

  /** The room of one of the tenant's CustomDomains. */
  of(domain: Key, tenant: Tenant): WaitingRoom {
    const {held = new Set<Hostname>(), refused = new Map<Hostname, string>()} = this.#entries.get(domain) ?? {};
    const {taken, queue} = this.#placesOf(tenantKey(tenant));
    const left = Math.max(0, this.#limit - taken);
    let free = Math.max(0, left - queue.size);
    for (let i = 0; i < Math.min(left, queue.size); i++) if (queue.at(i)!.key === domain) free++;
    return {limit: this.#limit, held, refused, free};
  }

  /** Counts a decision about a CustomDomain, in place of its former decision. */
  note(domain: Key, tenant: Tenant, hosts: readonly HostStatus[]): void {
    const before = this.#entries.get(domain);
    const names = (of: (host: HostStatus) => boolean) => hosts.filter(of).map(({hostname}) => hostname);
    const now: Entry = {
      tenant: tenantKey(tenant),
      held: new Set(names(isWaiting)),
      refused: new Map(
        hosts.filter(isRefusedToWait).map(({hostname, since}) => [hostname, before?.refused.get(hostname) ?? since]),
      ),
    };
    this.#replace(domain, before, now.held.size + now.refused.size > 0 ? now : undefined);
  }

  forget(domain: Key): void {
    this.#replace(domain, this.#entries.get(domain), undefined);
  }

  /** Calls with the key of the CustomDomain that has the oldest refused hostname of a tenant with a free place. */
  onChange(handler: (domain: Key) => void): void {
    this.#handlers.push(handler);
  }

  #replace(domain: Key, before: Entry | undefined, now: Entry | undefined): void {
    if (isSame(before, now)) return;
    if (before) this.#subtract(domain, before, now);
    if (now) this.#add(domain, now, before);
    if (now) this.#entries.set(domain, now);
    else this.#entries.delete(domain);
    for (const tenant of new Set([before, now].flatMap((entry) => entry?.tenant ?? []))) this.#wake(tenant);
  }

  /** Hostnames that are refused before and after keep their places in the queue. */
  #subtract(key: Key, {tenant, held, refused}: Entry, now: Entry | undefined): void {
    const places = this.#placesOf(tenant);
    places.taken -= held.size;
    for (const [hostname, since] of refused)
      if (now?.tenant !== tenant || !now.refused.has(hostname)) places.queue.remove({since, key, hostname});
    if (places.taken + places.queue.size === 0) this.#tenants.delete(tenant);
  }

  #add(key: Key, {tenant, held, refused}: Entry, before: Entry | undefined): void {
    const places = this.#placesOf(tenant);
    this.#tenants.set(tenant, places);
    places.taken += held.size;
    for (const [hostname, since] of refused)
      if (before?.tenant !== tenant || !before.refused.has(hostname)) places.queue.add({since, key, hostname});
  }

  #wake(tenant: string): void {
    const {taken, queue} = this.#placesOf(tenant);
    const next = taken < this.#limit ? queue.at(0) : undefined;
    if (next) for (const handler of this.#handlers) handler(next.key);
  }

  #placesOf = (tenant: string): Places =>
    this.#tenants.get(tenant) ?? {taken: 0, queue: new SortedList<QueuedHostname>(oldest)};
}

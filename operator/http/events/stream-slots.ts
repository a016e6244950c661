/**
 * Limits the event streams that are open at once. A tenant can create any number of keys, sessions and ServiceAccounts, so a limit for each
 * of them is not enough: with many keys one tenant could use all connections, and fill the memory with unread events.
 */
import {tenantKey} from '../../domain/tenant.ts';
import type {Actor} from '../gate/caller.ts';
import {Problem} from '../problems.ts';

/** Open streams that a caller may have, and that all callers of a tenant may have together. */
const [mostOfCaller, mostOfTenant] = [10, 100];
const headers = {'retry-after': '15'};

/** A caller, a tenant or the whole API, with its limit of open streams. */
interface StreamLimit {
  id: string;
  atMost: number;
  /** The problem to answer with when `open` streams are open and the limit is reached. */
  full: (open: number) => Problem;
}

const tooMany = (whose: string) => (open: number) =>
  new Problem('too-many-streams', `${open} event streams are open, which is the maximum of ${whose}. Close one.`, {
    headers,
  });
const noRoom = () =>
  new Problem('unavailable', 'The maximum number of event streams of this API is open. Try again.', {headers});

export class StreamSlots {
  readonly #atMost: number;
  readonly #open = new Map<string, number>();

  /** `atMost`: the limit for all callers together. */
  constructor(atMost: number) {
    this.#atMost = atMost;
  }

  /** Counts a new stream. Throws a {@link Problem} if a limit is reached. Returns a function to call when the stream ends. */
  take(caller: Actor): () => void {
    const holders: StreamLimit[] = [
      {id: idOf(caller), atMost: mostOfCaller, full: tooMany('one caller')},
      {id: `tenant:${tenantKey(caller.tenant)}`, atMost: mostOfTenant, full: tooMany('one account')},
      {id: 'all', atMost: this.#atMost, full: noRoom},
    ];
    for (const {id, atMost, full} of holders) {
      const open = this.#open.get(id) ?? 0;
      if (open >= atMost) throw full(open);
    }
    for (const {id} of holders) this.#add(id, 1);
    return () => {
      for (const {id} of holders) this.#add(id, -1);
    };
  }

  #add(id: string, more: number): void {
    const open = (this.#open.get(id) ?? 0) + more;
    if (open > 0) this.#open.set(id, open);
    else this.#open.delete(id);
  }
}

/** Identifies a key, a ServiceAccount or a session: all its streams share one limit. */
export const idOf = (caller: Actor): string =>
  caller.kind === 'key'
    ? (caller.key.metadata.uid ?? '')
    : caller.kind === 'backend'
      ? caller.account.username
      : caller.session.id;

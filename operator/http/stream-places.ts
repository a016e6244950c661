/**
 * How many event streams may be open at once. Keys, sessions and ServiceAccounts cost a tenant nothing, so that a limit for each of them
 * alone would be none: with enough of them one tenant would have all connections, and the memory that unread events take.
 */
import {tenantKey} from '../domain/tenant.ts';
import type {Actor} from './caller.ts';
import {Problem} from './problems.ts';

/** Of one caller, and of all callers of one tenant. */
const [mostOfCaller, mostOfTenant] = [10, 100];
const headers = {'retry-after': '15'};

/** Of whom a stream is: they have so many at most. */
interface Holder {
  id: string;
  atMost: number;
  /** What is told to who would have one more than so many. */
  full: (open: number) => Problem;
}

const tooMany = (whose: string) => (open: number) =>
  new Problem('rate-limited', `${open} event streams are open, which is as many as ${whose} may have. Close one.`, {
    headers,
  });
const noRoom = () => new Problem('unavailable', 'No more event streams may be open here now. Try again.', {headers});

export class StreamPlaces {
  readonly #atMost: number;
  readonly #open = new Map<string, number>();

  /** `atMost`: of all callers together. */
  constructor(atMost: number) {
    this.#atMost = atMost;
  }

  /** Takes a place for a stream; throws the {@link Problem} where there is none. Returns what gives it back. */
  take(caller: Actor): () => void {
    const holders: Holder[] = [
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

/** The same for all streams of one key, one ServiceAccount, one session. */
const idOf = (caller: Actor): string =>
  caller.kind === 'key'
    ? (caller.key.metadata.uid ?? '')
    : caller.kind === 'backend'
      ? caller.account.username
      : caller.session.id;

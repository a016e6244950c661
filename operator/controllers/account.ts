/** Account: says in its status whether its plan exists. */
import {decideAccount} from '../domain/tenant.ts';
import type {Client} from '../kube/client/client.ts';
import type {Result} from '../kube/controller/controller.ts';
import type {EventRecorder} from '../kube/writes/events.ts';
import type {Key} from '../kube/objects.ts';
import {writeStatus} from '../kube/writes/status.ts';
import {by, itself, on, type Wake, whenNewOrGone} from '../kube/controller/wake.ts';
import type {Caches} from './state/caches.ts';
import {nameOf} from '../resources/relations.ts';
import {accounts} from '../resources/resources.ts';
import {eventOfCondition} from './status-events.ts';

export interface AccountDeps extends Pick<Caches, 'accounts' | 'plans'> {
  client: Client;
  events: EventRecorder;
}

/** What wakes an Account. */
export const wakeAccounts = (c: Caches): Wake[] => [
  on(c.accounts, itself),
  on(c.plans, whenNewOrGone(by(c.accounts, 'plan', nameOf))),
];

export class AccountReconciler {
  readonly #deps: AccountDeps;

  constructor(deps: AccountDeps) {
    this.#deps = deps;
  }

  /** Brings the status of one Account up to date. Throws what the API server throws; the queue tries again. */
  async reconcile(key: Key): Promise<Result> {
    const {client, accounts: cache, plans, events} = this.#deps;
    const account = cache.get(key);
    if (!account || account.metadata.deletionTimestamp) return 'awaitChange';
    const status = decideAccount(account, plans.get(account.spec.planRef.name), Date.now());
    const written = await writeStatus(client, accounts, account, status);
    if (!written) return 'awaitChange';
    cache.observe(written);
    const event = eventOfCondition(account.status?.conditions, status.conditions);
    if (event) events.record({regarding: account, ...event});
    return 'awaitChange';
  }
}

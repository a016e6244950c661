/** Account: says in its status whether its plan exists. */
import type {Account, Plan} from '../api/foreign.ts';
import {decideAccount} from '../domain/tenant.ts';
import type {Cache} from '../kube/cache.ts';
import type {Client} from '../kube/client.ts';
import type {Result} from '../kube/controller.ts';
import type {EventRecorder} from '../kube/events.ts';
import type {Key} from '../kube/objects.ts';
import {writeStatus} from '../kube/status.ts';
import {accounts} from './resources.ts';

export interface AccountDeps {
  client: Client;
  accounts: Cache<Account, Account>;
  plans: Cache<Plan, Plan>;
  events: EventRecorder;
}

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
    const [now, before] = [status.conditions?.[0], account.status?.conditions?.[0]];
    if (now?.status === 'False' && before?.message !== now.message) {
      events.record({regarding: account, type: 'Warning', reason: now.reason, action: 'Reconcile', note: now.message});
    }
    return 'awaitChange';
  }
}

import type {UsageCounter} from '../limits/usage.ts';
import type {GateDeps} from './gate/gate.ts';

/** Counts each request of a key that was let through. */
export const countIn =
  (usage: Pick<UsageCounter, 'count'>): GateDeps['letThrough'] =>
  ({key, namespace, tenant: {namespaceUID, account = ''}}, scope) =>
    usage.count(key, scope, () => ({namespaceUID, namespace, account, key: key.metadata.name}));

/** Says when what is shown may be old. It lies above the page, so that nothing moves when it comes and goes. */
import {useSyncExternalStore} from 'react';
import {Refused} from '../api.ts';
import {useTexts} from '../language.ts';
import type {LiveState} from '../live.ts';
import {client} from '../queries.ts';

const subscribe = (changed: () => void): (() => void) => {
  window.addEventListener('online', changed);
  window.addEventListener('offline', changed);
  return () => {
    window.removeEventListener('online', changed);
    window.removeEventListener('offline', changed);
  };
};

const queries = client.getQueryCache();

/** The page is read again only while requests are left. */
const isOverQuota = (): boolean =>
  queries
    .getAll()
    .some(
      ({state: {data, fetchFailureReason: why}}) => data !== undefined && why instanceof Refused && why.status === 429,
    );

export function Connection({state}: {state: LiveState}) {
  const {connection: texts} = useTexts();
  const overQuota = useSyncExternalStore((changed) => queries.subscribe(changed), isOverQuota);
  const online = useSyncExternalStore(subscribe, () => navigator.onLine);
  const text = !online ? texts.offline : state === 'lost' ? texts.lost : overQuota ? texts.overQuota : '';
  return (
    <div className="connection" role="status">
      {text !== '' && <p>{text}</p>}
    </div>
  );
}

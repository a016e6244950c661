import {older} from '../../domain/hostnames/acceptance.ts';
import type {CustomDomain} from '../../api/foreign.ts';
import type {Key} from '../../kube/objects.ts';
import type {ChangeSource} from '../../kube/controller/wake.ts';
import type {Caches} from './caches.ts';
import {isCleanedUp} from '../../resources/projections.ts';
import {projectKey} from '../../resources/relations.ts';
import {SortedList} from '../../kube/collections/sorted-list.ts';

/** Name, UID and age, which never change. A cached status would become stale. */
type First = Pick<CustomDomain, 'metadata'>;

/**
 * The first CustomDomain of each Project: the one that counts. A deleted CustomDomain counts until Doorplate has cleaned up after it,
 * however long other finalizers keep it. Thousands may name the same Project; each change of one costs O(log n), and the others learn it
 * only where the first is another.
 */
export class FirstDomains implements ChangeSource<[Key]> {
  readonly #lines = new Map<Key, SortedList<First>>();
  readonly #handlers: ((project: Key) => void)[] = [];

  constructor(domains: Pick<Caches['domains'], 'onChange'>) {
    domains.onChange((...change) => {
      const [now, before] = change.map((domain) => (domain && isCleanedUp(domain) ? undefined : domain));
      if (now && before && now.metadata.uid === before.metadata.uid && projectKey(now) === projectKey(before)) return;
      if (before) this.#change(projectKey(before), (line) => void line.remove(before));
      if (now) this.#change(projectKey(now), (line) => line.add(identityOf(now)));
    });
  }

  of(project: Key): First | undefined {
    return this.#lines.get(project)?.at(0);
  }

  /** Calls with the key of each Project of which another CustomDomain is the first now, or none. */
  onChange(handler: (project: Key) => void): void {
    this.#handlers.push(handler);
  }

  #change(project: Key, change: (line: SortedList<First>) => void): void {
    const line = this.#lines.get(project) ?? new SortedList<First>(older);
    const first = line.at(0);
    change(line);
    if (line.size > 0) this.#lines.set(project, line);
    else this.#lines.delete(project);
    if (line.at(0) !== first) for (const handler of this.#handlers) handler(project);
  }
}

const identityOf = ({metadata: {name, namespace, uid, creationTimestamp}}: CustomDomain): First => ({
  metadata: {name, namespace, uid, creationTimestamp},
});

/** Who wrote what, by the audit log of a bench's own API server. */
import {createReadStream} from 'node:fs';
import {stat} from 'node:fs/promises';
import {createInterface} from 'node:readline';

export interface Write {
  user: string;
  verb: string;
  /** `customdomains`, `customdomains/status`. */
  resource: string;
  namespace: string | undefined;
  name: string | undefined;
  code: number;
  /** When the API server got it, and when it had answered, ms since the epoch. */
  at: number;
  answeredAt: number;
}

interface Line {
  stage: string;
  verb: string;
  user: {username: string};
  objectRef?: {resource?: string; subresource?: string; namespace?: string; name?: string};
  responseStatus?: {code?: number};
  requestReceivedTimestamp: string;
  stageTimestamp: string;
}

/** Events are beside the work: they are counted apart. */
export const isEvent = ({resource}: Write): boolean => resource === 'events';
/** Of an election. */
export const isLease = ({resource}: Write): boolean => resource === 'leases';
export const succeeded = ({code}: Write): boolean => code < 300;

export class AuditLog {
  readonly #file: string;

  constructor(file: string) {
    this.#file = file;
  }

  /** How long it is now: what follows is read from here. */
  async mark(): Promise<number> {
    return (await stat(this.#file).catch(() => ({size: 0}))).size;
  }

  /** What was written since, in the order in which it was answered; `by`: by this user alone. */
  async since(mark: number, by?: string): Promise<Write[]> {
    const writes: Write[] = [];
    for await (const text of createInterface({input: createReadStream(this.#file, {start: mark})})) {
      // The last line may be half written.
      if (!text.endsWith('}')) continue;
      const line = JSON.parse(text) as Line;
      if (line.stage !== 'ResponseComplete' || (by !== undefined && line.user.username !== by)) continue;
      const {resource = '', subresource, namespace, name} = line.objectRef ?? {};
      writes.push({
        user: line.user.username,
        verb: line.verb,
        resource: subresource === undefined ? resource : `${resource}/${subresource}`,
        namespace,
        name,
        code: line.responseStatus?.code ?? 0,
        at: Date.parse(line.requestReceivedTimestamp),
        answeredAt: Date.parse(line.stageTimestamp),
      });
    }
    return writes;
  }
}

/** How many writes of each sort: `patch customdomains/status`. Those that were refused have their status code behind them. */
export function countBySort(writes: readonly Write[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const write of writes) {
    const sort = `${write.verb} ${write.resource}${succeeded(write) ? '' : ` (${write.code})`}`;
    counts.set(sort, (counts.get(sort) ?? 0) + 1);
  }
  return new Map([...counts].toSorted((a, b) => b[1] - a[1]));
}

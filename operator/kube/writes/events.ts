import type {EventsV1Event} from '@kubernetes/client-node';
import type {Logger} from 'pino';
import type {Client} from '../client/client.ts';
import {isNamespaceGone} from '../errors.ts';
import type {KitMetrics} from '../metrics.ts';
import {defineResource, type HasMeta, type NativeKind, microTime} from '../objects.ts';

/** An object, or a projection that keeps apiVersion and kind. */
export interface Regarding extends HasMeta {
  apiVersion: string;
  kind: string;
}

export interface EventRecord {
  regarding: Regarding;
  type: 'Normal' | 'Warning';
  /** The cause: CamelCase, at most 128 characters. */
  reason: string;
  /** The action taken or failed: CamelCase, at most 128 characters. */
  action: string;
  /** For people; cut to 1 kB. */
  note: string;
}

type KubeEvent = NativeKind<EventsV1Event>;

/** events.k8s.io/v1. */
export const events = defineResource<KubeEvent>({
  group: 'events.k8s.io',
  version: 'v1',
  plural: 'events',
  kind: 'Event',
  namespaced: true,
});

/**
 * Writes events.k8s.io/v1 Events in the background. `record` never waits and never throws. Events are written sequentially. An
 * Event is dropped and counted (`metrics`) if the buffer is full or the API server refuses it. Events in a namespace that is being
 * deleted, or is gone, are dropped without being counted. Nothing is aggregated: record transitions only.
 */
export class EventRecorder {
  readonly #client: Client;
  readonly #controller: string;
  readonly #instance: string;
  readonly #log: Logger | undefined;
  readonly #metrics: Pick<KitMetrics, 'eventsDropped'> | undefined;
  readonly #capacity: number;
  readonly #now: () => Date;
  readonly #isGone: (namespace: string) => boolean;
  readonly #buffer: KubeEvent[] = [];
  #writing: Promise<void> | undefined;
  #order = 0;

  /**
   * `controller`: a qualified name such as 'example.com/operator'. `instance`: this process, such as the Pod's name. `isGone`:
   * whether a namespace is known to be deleted, or does not exist.
   */
  constructor(
    client: Client,
    {
      controller,
      instance,
      log,
      metrics,
      capacity = 1000,
      now = () => new Date(),
      isGone = () => false,
    }: {
      controller: string;
      instance: string;
      log?: Logger;
      metrics?: Pick<KitMetrics, 'eventsDropped'>;
      capacity?: number;
      now?: () => Date;
      isGone?: (namespace: string) => boolean;
    },
  ) {
    this.#client = client;
    this.#controller = controller;
    this.#instance = instance;
    this.#log = log;
    this.#metrics = metrics;
    this.#capacity = capacity;
    this.#now = now;
    this.#isGone = isGone;
  }

  record({regarding, type, reason, action, note}: EventRecord): void {
    if (this.#buffer.length >= this.#capacity) {
      this.#drop();
      return;
    }
    const {name, namespace, uid, resourceVersion} = regarding.metadata;
    const time = this.#now();
    const suffix = `${time.getTime().toString(16)}${(this.#order++ % 0x10000).toString(16).padStart(4, '0')}`;
    this.#buffer.push({
      apiVersion: 'events.k8s.io/v1',
      kind: 'Event',
      // Events of cluster-scoped objects are created in 'default', as in client-go.
      metadata: {name: `${name.slice(0, 252 - suffix.length)}.${suffix}`, namespace: namespace ?? 'default'},
      eventTime: microTime(time),
      reportingController: this.#controller,
      reportingInstance: this.#instance.slice(0, 128),
      action: action.slice(0, 128),
      reason: reason.slice(0, 128),
      type,
      note: cutToBytes(note, 1024),
      regarding: {apiVersion: regarding.apiVersion, kind: regarding.kind, namespace, name, uid, resourceVersion},
    });
    this.#writing ??= this.#write().finally(() => (this.#writing = undefined));
  }

  /** Resolves when every recorded Event has been written or dropped, or after `withinMs`. */
  async flush(withinMs: number): Promise<void> {
    if (!this.#writing) return;
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => (timer = setTimeout(resolve, withinMs)));
    await Promise.race([this.#writing, late]);
    clearTimeout(timer);
  }

  #drop(): void {
    this.#metrics?.eventsDropped.inc();
  }

  async #write(): Promise<void> {
    for (let event = this.#buffer.shift(); event; event = this.#buffer.shift()) {
      if (this.#isGone(event.metadata.namespace ?? '')) continue;
      try {
        await this.#client.create(events, event);
      } catch (error) {
        if (isNamespaceGone(error)) continue;
        this.#drop();
        this.#log?.warn({err: error, regarding: event.regarding, reason: event.reason}, 'an Event was not written');
      }
    }
  }
}

/** The longest prefix of the text with at most `bytes` bytes in UTF-8. Ends in an ellipsis if the text was cut. */
export function cutToBytes(text: string, bytes: number): string {
  const encoded = Buffer.from(text);
  if (encoded.length <= bytes) return text;
  const ellipsis = '…';
  let end = bytes - Buffer.byteLength(ellipsis);
  // Do not cut inside a character: continuation bytes are 10xxxxxx.
  while (end > 0 && (encoded[end]! & 0xc0) === 0x80) end--;
  return encoded.toString('utf8', 0, end) + ellipsis;
}

/** Calls from one thread to another, by messages: each gets one answer, in whatever order. */
import type {MessagePort, Worker} from 'node:worker_threads';

/** The methods of a thread, by name. Arguments and results are copied (structured clone). */
// oxlint-disable-next-line typescript/no-explicit-any
export type Methods = Record<string, (...args: any[]) => unknown>;

/** Rejects with the Error that the method threw. A call has no timeout: the caller must watch whether the thread lives. */
export type ThreadCall<M extends Methods> = <Name extends keyof M & string>(
  name: Name,
  ...args: Parameters<M[Name]>
) => Promise<Awaited<ReturnType<M[Name]>>>;

interface CallRequest {
  id: number;
  name: string;
  args: unknown[];
}
type CallAnswer = {id: number; result: unknown} | {id: number; error: Error};

/** Answers the calls that come by this port, from now on. */
export function answerCalls(port: MessagePort, methods: Methods): void {
  const answer = async ({id, name, args}: CallRequest): Promise<CallAnswer> => {
    try {
      return {id, result: await methods[name]!(...args)};
    } catch (error) {
      return {id, error: error as Error};
    }
  };
  port.on('message', async (asked: CallRequest) => port.postMessage(await answer(asked), []));
}

/**
 * Calls the methods of a thread that answers by {@link answerCalls}. The worker may send further messages, without an `id`, to other
 * listeners.
 */
export function callsTo<M extends Methods>(worker: Worker): ThreadCall<M> {
  const waiting = new Map<number, {resolve: (result: never) => void; reject: (error: Error) => void}>();
  let last = 0;
  worker.on('message', (message: CallAnswer | {id?: undefined}) => {
    if (message.id === undefined) return;
    const {resolve, reject} = waiting.get(message.id)!;
    waiting.delete(message.id);
    if ('error' in message) reject(message.error);
    else resolve(message.result as never);
  });
  return (name, ...args) =>
    new Promise((resolve, reject) => {
      waiting.set(++last, {resolve, reject});
      worker.postMessage({id: last, name, args} satisfies CallRequest, []);
    });
}

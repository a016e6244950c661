/** Fills objects up to the limit of their size, as a tenant may: with labels, of which there may be any number. */
import type {Client} from '../../operator/kube/client/client.ts';
import {ApiError, isTooLarge} from '../../operator/kube/errors.ts';
import type {KubeObject, Resource} from '../../operator/kube/objects.ts';

/** As long as a label's prefix may be: the fewer labels, the sooner the API server is done with them. */
const prefix = Array(4).fill('p'.repeat(62)).join('.');

const labels = (from: number, count: number, value: string | null): Record<string, string | null> =>
  Object.fromEntries(
    Array.from({length: count}, (_, i) => [
      `${prefix}/pad-${String(from + i).padStart(5, '0')}-${'x'.repeat(52)}`,
      value,
    ]),
  );

const isGivenUp = (error: unknown): boolean => error instanceof ApiError && error.status === 504;

/** So that not another label has room; `toTheByte`: nothing at all. Returns what takes the padding off again. */
export async function padToTheBrim<T extends KubeObject>(
  client: Client,
  resource: Resource<T>,
  key: string,
  {toTheByte = false} = {},
): Promise<() => Promise<void>> {
  const patch = (metadata: object) => client.patch(resource, key, {metadata}, {type: 'merge'});
  let givenUp = 0;
  const fill = async (from: number, add: (filled: number, step: number) => object): Promise<number> => {
    let filled = 0;
    for (let step = from; step >= 1; step /= 2) {
      try {
        await patch(add(filled, step));
        filled += step;
      } catch (error) {
        // A busy API server gives such a write up: the same again.
        if (isGivenUp(error) && ++givenUp < 10) step *= 2;
        else if (!isTooLarge(error)) throw error;
      }
    }
    return filled;
  };
  const count = await fill(2048, (filled, step) => ({labels: labels(filled, step, 'y'.repeat(63))}));
  if (toTheByte) await fill(4096, (filled, step) => ({annotations: {pad: 'z'.repeat(filled + step)}}));
  return async () => void (await patch({labels: labels(0, count, null), annotations: {pad: null}}));
}

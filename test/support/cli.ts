import {run} from '../../operator/cli/program.ts';
import type {Surroundings} from '../../operator/cli/surroundings.ts';
import {Client} from '../../operator/kube/client/client.ts';
import type {Credentials} from '../../operator/kube/client/credentials.ts';

export interface Ended {
  code: number;
  out: string;
  told: string;
}

/** Runs `kubectl doorplate` in this process, on a cluster, in a namespace of it. */
export async function kubectlDoorplate(
  {credentials, namespace}: {credentials: Credentials; namespace: string},
  argv: readonly string[],
  change: Partial<Surroundings> = {},
): Promise<Ended> {
  let [out, told] = ['', ''];
  const code = await run(argv, {
    out: (text) => {
      out += text;
    },
    tell: (text) => {
      told += text;
    },
    colours: false,
    read: () => Promise.reject(new Error('no file is there')),
    cluster: async () => ({namespace, client: () => new Client(credentials)}),
    now: Date.now,
    wait: (ms) => new Promise((resolve) => void setTimeout(resolve, ms)),
    ...change,
  });
  return {code, out, told};
}

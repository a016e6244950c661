import {run} from '../../operator/cli/program.ts';
import type {Surroundings} from '../../operator/cli/surroundings.ts';
import {Client} from '../../operator/kube/client/client.ts';
import type {Credentials} from '../../operator/kube/client/credentials.ts';

export interface Ended {
  code: number;
  out: string;
  told: string;
}

/** Runs `kubectl doorplate` in this process with these surroundings. Defaults: no colors, no files, no waits, time 0. */
export async function runCli(
  argv: readonly string[],
  surroundings: Pick<Surroundings, 'cluster'> & Partial<Surroundings>,
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
    read: async () => '',
    now: () => 0,
    wait: async () => {},
    ...surroundings,
  });
  return {code, out, told};
}

/** Runs `kubectl doorplate` in this process, on a cluster, in a namespace of it. */
export const kubectlDoorplate = (
  {credentials, namespace}: {credentials: Credentials; namespace: string},
  argv: readonly string[],
  change: Partial<Surroundings> = {},
): Promise<Ended> =>
  runCli(argv, {
    read: () => Promise.reject(new Error('no file is there')),
    cluster: async () => ({namespace, client: () => new Client(credentials)}),
    now: Date.now,
    wait: (ms) => new Promise((resolve) => void setTimeout(resolve, ms)),
    ...change,
  });

import {existsSync} from 'node:fs';
import {delimiter} from 'node:path';
import type {KubeConfig} from '@kubernetes/client-node';

/**
 * The kubeconfig as kubectl reads it (client-go, tools/clientcmd/loader.go): of several files in KUBECONFIG the first that names a
 * cluster, a user, a context or the current context counts, and one that is not there is passed over. client-node by itself takes the
 * last current context, and throws at a name that is there twice. `file`: that one alone. Throws what reading and parsing throws.
 */
export async function loadKubeConfig(file?: string): Promise<KubeConfig> {
  // Only here: it costs half a second and 87 MB, which a Pod and --help do not need.
  const {KubeConfig: Config} = await import('@kubernetes/client-node');
  const config = new Config();
  const named = file === undefined ? (process.env.KUBECONFIG ?? '').split(delimiter).filter((p) => p !== '') : [file];
  if (named.length === 0) {
    config.loadFromDefault();
    return config;
  }
  const there = named.filter((path) => existsSync(path));
  // Each file is read separately: paths in a file are relative to its own folder. If no file exists, the first one is reported as missing.
  const parts = (there.length > 0 ? there : named.slice(0, 1)).map((path) => {
    const part = new Config();
    part.loadFromFile(path);
    return part;
  });
  config.loadFromOptions({
    clusters: firsts(parts.flatMap(({clusters}) => clusters)),
    users: firsts(parts.flatMap(({users}) => users)),
    contexts: firsts(parts.flatMap(({contexts}) => contexts)),
    currentContext: parts.map(({currentContext}) => currentContext).find((name) => name),
  });
  return config;
}

/** Of each name the first. */
const firsts = <T extends {name: string}>(all: readonly T[]): T[] => [
  ...new Map(all.toReversed().map((one) => [one.name, one])).values(),
];

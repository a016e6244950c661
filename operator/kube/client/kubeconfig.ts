import {existsSync} from 'node:fs';
import {delimiter} from 'node:path';
import type {KubeConfig} from '@kubernetes/client-node';

/**
 * Loads the kubeconfig as kubectl does (client-go, tools/clientcmd/loader.go). With several files in KUBECONFIG, the first file
 * that defines a cluster, a user, a context or the current context wins. Missing files are skipped. client-node itself takes the
 * last current context, and throws on duplicate names. `file`: reads only that file. Throws read and parse errors.
 */
export async function loadKubeConfig(file?: string): Promise<KubeConfig> {
  // Imported lazily: it costs half a second and 87 MB, which a Pod and --help do not need.
  const {KubeConfig: Config} = await import('@kubernetes/client-node');
  const config = new Config();
  const named = file === undefined ? (process.env.KUBECONFIG ?? '').split(delimiter).filter((p) => p !== '') : [file];
  if (named.length === 0) {
    config.loadFromDefault();
    return config;
  }
  const there = named.filter((path) => existsSync(path));
  // Load each file separately: paths in a file are relative to its own folder. If no file exists, loading the first reports it as
  // missing.
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

/** The first entry of each name. */
const firsts = <T extends {name: string}>(all: readonly T[]): T[] => [
  ...new Map(all.toReversed().map((one) => [one.name, one])).values(),
];

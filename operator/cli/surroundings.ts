/** The surroundings of commands, so that tests can replace them. */
import type {Client} from '../kube/client/client.ts';

export interface Surroundings {
  /** Writes requested output alone, so that it can be piped. */
  out: (text: string) => void;
  /** For everything else that people read. */
  tell: (text: string) => void;
  /** Whether `out` is a terminal that shows colours. */
  colours: boolean;
  /** The text of a file; `-` is stdin. Throws what node:fs throws. */
  read: (file: string) => Promise<string>;
  /** The cluster that the user's kubeconfig names. Nothing is asked of it before `client` is called. Throws CommandError. */
  cluster: (options: ClusterOptions) => Promise<Cluster>;
  now: () => number;
  wait: (ms: number) => Promise<void>;
}

export interface ClusterOptions {
  kubeconfig?: string;
  context?: string;
  /** The user to act as, and the groups of that user. */
  as?: string;
  asGroup?: string[];
}

export interface Cluster {
  /** Of the context; `default` where it names none. */
  namespace: string;
  client: () => Client;
}

/** A command's requests to the cluster, in one namespace. */
export interface Connection {
  namespace: string;
  client: Client;
}

/** Calls `use` with the namespace that was asked for, or the context's, and closes the connections after it. */
export async function connected<T>(
  options: ClusterOptions & {namespace?: string},
  around: Surroundings,
  use: (connection: Connection) => Promise<T>,
): Promise<T> {
  const cluster = await around.cluster(options);
  const client = cluster.client();
  try {
    return await use({client, namespace: options.namespace ?? cluster.namespace});
  } finally {
    await client.close();
  }
}

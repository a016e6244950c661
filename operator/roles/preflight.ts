/** The inputs of the preflight, from the settings and the cluster, and the command that runs it once. */
import {EdgeAddresses} from '../controllers/state/edge-addresses.ts';
import {readIssuer} from '../controllers/state/issuer.ts';
import type {Certificate} from '../api/foreign.ts';
import type {Client} from '../kube/client/client.ts';
import {isKindMissing} from '../kube/errors.ts';
import {ownedSelector} from '../resources/labels.ts';
import {certificates, services} from '../resources/resources.ts';
import {resolveAddresses} from '../dns/addresses.ts';
import type {PreflightWorld} from '../preflight/question.ts';
import {askAll, report} from '../preflight/questions.ts';
import {resolversOf} from './looks.ts';
import type {RoleParts} from './parts.ts';

type Asking = Pick<RoleParts, 'config' | 'client'>;

/** `known`: returns Doorplate's Certificates from a cache. Without `known`, the function reads a sample. */
export const worldOf = (
  {config, client}: Asking,
  edgeAddresses: PreflightWorld['edgeAddresses'],
  known?: () => readonly Certificate[],
): PreflightWorld => ({
  settings: config.settings,
  edgeAddresses,
  resolvers: resolversOf(config.settings),
  hasCertManager: () => client.serves(certificates),
  issuers: config.policy.issuers,
  readIssuer: (issuerRef, signal) => readIssuer({client, issuerRef, namespace: config.namespace}, signal),
  certificates: async (signal) => known?.() ?? (await sampleOf(client, signal)),
});

/** Doorplate's first Certificates. Thousands may exist. */
async function sampleOf(client: Client, signal: AbortSignal): Promise<readonly Certificate[]> {
  try {
    for await (const {items} of client.pages(certificates, {labelSelector: ownedSelector, limit: 100, signal}))
      return items;
  } catch (error) {
    if (!isKindMissing(error)) throw error;
  }
  return [];
}

/** Prints what was asked and seen. Resolves with the exit code: 1 when a question failed. */
export async function preflight(
  parts: Asking & Pick<RoleParts, 'log'>,
  print: (text: string) => unknown = (text) => process.stdout.write(text),
): Promise<number> {
  const {signal} = new AbortController();
  const edgeAddresses = await edgeOnce(parts);
  edgeAddresses.start();
  await edgeAddresses.synced;
  edgeAddresses.stop();
  const answers = await askAll(worldOf(parts, edgeAddresses), signal);
  print(report(answers));
  return answers.some(({outcome}) => outcome === 'failed') ? 1 : 0;
}

/** The edge's addresses by one reading of its Services, in place of a watch. */
async function edgeOnce({config: {settings}, client, log}: Asking & Pick<RoleParts, 'log'>): Promise<EdgeAddresses> {
  const {edge} = settings;
  const named = [edge.service, ...edge.probe.flatMap((at) => ('service' in at ? at.service : []))];
  const keys = named.flatMap(({namespace, name}) => (name === '' ? [] : `${namespace}/${name}`));
  const read = new Map(await Promise.all(keys.map(async (key) => [key, await client.get(services, key)] as const)));
  return new EdgeAddresses({
    edge,
    services: {get: (key) => read.get(key), onChange: () => {}, synced: Promise.resolve()},
    resolve: (hostname, signal) => resolveAddresses(resolversOf(settings), hostname, {signal}),
    log,
  });
}

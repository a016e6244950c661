import {env, sh} from '../../cluster/cluster.ts';

/** Where the second edge is, which the tests of test/faults/two-edges bring up. */
export const secondEdge = '10.96.0.16';

const long = process.env.LONG === '1';
/**
 * The budget of the ACME account: 50 orders in any 12 s, so that 200 domains are through in a minute. MINUTE=1: 50 in any minute;
 * LONG=1: 1,000 domains, too.
 */
export const orderBudget = {
  domains: long ? 1000 : 200,
  limit: 50,
  windowMs: long || process.env.MINUTE === '1' ? 60_000 : 12_000,
};

/** What the tests of test/faults/two-edges share: an edge of two addresses, a small budget, and no certificates but those that are asked for. */
export const twoEdges = () => [
  `edge.probe={${env().nodeIp},${secondEdge}}`,
  'platform.tls=Wildcard',
  `budgets.account[0].limit=${orderBudget.limit}`,
  `budgets.account[0].per=${orderBudget.windowMs / 1000}s`,
];

/** An edge that its Service alone tells. The tests of test/faults/edge-service make the Service. */
export const edgeByService = () => ['edge.addresses=null', 'edge.service.namespace=traefik', 'edge.service.name=edge'];

interface Installed {
  edge?: {probe?: string[]; service?: {name?: string}};
}

const installed = async (): Promise<Installed> =>
  JSON.parse(await sh('helm', ['get', 'values', 'doorplate', '-n', 'doorplate-system', '-o', 'json'])) as Installed;

const otherwise = (edge: string): Error =>
  new Error(`Doorplate is not installed with ${edge}: SUITES=faults make test, which ends with the usual installation`);

/** Throws where Doorplate is installed otherwise. */
export async function withTwoEdges(): Promise<void> {
  if (!(await installed()).edge?.probe?.includes(secondEdge)) throw otherwise('two edges');
}

/** Throws where Doorplate is installed otherwise. */
export async function withEdgeByService(): Promise<void> {
  if ((await installed()).edge?.service?.name !== 'edge') throw otherwise('an edge by its Service');
}

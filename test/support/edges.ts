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

/** Throws where Doorplate is installed otherwise. */
export async function withTwoEdges(): Promise<void> {
  const values = await sh('helm', ['get', 'values', 'doorplate', '-n', 'doorplate-system', '-o', 'json']);
  const {edge} = JSON.parse(values) as {edge?: {probe?: string[]}};
  if (edge?.probe?.includes(secondEdge)) return;
  throw new Error(
    'Doorplate is not installed with two edges: SUITES=faults make test, which ends with the usual installation',
  );
}

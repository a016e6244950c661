import {env} from '../../cluster/cluster.ts';
import {mustBeInstalled} from './release.ts';

/** Where the second edge is, which the tests of test/faults/two-edges bring up. */
export const secondEdge = '10.96.0.16';

const long = process.env.LONG === '1';
/**
 * The budget of the ACME account: a bucket of 20 orders that regains one in 0.6 s, so that 80 domains need 36 s or more. MINUTE=1: one in
 * 3 s. LONG=1: 1,000 domains, a bucket of 50 orders, one in 1.2 s.
 */
export const orderBudget = {
  domains: long ? 1000 : 80,
  limit: long ? 50 : 20,
  windowMs: long || process.env.MINUTE === '1' ? 60_000 : 12_000,
};

/** What the tests of test/faults/two-edges share: an edge of two addresses, a small budget, and no certificates but those that are asked for. */
export const twoEdges = () => [
  `edge.probe={${env().nodeIp},${secondEdge}}`,
  'platform.tls=Wildcard',
  `budgets.account[0].limit=${orderBudget.limit}`,
  `budgets.account[0].per=${orderBudget.windowMs / 1000}s`,
];

/** An edge that its Service alone tells, watched in a hurry. test/faults/edge-service and test/faults/edge-drift create the Service. */
export const edgeByService = () => [
  'edge.addresses=null',
  'edge.service.namespace=traefik',
  'edge.service.name=edge',
  'edge.faultConfirmations={2s,4s,8s}',
];

/** Throws where Doorplate is installed otherwise. */
export const withTwoEdges = (): Promise<void> =>
  mustBeInstalled('with two edges', 'faults', ({edge}) => edge?.probe?.includes(secondEdge) === true);

/** Throws where Doorplate is installed otherwise. */
export const withEdgeByService = (): Promise<void> =>
  mustBeInstalled('with an edge by its Service', 'faults', ({edge}) => edge?.service?.name === 'edge');

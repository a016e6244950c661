/** Rows about an operator that ends, on a platform of many Live domains: P6 a start, P7 another one that takes over. */
import {eventually} from '../support/kube-api.ts';
import {home} from '../support/platform.ts';
import {leases} from '../../operator/kube/leader/lease.ts';
import {isEvent, isLease} from './audit.ts';
import type {FixtureRow} from './live.ts';
import type {Fixture} from './fixture.ts';
import {type OperatorProcess, operatorUser} from './operator-process.ts';
import {printTable, seconds} from './table.ts';

export const restart: FixtureRow = async ({say}, fixture) => {
  const {world, domains} = fixture;
  await fixture.operator.quiet();
  await fixture.operator.kill();
  const mark = await world.audit.mark();
  fixture.operator = await world.operator();
  const {restedAfterMs, cpuMs, longestBlockMs} = await fixture.operator.rested;
  const writes = (await world.audit.since(mark, operatorUser)).filter((w) => !isLease(w) && !isEvent(w));
  printTable([
    [`P6, killed with ${domains} Ready domains, no election`, 'reach', 'measured'],
    ['from the start of the process until it rests', '5 s', seconds(restedAfterMs)],
    ['CPU of the process until then', '', seconds(cpuMs)],
    ['writes', '0', String(writes.length)],
    ['the event loop was blocked for at most', '100 ms', `${longestBlockMs.toFixed(0)} ms`],
  ]);
  const well = restedAfterMs <= 5000 && writes.length === 0 && longestBlockMs <= 100;
  say(`P6: ${well ? 'reached' : 'MISSED'}`);
  return well;
};

const lease = 'doorplate-operator';
const elected = {leaderElection: {enabled: true, lease}};

/** Who leads of these, once one does. */
async function leaderOf(operators: readonly OperatorProcess[]): Promise<OperatorProcess> {
  return (await eventually(async () => {
    for (const operator of operators)
      if ((await operator.metric('leader_election_master_status')) === 1) return operator;
    return false;
  })) as OperatorProcess;
}

/** From when the leader ends until the other one holds the lease, ms. */
async function takeOverMs({world}: Fixture, end: () => Promise<void>): Promise<number> {
  const holder = async () => (await world.client.get(leases, `${home}/${lease}`))?.spec?.holderIdentity;
  const before = await holder();
  const began = performance.now();
  const ended = end();
  await eventually(async () => {
    const now = await holder();
    return now !== undefined && now !== '' && now !== before;
  });
  const ms = performance.now() - began;
  await ended;
  return ms;
}

export const election: FixtureRow = async ({say}, fixture) => {
  const {world} = fixture;
  await fixture.operator.stop();
  const operators = [await world.operator(elected), await world.operator(elected)];
  const first = await leaderOf(operators);
  const second = operators.find((operator) => operator !== first)!;
  const crash = await takeOverMs(fixture, () => first.kill());
  const third = await world.operator(elected);
  await leaderOf([second]);
  const inOrder = await takeOverMs(fixture, () => second.stop());
  await third.stop();
  fixture.operator = await world.operator();
  printTable([
    ['P7, until another one leads', 'reach', 'measured'],
    ['after a crash', '17 s', seconds(crash)],
    ['after a stop in order', '3 s', seconds(inOrder)],
  ]);
  const well = crash <= 17_000 && inOrder <= 3000;
  say(`P7: ${well ? 'reached' : 'MISSED'}`);
  return well;
};

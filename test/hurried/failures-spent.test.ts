/** Issuance that has failed too often: the budget of failures. */
import {afterAll, beforeAll, expect, test} from '@jest/globals';
import {roomAt, takenAt} from '../../operator/domain/certificates/bucket.ts';
import {certificates} from '../../operator/resources/resources.ts';
import {eventually} from '../../cluster/cluster.ts';
import {failingOrder, failuresOf} from '../support/failing.ts';
import {hurried} from '../support/hurried.ts';
import {statusesOf} from '../support/requests.ts';
import {Tenant} from '../support/tenant.ts';

/** That of `hurry`: two attempts of a slow machine fail in it. A failure is forgiven each 90 s. */
const limits = [{limit: 2, perMs: 180_000}];
/** Kubernetes' times have no fractions. */
const second = 1000;

let tenant: Tenant;
beforeAll(async () => {
  await hurried();
  tenant = await Tenant.create('spent');
});
afterAll(async () => {
  await tenant?.remove();
});

/** On a slow machine cert-manager sometimes loses the reason of the CA (see `isLost` in failures.test.ts). */
test('failures spend the budget of the hostname: its Certificate goes, the time is told, and then it is tried again by itself', async () => {
  const {hostname, mend} = await failingOrder(tenant);
  // Once more is allowed.
  await tenant.verify('site');
  const spent = await tenant.reason('site', 'IssuanceBudgetExhausted');
  console.log(spent.status?.hosts?.[0]?.message);
  expect(spent.status?.hosts?.[0]).toMatchObject({
    phase: 'Verified',
    waitingFor: 'Platform',
    message: expect.stringMatching(
      /at most 2 in 3 minutes\). Doorplate tries again after .* UTC. The last failure: .*acme:error:(connection|malformed: Cannot update challenge)/,
    ),
  });
  expect(spent.status?.conditions?.find((c) => c.type === 'Stalled')).toMatchObject({
    status: 'True',
    reason: 'IssuanceBudgetExhausted',
  });
  await eventually(
    'the Certificate is gone',
    async () => (await tenant.children(spent.metadata.uid ?? '', certificates)).length === 0,
  );
  const gone = new Date();
  await tenant.verify('site');
  await mend();
  await tenant.wait('site', 'Live');
  const failures = await failuresOf(hostname);
  const [request] = await tenant.requests('site');
  // Whatever was tried, there had been room for it: on a slow machine a third attempt may have failed before all was mended.
  const tried = [...failures.map((f) => f.at), request?.metadata.creationTimestamp ?? ''].map((at) => Date.parse(at));
  const ended = failures.map((f) => Date.parse(f.endedAt ?? ''));
  /** When the budget had room again after the failures until a time. */
  const roomAfter = (at: number) =>
    roomAt(
      takenAt(
        ended.filter((end) => end <= at),
        limits,
        at - 2 * limits[0]!.perMs,
      ),
      limits,
      at,
    );
  expect(failures.length).toBeGreaterThanOrEqual(2);
  expect(tried.filter((at) => roomAfter(at) > at + second)).toEqual([]);
  // Whoever asked before there was room was told the same.
  const room = roomAfter(ended[1]!);
  const said = (await statusesOf(`${tenant.namespace}/site`, gone)).filter((s) => s.at < room);
  expect(said.filter((s) => s.status.hosts?.[0]?.reason !== 'IssuanceBudgetExhausted')).toEqual([]);
});

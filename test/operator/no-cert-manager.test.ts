/** An operator that starts before cert-manager is installed, on a real API server without cert-manager's kinds. */
import {afterAll, beforeAll, expect, test} from '@jest/globals';
import {isKindMissing} from '../../operator/kube/errors.ts';
import type {KubeObject, Resource} from '../../operator/kube/objects.ts';
import {events} from '../../operator/kube/writes/events.ts';
import {certificateRequests, certificates, customDomains} from '../../operator/resources/resources.ts';
import {Customer} from '../support/customer.ts';
import {crds, eventually} from '../support/kube-api.ts';
import {RunningOperator} from '../support/operator.ts';
import {home, installKinds, Platform, standIns} from '../support/platform.ts';

const kinds = standIns().filter(({metadata: {name}}) => /^certificate(request)?s\.cert-manager\.io$/.test(name));

let platform: Platform;
let operator: RunningOperator;
beforeAll(async () => {
  platform = await Platform.start();
  await Promise.all(kinds.map(({metadata: {name}}) => platform.client.delete(crds, name)));
  for (const kind of [certificates, certificateRequests]) {
    const isGone = () =>
      platform.client.list<KubeObject>(kind as Resource<KubeObject>).then(() => false, isKindMissing);
    await eventually(isGone);
  }
});
afterAll(async () => {
  await operator?.stop();
  await platform?.stop();
});

test('Without cert-manager the operator starts, says so, and removes hostnames; it issues once cert-manager is installed', async () => {
  operator = await RunningOperator.start(platform, {leaderElection: {enabled: true}});
  const notes = async () =>
    (await platform.client.list(events, {namespace: home})).items.map(({reason, note}) => `${reason}: ${note}`);
  await eventually(async () =>
    (await notes()).some((note) => /^PreflightFailed: .* cert-manager is not installed: .* Install it/.test(note)),
  );

  const customer = await Customer.deployed(platform);
  const [www, other] = [customer.host('www'), customer.host('other')];
  await customer.point([www, other]);
  await customer.attach('web', www, [other]);
  const refused = {[www]: 'Verified WriteRefused', [other]: 'Verified WriteRefused'};
  expect(await operator.comesTo(() => customer.hosts('web'), refused)).toEqual(refused);
  const [entry] = (await customer.domain('web'))!.status!.hosts!;
  expect(entry).toMatchObject({
    message: expect.stringContaining('cert-manager is not installed: the cluster has no kind Certificate. Install it'),
    waitingFor: 'Platform',
  });

  const left = {[www]: 'Verified WriteRefused'};
  await customer.change(customDomains, 'web', {spec: {redirects: null}});
  expect(await operator.comesTo(() => customer.hosts('web'), left)).toEqual(left);
  await customer.remove(customDomains, 'web');
  expect(await operator.comesTo(() => customer.domain('web'), undefined)).toBeUndefined();

  await customer.attach('again', www);
  expect(await operator.comesTo(() => customer.hosts('again'), left)).toEqual(left);
  await installKinds(platform.client, [], kinds);
  // Refused writes are tried again each minute.
  await eventually(async () => (await customer.hosts('again'))[www] === 'Live Serving', 90_000);
}, 180_000);

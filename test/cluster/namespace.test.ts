/** Rule 5: a namespace that goes. */
import {afterAll, beforeAll, describe, expect, test} from '@jest/globals';
import {api, apply, eventually, kubectl, patienceMs} from '../../cluster/cluster.ts';
import {namespaces} from '../../operator/resources/resources.ts';
import {Tenant, claimOf} from '../support/tenant.ts';
import {stopped} from '../support/visitor.ts';

let other: Tenant;
beforeAll(async () => {
  other = await Tenant.create('other');
});
afterAll(async () => {
  await other?.remove();
});

describe('a namespace', () => {
  test('that is deleted goes with its routes, its claims in quarantine; one of its name inherits neither its hostname nor its default host', async () => {
    const gone = await Tenant.create('gone');
    const hostname = gone.host('www');
    await gone.record('www', gone.proof);
    await gone.attach('site', hostname);
    await gone.wait('site', 'Ready');
    const began = Date.now();
    await kubectl(['delete', 'namespace', gone.namespace, '--wait=false']);
    // Kubernetes asks about every kind there is, a few a second: minutes on a busy machine.
    await eventually(
      'the namespace is gone',
      async () => (await api().get(namespaces, gone.namespace)) === undefined,
      3 * patienceMs,
    );
    console.log(`a namespace with a Live hostname was gone after ${((Date.now() - began) / 1000).toFixed(1)} s`);
    await eventually(
      'its claim is in quarantine',
      async () => (await claimOf(hostname))?.status?.quarantinedUntil !== undefined,
    );
    await stopped(hostname);

    // Somebody makes a namespace of that name, and the platform gives it to another account.
    await kubectl(['create', 'namespace', gone.namespace]);
    await gone.belongsTo(other.namespace);
    await apply([...gone.backend('web'), gone.project('web')]);
    const project = await eventually('the Project of the same name is deployed', async () => {
      const p = await gone.getProject('web');
      return p?.status?.firstDeployTime !== undefined && p;
    });
    expect(project.status?.host).not.toBe(gone.target);
    // That host is made of its tenant: nobody else can have it, so no claim need remember it.
    await eventually('its claim is gone', async () => (await claimOf(gone.target)) === undefined);
    await gone.attach('site', hostname);
    // The record names the host that is no longer.
    await gone.reason('site', 'TargetMismatch');
    expect((await claimOf(hostname))?.spec.tenant).toEqual({account: gone.namespace});
    await gone.remove();
  });
});

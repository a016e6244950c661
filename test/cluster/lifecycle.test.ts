import {afterAll, beforeAll, describe, expect, test} from '@jest/globals';
import {acmeRoot, api, eventually, fetchEdge, kubectl} from '../../cluster/cluster.ts';
import {certificates, customDomains, ingresses} from '../../operator/resources/resources.ts';
import type {Resource} from '../../operator/kube/objects.ts';
import {statusesOf} from '../support/requests.ts';
import {Tenant} from '../support/tenant.ts';
import {redirected} from '../support/visitor.ts';

/** For what takes some 0.1 s on a machine of one's own (the figures are printed), and minutes where nothing but a timer sees to it. */
const atOnceMs = 60_000;
const median = (figures: readonly number[]) => figures.toSorted((a, b) => a - b)[figures.length >> 1]!;

let tenant: Tenant;
let ca: string;
beforeAll(async () => {
  tenant = await Tenant.create('life');
  ca = await acmeRoot();
});
afterAll(async () => {
  await tenant?.remove();
});

describe('a CustomDomain from its creation to its removal', () => {
  test('its default columns fit 120 characters with a hostname of 40', async () => {
    const primary = tenant.host('a'.repeat(40 - 1 - tenant.zone.length));
    expect(primary).toHaveLength(40);
    await tenant.attach('docs', primary);
    await tenant.reason('docs', 'RecordMissing');
    const table = (await kubectl(['get', 'customdomains', '-n', tenant.namespace])).trimEnd().split('\n');
    expect(table[0]?.split(/\s+/)).toEqual(['NAME', 'PRIMARY', 'PHASE', 'HOSTS', 'READY', 'REASON', 'AGE']);
    expect(table[1]?.split(/\s+/).slice(0, 6)).toEqual([
      'docs',
      primary,
      'AwaitingVerification',
      '0/1',
      'False',
      'RecordMissing',
    ]);
    // The widest reason that goes with the widest phase.
    const widest =
      Math.max(...table.map((l) => l.trimEnd().length)) + 'AuthoritativeUnreachable'.length - 'RecordMissing'.length;
    console.log(`the columns are at most ${widest} characters wide`);
    expect(widest).toBeLessThanOrEqual(120);
    const wide = (await kubectl(['get', 'dpdom', '-n', tenant.namespace, '-o', 'wide'])).split('\n')[0]?.split(/\s+/);
    expect(wide?.slice(-6)).toEqual(['AGE', 'WAITING-FOR', 'SINCE', 'WAITING', 'TARGET', 'MESSAGE']);
    await kubectl(['delete', 'customdomain', '-n', tenant.namespace, 'docs']);
  });

  test('kubectl waits for Verified, Live and Ready, and the Events tell the story', async () => {
    await tenant.attach('site', tenant.host('www'), [{from: tenant.host('old'), status: 308}]);
    await tenant.records({www: tenant.proof, old: tenant.proof});
    await tenant.wait('site', 'Verified');
    await tenant.wait('site', 'Live');
    await tenant.wait('site', 'Ready');
    const domain = await tenant.get('site');
    expect(domain?.status).toMatchObject({
      phase: 'Live',
      hostsLive: '2/2',
      attachedHostnames: 2,
      liveHostnames: 2,
      observedGeneration: domain?.metadata.generation,
    });
    expect(domain?.status?.dnsRecords).toEqual([
      {
        hostname: tenant.host('www'),
        type: 'CNAME',
        name: 'www',
        zone: tenant.zone,
        value: tenant.target,
        ttl: 3600,
        state: 'Found',
      },
      {
        hostname: tenant.host('old'),
        type: 'CNAME',
        name: 'old',
        zone: tenant.zone,
        value: tenant.target,
        ttl: 3600,
        state: 'Found',
      },
    ]);
    expect((await fetchEdge(`https://${tenant.host('www')}/`, {ca})).body).toBe(`hello from ${tenant.namespace}/web\n`);
    await redirected(`https://${tenant.host('old')}/p?q`, 308, `https://${tenant.host('www')}/p?q`, ca);
    const told = async () =>
      (
        await kubectl([
          'get',
          'events',
          '-n',
          tenant.namespace,
          '--sort-by=.eventTime',
          '--field-selector',
          'involvedObject.kind=CustomDomain,involvedObject.name=site',
          '-o',
          'jsonpath={range .items[*]}{.reason} {.message}{"\\n"}{end}',
        ])
      )
        .trim()
        .split('\n');
    // Written after the status: one for all that has changed in it.
    const tells = (phase: string, label: string) => async () =>
      (await told()).some((event) => event.includes(phase) && event.includes(tenant.host(label)));
    for (const phase of ['Verified', 'Live'])
      for (const label of ['www', 'old']) await eventually(`an Event says ${phase} of ${label}`, tells(phase, label));
  });

  test('a request on the challenge path of a host that redirects is never redirected', async () => {
    for (const scheme of ['http', 'https']) {
      const reply = await fetchEdge(`${scheme}://${tenant.host('old')}/.well-known/acme-challenge/token`);
      expect(reply).toMatchObject({status: 404, location: undefined});
    }
  });

  test('a check that is asked for is answered, once for each new value', async () => {
    const [before, began] = [(await tenant.get('site'))!, new Date()];
    await kubectl([
      'annotate',
      'customdomain',
      '-n',
      tenant.namespace,
      'site',
      'doorplate.dev/requestedAt=2026-01-01T00:00:00Z',
    ]);
    const handled = (at: string) =>
      eventually(
        `the check asked for at ${at} is answered`,
        async () => (await tenant.get('site'))?.status?.lastHandledReconcileAt === at,
      );
    await handled('2026-01-01T00:00:00Z');
    await kubectl([
      'annotate',
      'customdomain',
      '-n',
      tenant.namespace,
      'site',
      'reconcile.fluxcd.io/requestedAt=2026-01-02T00:00:00Z',
    ]);
    await handled('2026-01-02T00:00:00Z');
    // Taking the annotations off asks for nothing.
    await kubectl([
      'annotate',
      'customdomain',
      '-n',
      tenant.namespace,
      'site',
      'doorplate.dev/requestedAt-',
      'reconcile.fluxcd.io/requestedAt-',
    ]);
    await new Promise((resolve) => {
      setTimeout(resolve, 2000);
    });
    const written = await statusesOf(`${tenant.namespace}/site`, began);
    expect(written.map((w) => w.status.lastHandledReconcileAt)).toEqual([
      '2026-01-01T00:00:00Z',
      '2026-01-02T00:00:00Z',
    ]);
    expect(written.map((w) => w.status.hosts)).toEqual([before.status?.hosts, before.status?.hosts]);
  });

  test('an edited or deleted Ingress or Certificate is restored at once', async () => {
    const uid = (await tenant.get('site'))?.metadata.uid ?? '';
    const edits = {
      ingresses: ['/spec/rules/0/host', 'evil.example.com'],
      certificates: ['/spec/privateKey/rotationPolicy', 'Never'],
    } as const;
    const took: number[] = [];
    for (const resource of [ingresses, certificates] as Resource[]) {
      const [path, value] = edits[resource.plural as keyof typeof edits];
      for (const key of await tenant.children(uid, resource)) {
        const spec = async () => {
          const found = await api().get(resource, key);
          return found && !found.metadata.deletionTimestamp && JSON.stringify((found as {spec?: object}).spec);
        };
        const wanted = await spec();
        for (const harm of [
          () => api().patch(resource, key, [{op: 'replace', path, value}], {type: 'json'}),
          () => api().delete(resource, key),
        ]) {
          await harm();
          const began = Date.now();
          await eventually(
            `${resource.kind} ${key} is as it was`,
            async () => (await spec()) === wanted,
            undefined,
            10,
          );
          took.push(Date.now() - began);
        }
      }
    }
    console.log(`restored after ${took.toSorted((a, b) => a - b).join(', ')} ms`);
    expect(took).toHaveLength(8);
    expect(median(took)).toBeLessThan(atOnceMs);
  });

  test('deleting it stops the traffic at once and leaves no Ingress and no Certificate', async () => {
    const uid = (await tenant.get('site'))?.metadata.uid ?? '';
    expect(await tenant.children(uid, ingresses)).toHaveLength(2);
    expect(await tenant.children(uid, certificates)).toHaveLength(2);
    const served = async () => {
      const replies = await Promise.all(
        [tenant.host('www'), tenant.host('old')].map((h) => fetchEdge(`https://${h}/`)),
      );
      return replies.some((r) => r.status !== 404);
    };
    expect(await served()).toBe(true);
    const began = Date.now();
    await api().delete(customDomains, `${tenant.namespace}/site`);
    await eventually('the edge serves neither', async () => !(await served()), undefined, 10);
    const ms = Date.now() - began;
    console.log(`the edge stopped serving ${ms} ms after the deletion was sent (ingress throttle 100 ms)`);
    expect(ms).toBeLessThan(atOnceMs);
    await kubectl(['wait', 'customdomain/site', '-n', tenant.namespace, '--for=delete', '--timeout=300s']);
    expect(await tenant.children(uid, ingresses)).toEqual([]);
    expect(await tenant.children(uid, certificates)).toEqual([]);
  });
});

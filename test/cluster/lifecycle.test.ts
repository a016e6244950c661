import {afterAll, beforeAll, describe, expect, test} from '@jest/globals';
import {acmeRoot, api, apply, eventually, fetchEdge, kubectl} from '../../cluster/cluster.ts';
import {certificateRequests, certificates, customDomains, ingresses} from '../../operator/controllers/resources.ts';
import type {Resource} from '../../operator/kube/objects.ts';
import {objectNameOf} from '../../operator/domain/hostname.ts';
import {Tenant} from '../support/tenant.ts';
import {redirected} from '../support/visitor.ts';

/** For what takes a second on a machine of one's own: the figures are printed. */
const generousMs = 30_000;

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
    const wide = (await kubectl(['get', 'cdom', '-n', tenant.namespace, '-o', 'wide'])).split('\n')[0]?.split(/\s+/);
    expect(wide?.slice(-3)).toEqual(['AGE', 'TARGET', 'MESSAGE']);
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
          'jsonpath={range .items[*]}{.reason}{"\\n"}{end}',
        ])
      )
        .trim()
        .split('\n');
    // Written after the status, in order.
    await eventually('the last Event is there', async () => (await told()).filter((r) => r === 'Live').length === 2);
    const events = await told();
    // Before that, what the first check saw, where it came before the records.
    expect(events.slice(events.indexOf('Verified')).toSorted()).toEqual(['Live', 'Live', 'Verified', 'Verified']);
  });

  test('a request on the challenge path of a host that redirects is never redirected', async () => {
    for (const scheme of ['http', 'https']) {
      const reply = await fetchEdge(`${scheme}://${tenant.host('old')}/.well-known/acme-challenge/token`);
      expect(reply).toMatchObject({status: 404, location: undefined});
    }
  });

  test('a check that is asked for is answered, once for each new value', async () => {
    const before = (await tenant.get('site'))!;
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
    const after = (await tenant.get('site'))!;
    expect(after.status?.hosts).toEqual(before.status?.hosts);
  });

  test('an edited or deleted Ingress or Certificate is restored within a second', async () => {
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
            generousMs,
            10,
          );
          took.push(Date.now() - began);
        }
      }
    }
    console.log(`restored after ${took.toSorted((a, b) => a - b).join(', ')} ms`);
    expect(took).toHaveLength(10);
  });

  test('deleting it stops the traffic within a second and leaves no Ingress and no Certificate', async () => {
    const uid = (await tenant.get('site'))?.metadata.uid ?? '';
    expect(await tenant.children(uid, ingresses)).toHaveLength(3);
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
    await eventually('the edge serves neither', async () => !(await served()), generousMs, 10);
    const ms = Date.now() - began;
    console.log(`the edge stopped serving ${ms} ms after the deletion was sent (ingress throttle 100 ms)`);
    await kubectl(['wait', 'customdomain/site', '-n', tenant.namespace, '--for=delete', '--timeout=300s']);
    expect(await tenant.children(uid, ingresses)).toEqual([]);
    expect(await tenant.children(uid, certificates)).toEqual([]);
  });
});

test('a hostname whose CertificateRequest has been cleaned away goes Live all the same, with no second order', async () => {
  const [www, old] = [tenant.host('lost'), tenant.host('old-lost')];
  await tenant.record('old-lost', tenant.proof);
  await tenant.attach('lost', www, [{from: old}]);
  const {
    metadata: {uid = ''},
  } = await tenant.hosts('lost', [`${www} AwaitingVerification RecordMissing`, `${old} Verified WaitingForPrimary`]);
  const [key = ''] = await tenant.children(uid, certificates);
  await kubectl([
    'wait',
    `certificate/${key.split('/')[1]}`,
    '-n',
    key.split('/')[0]!,
    '--for=condition=Ready',
    '--timeout=300s',
  ]);
  const [request = ''] = await tenant.children(uid, certificateRequests);
  await api().delete(certificateRequests, request);
  await tenant.record('lost', tenant.proof);
  await tenant.verify('lost');
  await tenant.hosts('lost', [`${www} Live Serving`, `${old} Live Redirecting`]);
  await redirected(`https://${old}/x`, 301, `https://${www}/x`, ca);
  // The primary's.
  expect(await tenant.children(uid, certificateRequests)).toEqual([expect.stringMatching(`^${tenant.namespace}/`)]);
  await kubectl(['delete', 'customdomain', '-n', tenant.namespace, 'lost']);
});

test('an Ingress whose deletion a tenant holds up goes all the same when its CustomDomain is deleted', async () => {
  const [www, old] = [tenant.host('held'), tenant.host('kept')];
  await tenant.records({held: tenant.proof, kept: tenant.proof});
  await tenant.attach('held', www, [{from: old}]);
  await tenant.wait('held', 'Ready');
  const uid = (await tenant.get('held'))?.metadata.uid ?? '';
  const name = (await tenant.children(uid, ingresses)).find((i) => i.startsWith(tenant.namespace))?.split('/')[1] ?? '';
  const get = () => kubectl(['get', 'ingress', '-n', tenant.namespace, name, '-o', 'json', '--ignore-not-found']);
  // A dependent that never goes: deleted in the foreground, its owner waits for it.
  const ingress = JSON.parse(await get()) as {apiVersion: string; kind: string; metadata: {name: string; uid: string}};
  await apply([
    {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: {
        name: 'holds',
        namespace: tenant.namespace,
        finalizers: ['test.doorplate.dev/held'],
        ownerReferences: [
          {
            apiVersion: ingress.apiVersion,
            kind: ingress.kind,
            name,
            uid: ingress.metadata.uid,
            blockOwnerDeletion: true,
          },
        ],
      },
    },
  ]);
  await new Promise((resolve) => {
    setTimeout(resolve, 2000);
  }); // The garbage collector reads of it by a watch of its own.
  try {
    await eventually('the Ingress waits for its dependent', async () => {
      await kubectl(['delete', 'ingress', '-n', tenant.namespace, name, '--cascade=foreground', '--wait=false']);
      return (
        await kubectl(['get', 'ingress', '-n', tenant.namespace, name, '-o', 'jsonpath={.metadata.finalizers}'])
      ).includes('foregroundDeletion');
    });
    expect((await fetchEdge(`https://${www}/`, {ca})).status).toBe(200);
    await kubectl(['delete', 'customdomain', '-n', tenant.namespace, 'held']);
    await eventually('the edge stops serving it', async () => (await fetchEdge(`https://${www}/`)).status === 404);
    expect(await get()).toBe('');
  } finally {
    await kubectl([
      'patch',
      'configmap',
      '-n',
      tenant.namespace,
      'holds',
      '--type=merge',
      '-p',
      '{"metadata":{"finalizers":null}}',
    ]);
  }
});

test('an object of the name that Doorplate will need, made by somebody else, is left alone and reported; when it goes, the hostname goes on', async () => {
  const www = tenant.host('taken');
  await tenant.attach('taken', www);
  const uid = (await tenant.reason('taken', 'RecordMissing')).metadata.uid ?? '';
  const name = objectNameOf(uid, www);
  const theirs = {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'Ingress',
    metadata: {name, namespace: tenant.namespace},
    spec: {defaultBackend: {service: {name: 'web', port: {number: 80}}}},
  };
  await kubectl(['create', '-f', '-'], {input: JSON.stringify(theirs)});
  // The edge may write its status.
  const content = () =>
    kubectl([
      'get',
      'ingress',
      '-n',
      tenant.namespace,
      name,
      '-o',
      'jsonpath={.metadata.uid} {.metadata.generation} {.metadata.labels} {.metadata.annotations} {.metadata.ownerReferences}',
    ]);
  const before = await content();
  await tenant.record('taken', tenant.proof);
  const domain = await tenant.reason('taken', 'NameTaken');
  expect(domain.status?.hosts?.[0]).toMatchObject({phase: 'Verified', waitingFor: 'Platform'});
  expect(domain.status?.hosts?.[0]?.message).toContain(`Ingress ${tenant.namespace}/${name}`);
  expect(await content()).toBe(before);
  await kubectl(['delete', 'ingress', '-n', tenant.namespace, name]);
  await kubectl(['annotate', 'customdomain', '-n', tenant.namespace, 'taken', 'doorplate.dev/requestedAt=again']);
  await tenant.wait('taken', 'Ready');
  await kubectl(['delete', 'customdomain', '-n', tenant.namespace, 'taken']);
});

test('one that somebody else holds up by a finalizer says Removing: its routes and certificates are gone all the same', async () => {
  const uid = await (async () => {
    await tenant.record('kept', tenant.proof);
    await tenant.attach('kept', tenant.host('kept'));
    await tenant.wait('kept', 'Ready');
    return (await tenant.get('kept'))?.metadata.uid ?? '';
  })();
  await kubectl([
    'patch',
    'customdomain',
    '-n',
    tenant.namespace,
    'kept',
    '--type=json',
    '-p',
    '[{"op":"add","path":"/metadata/finalizers/-","value":"test.doorplate.dev/held"}]',
  ]);
  await kubectl(['delete', 'customdomain', '-n', tenant.namespace, 'kept', '--wait=false']);
  const domain = await tenant.hosts('kept', [`${tenant.host('kept')} Removing Removing`]);
  expect(domain.status).toMatchObject({phase: 'Removing', hostsLive: '0/1'});
  expect(domain.status?.conditions?.every((c) => c.status === 'False' && c.reason === 'Removing')).toBe(true);
  // Said first, then let go.
  await eventually(
    'only the other finalizer is left',
    async () => (await tenant.get('kept'))?.metadata.finalizers?.join() === 'test.doorplate.dev/held',
  );
  expect(await tenant.children(uid, certificates, ingresses)).toEqual([]);
  await kubectl([
    'patch',
    'customdomain',
    '-n',
    tenant.namespace,
    'kept',
    '--type=merge',
    '-p',
    '{"metadata":{"finalizers":null}}',
  ]);
  await eventually('it is gone', async () => (await tenant.get('kept')) === undefined);
});

/** A user's view of hostnames at an edge by one ingress controller, from the CustomDomain to its removal: `make controllers`. */
import {afterAll, beforeAll, describe, expect, test} from '@jest/globals';
import {acmeRoot, api, apply, eventually, fetchEdge, issuedLeaf, kubectl, presented} from '../../cluster/cluster.ts';
import type {CustomDomain} from '../../operator/api/foreign.ts';
import {certificates, customDomains, ingresses} from '../../operator/resources/resources.ts';
import {renew} from '../support/issuances.ts';
import {statusesOf} from '../support/requests.ts';
import {Tenant} from '../support/tenant.ts';
import {constantClient, inShort, redirected} from '../support/visitor.ts';
import {controllerUnderTest} from './controllers.ts';

const controller = controllerUnderTest();
let tenant: Tenant;
let ca: string;
let [www, old] = ['', ''];
let began: Date;

/** Its hostnames stay Live, so that a swap is not the only redirect on the edge. */
let neighbor: Tenant;

beforeAll(async () => {
  [tenant, neighbor] = [await Tenant.create('core', {}), await Tenant.create('neighbor')];
  ca = await acmeRoot();
  [www, old] = [tenant.host('www'), tenant.host('old')];
  await neighbor.records({shop: neighbor.proof, store: neighbor.proof});
  await neighbor.attach('site', neighbor.host('shop'), [{from: neighbor.host('store'), status: 301}]);
});
afterAll(async () => {
  await tenant?.remove();
  await neighbor?.remove();
});

const serves = (hostname: string) => `${hostname} Live Serving`;
const redirects = (hostname: string) => `${hostname} Live Redirecting`;
const neighborIsLive = () => neighbor.hosts('site', [serves(neighbor.host('shop')), redirects(neighbor.host('store'))]);
const home = () => `hello from ${tenant.namespace}/web\n`;

/** Status of an HTTPS request; `refused` if the edge ends the TLS handshake. Any certificate is accepted. */
const overHttps = (hostname: string): Promise<number | 'refused'> =>
  fetchEdge(`https://${hostname}/`).then(
    ({status}) => status,
    () => 'refused',
  );

/** The name and namespace of a hostname's Certificate. */
const certificateOf = async (hostname: string): Promise<[namespace: string, name: string]> => {
  const {items} = await api().list(certificates);
  const found = items.find(({spec}) => spec.dnsNames[0] === hostname);
  return [found?.metadata.namespace ?? '', found?.metadata.name ?? ''];
};

describe(`A CustomDomain at an edge by ${controller.name}`, () => {
  test('waits for its records, and shows them', async () => {
    began = new Date();
    await tenant.attach('site', www, [{from: old, status: 301}]);
    const {status} = await tenant.reason('site', 'RecordMissing');
    expect(status?.hosts?.map(({hostname, phase}) => [hostname, phase])).toEqual([
      [www, 'AwaitingVerification'],
      [old, 'AwaitingVerification'],
    ]);
    expect(status?.dnsRecords?.map(({type, name, value, state}) => [type, name, value, state])).toEqual([
      ['CNAME', 'www', tenant.target, 'Missing'],
      ['CNAME', 'old', tenant.target, 'Missing'],
    ]);
    expect(status?.hosts?.[0]?.message).toContain(tenant.target);
    expect(await certificateOf(www)).toEqual(['', '']);
  });

  test('is verified and Live after the records exist, each hostname with its own certificate', async () => {
    await tenant.records({www: tenant.proof, old: tenant.proof});
    await tenant.wait('site', 'Verified');
    await tenant.hosts('site', [serves(www), redirects(old)]);
    await tenant.wait('site', 'Ready');
    const statuses = await statusesOf(`${tenant.namespace}/site`, began);
    const phases = statuses.map(({status}) => status.hosts?.[0]?.phase);
    expect(phases.filter((phase, i) => phase !== phases[i - 1])).toEqual(['AwaitingVerification', 'Verified', 'Live']);
    console.log(`Live ${Date.now() - began.getTime()} ms after the CustomDomain was created`);
    for (const hostname of [www, old]) {
      const {trusted, sha256, subject} = await presented(hostname, ca);
      expect([trusted, subject]).toEqual([true, `DNS:${hostname}`]);
      expect(sha256).toBe(await issuedLeaf(...(await certificateOf(hostname))));
    }
    expect(await fetchEdge(`https://${www}/`, {ca})).toMatchObject({status: 200, body: home()});
  });

  test('has a Project whose default hostname is served, too', async () => {
    await eventually('it is served', async () => (await fetchEdge(`https://${tenant.target}/`, {ca})).status === 200);
    expect((await fetchEdge(`https://${tenant.target}/`, {ca})).body).toBe(home());
  });

  test('redirects by HTTP and HTTPS with the same status, and keeps path and query', async () => {
    const to = `https://${www}/a/b?c=d&e=%2F`;
    await redirected(`https://${old}/a/b?c=d&e=%2F`, 301, to, ca);
    await redirected(`http://${old}/a/b?c=d&e=%2F`, 301, to);
    expect(await fetchEdge(`http://${old}/`, {method: 'POST'})).toMatchObject({status: 301});
  });

  test('answers plain HTTP of the primary as this controller does', async () => {
    expect(await fetchEdge(`http://${www}/?y=z`)).toMatchObject(
      controller.plainHttp === 200
        ? {status: 200, body: home()}
        : {status: controller.plainHttp, location: `https://${www}/?y=z`},
    );
  });

  test('never redirects the path of an ACME challenge of a hostname that redirects', async () => {
    for (const scheme of ['http', 'https']) {
      const reply = await fetchEdge(`${scheme}://${old}/.well-known/acme-challenge/token`);
      expect(reply).toMatchObject({status: 404, location: undefined});
    }
  });

  test('is renewed by HTTP-01 while its routes exist, and no request fails', async () => {
    const keys = await Promise.all([www, old].map(certificateOf));
    const before = await Promise.all([www, old].map(async (hostname) => (await presented(hostname, ca)).sha256));
    const client = await constantClient([www, old], ca);
    await Promise.all(keys.map((key) => renew(key.join('/'))));
    await eventually('the edge presents the renewed certificates', async () => {
      const issued = await Promise.all(keys.map((key) => issuedLeaf(...key)));
      const shown = await Promise.all([www, old].map(async (hostname) => (await presented(hostname, ca)).sha256));
      return shown.every((leaf, i) => leaf === issued[i] && leaf !== before[i]);
    });
    const {requests, failed} = await client.stop();
    console.log(`renewed under ${requests} requests`);
    expect(inShort(failed, [])).toEqual([]);
  });

  test('swaps its primary and its redirect, and back, and no request fails', async () => {
    await neighborIsLive();
    const client = await constantClient([www, old], ca, {everyMs: 10});
    const steps: [string, number][] = [];
    for (const [primary, from] of [
      [old, www],
      [www, old],
    ] as const) {
      const swapped = Date.now();
      steps.push([`the swap to ${primary}`, swapped]);
      const spec = {primary, redirects: [{from, status: 301}]};
      await api().patch(customDomains, `${tenant.namespace}/site`, {spec}, {type: 'merge'});
      await tenant.hosts('site', [serves(primary), redirects(from)]);
      console.log(`swapped in ${Date.now() - swapped} ms`);
      await redirected(`https://${from}/p?q`, 301, `https://${primary}/p?q`, ca);
      await eventually(
        'the new primary serves',
        async () => (await fetchEdge(`https://${primary}/`, {ca})).body === home(),
      );
    }
    const {requests, failed} = await client.stop();
    console.log(`swapped twice under ${requests} requests`);
    expect(inShort(failed, steps)).toEqual([]);
  });

  test('stops one hostname that leaves the spec, and the other stays', async () => {
    await api().patch(customDomains, `${tenant.namespace}/site`, {spec: {redirects: []}}, {type: 'merge'});
    await eventually('the redirect has ended', async () => (await overHttps(old)) === controller.unknownHttps);
    await tenant.hosts('site', [serves(www)]);
    expect(await fetchEdge(`https://${www}/`, {ca})).toMatchObject({status: 200, body: home()});
  });

  test('stops all traffic when it is deleted', async () => {
    const {metadata} = (await tenant.get('site')) as CustomDomain;
    const since = Date.now();
    await api().delete(customDomains, `${tenant.namespace}/site`);
    await eventually(
      'the edge stops serving',
      async () =>
        (await overHttps(www)) === controller.unknownHttps && (await fetchEdge(`http://${www}/`)).status === 404,
      60_000,
      10,
    );
    console.log(`the edge stopped serving ${Date.now() - since} ms after the deletion was sent`);
    await kubectl(['wait', 'customdomain/site', '-n', tenant.namespace, '--for=delete', '--timeout=300s']);
    expect(await tenant.children(metadata.uid ?? '', ingresses, certificates)).toEqual([]);
  });
});

describe(`A hostname that nobody has attached, at an edge by ${controller.name}`, () => {
  test('is answered by nobody, while other hostnames are Live', async () => {
    await neighborIsLive();
    const unknown = tenant.host('unknown');
    expect(await fetchEdge(`http://${unknown}/`)).toMatchObject({status: 404, location: undefined});
    expect(await overHttps(unknown)).toBe(controller.unknownHttps);
  });

  test(`reaches no Ingress without a host of Doorplate's${controller.hostless ? ', except the one for plain HTTP' : ''}`, async () => {
    const {items} = await api().list(ingresses);
    const hostless = items.filter(
      ({spec}) => spec.defaultBackend !== undefined || (spec.rules ?? []).some(({host}) => !host),
    );
    const ofClass = hostless.filter(({spec}) => spec.ingressClassName === controller.ingressClassName);
    expect(ofClass).toHaveLength(controller.hostless);
  });

  test('is still served by the Ingress of another team', async () => {
    const hostname = tenant.host('team');
    await apply([
      {
        apiVersion: 'networking.k8s.io/v1',
        kind: 'Ingress',
        metadata: {name: 'team', namespace: tenant.namespace},
        spec: {
          ingressClassName: controller.ingressClassName,
          rules: [
            {
              host: hostname,
              http: {paths: [{path: '/', pathType: 'Prefix', backend: {service: {name: 'web', port: {number: 80}}}}]},
            },
          ],
        },
      },
    ]);
    const answer = () => fetchEdge(`http://${hostname}/`);
    await eventually('the other Ingress answers', async () => (await answer()).status === 200);
    expect((await answer()).body).toBe(home());
  });
});

/** What customers and platforms do by mistake most often: each is told in status, with what was seen and what to do. */
import {afterAll, beforeAll, describe, expect, test} from '@jest/globals';
import {acmeRoot, apply, eventually, fetchEdge, kubectl} from '../../cluster/cluster.ts';
import {claimOf, Tenant} from '../support/tenant.ts';

const apiVersion = 'doorplate.dev/v1alpha1';
let tenant: Tenant;
const others: Tenant[] = [];
beforeAll(async () => {
  tenant = await Tenant.create('mistakes');
});
afterAll(async () => {
  await Promise.all([tenant, ...others].map((t) => t?.remove()));
});

const another = async (purpose: string): Promise<Tenant> => {
  const made = await Tenant.create(purpose);
  others.push(made);
  return made;
};
/** Waits until the primary of a CustomDomain says so, with this reason. A zone is in effect half a second after it is written. */
const expectSaid = (of: Tenant, name: string, reason: string, text: string): Promise<boolean> =>
  eventually(`${name} says: ${text}`, async () => {
    const host = (await of.get(name))?.status?.hosts?.[0];
    if (host?.reason !== reason || !host.message.includes(text)) throw new Error(`${host?.reason}: ${host?.message}`);
    return true;
  });
/** What a condition of a Project says, once it has this reason. */
const projectSays = (name: string, type: string, reason: string): Promise<string> =>
  eventually(`${name} says ${reason}`, async () => {
    const found = (await tenant.getProject(name))?.status?.conditions?.find((c) => c.type === type);
    if (found?.reason !== reason) throw new Error(`${type} is ${found?.status}, ${found?.reason}`);
    return found.message;
  });
const service = (name: string, spec: object): object => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: {name, namespace: tenant.namespace},
  spec,
});

const listensOn = (name: string, port: number): Promise<string> => {
  const ports = [{op: 'replace', path: '/spec/ports', value: [{name: 'http', port, targetPort: 8080}]}];
  return kubectl(['patch', `service/${name}`, '-n', tenant.namespace, '--type=json', '-p', JSON.stringify(ports)]);
};

describe('the Service of a Project', () => {
  test('loses the port that the Project names, after the deploy: the Project says so, and heals', async () => {
    await apply([...tenant.backend('moved'), tenant.project('moved')]);
    await kubectl(['wait', 'project/moved', '-n', tenant.namespace, '--for=condition=Ready', '--timeout=300s']);
    await listensOn('moved', 8080);
    expect(await projectSays('moved', 'Ready', 'ServicePortNotFound')).toBe(
      'The Service moved has no port 80 (it has 8080). Correct spec.serviceRef.port.',
    );
    expect((await tenant.getProject('moved'))?.status?.conditions?.find((c) => c.type === 'Deployed')?.status).toBe(
      'True',
    );
    await listensOn('moved', 80);
    await projectSays('moved', 'Ready', 'Serving');
  });

  test('is an alias of another name: the Project says what to name instead', async () => {
    await apply([
      service('alias', {type: 'ExternalName', externalName: 'example.com', ports: [{port: 80}]}),
      tenant.project('alias'),
    ]);
    expect(await projectSays('alias', 'Ready', 'NoReadyEndpoint')).toBe(
      "The Service alias is of type ExternalName, which has no endpoints and cannot serve the project. In spec.serviceRef, name a Service that selects the project's Pods.",
    );
  });
});

describe('a record', () => {
  test('that names the zone twice in its value, or in its name, is told with what to type', async () => {
    await apply(['value', 'name'].map((name) => tenant.project(name, {serviceRef: {name: 'web', port: 80}})));
    for (const name of ['value', 'name']) {
      await kubectl(['wait', `project/${name}`, '-n', tenant.namespace, '--for=condition=Deployed', '--timeout=300s']);
    }
    const host = async (name: string) => (await tenant.getProject(name))?.status?.host ?? '';
    const [ofValue, ofName] = [await host('value'), await host('name')];
    await tenant.records({
      value: `IN CNAME ${ofValue}.${tenant.zone}.`,
      [`name.${tenant.zone}`]: `IN CNAME ${ofName}.`,
    });
    await tenant.attach('value', tenant.host('value'), [], 'value');
    await tenant.attach('name', tenant.host('name'), [], 'name');
    await expectSaid(
      tenant,
      'value',
      'TargetMismatch',
      `is a CNAME to ${ofValue}.${tenant.zone}: the DNS provider has appended the zone to the value. End the value with a dot, ${ofValue}., so that the record is: CNAME value -> ${ofValue} (TTL 3600) in the zone ${tenant.zone}.`,
    );
    await expectSaid(
      tenant,
      'name',
      'RecordMissing',
      `${tenant.host('name')} has no record. Create CNAME name -> ${ofName} (TTL 3600) in the zone ${tenant.zone}. The CNAME is at ${tenant.host('name')}.${tenant.zone} instead. Move it: enter only name as its name.`,
    );
  });

  test('of the TXT in quotes, or at the apex itself, is told with what to type', async () => {
    const apex = await another('apex');
    const challenge = '_doorplate-challenge';
    await apex.records({'@': 'IN A 10.244.0.1', [challenge]: `IN TXT "\\"${apex.token(apex.zone)}\\""`});
    await apex.attach('site', apex.zone);
    await expectSaid(
      apex,
      'site',
      'TXTMismatch',
      `the TXT at ${challenge}.${apex.zone} has quotes or spaces around its value (TXT "${apex.token(apex.zone)}"): remove them. Required: `,
    );
    await kubectl(['delete', 'customdomain', '-n', apex.namespace, 'site']);
    await apex.records({[challenge]: undefined});
    await apex.record('txt', `IN TXT "unrelated"`);
    const [address, token] = ['IN A 10.244.0.1', apex.token(apex.zone)];
    await apex.records({'@': `${address}\n@ IN TXT "${token}"`});
    await apex.attach('site', apex.zone);
    await expectSaid(
      apex,
      'site',
      'TXTMissing',
      `The TXT is at ${apex.zone} instead. Move it: enter only ${challenge} as its name.`,
    );
  });
});

describe('whose a hostname is', () => {
  test('two namespaces of one Account name it: the second is told where it is attached', async () => {
    // A TXT verifies an apex for both: a CNAME names one Project alone.
    const first = await another('both');
    const [second, apex] = [`${first.namespace}-two`, first.zone];
    await first.records({'@': 'IN A 10.244.0.1', '_doorplate-challenge': `IN TXT "${first.token(apex)}"`});
    await first.attach('both', apex);
    await first.wait('both', 'Verified');
    await apply([
      {
        apiVersion: 'v1',
        kind: 'Namespace',
        metadata: {name: second, labels: {'doorplate.dev/account': first.namespace}},
      },
      {...first.project('web', {serviceRef: {name: 'web', port: 80}}), metadata: {name: 'web', namespace: second}},
      ...first.backend('web').map((o) => {
        const made = o as {metadata: object};
        return {...made, metadata: {...made.metadata, namespace: second}};
      }),
    ]);
    await kubectl(['wait', 'project/web', '-n', second, '--for=condition=Deployed', '--timeout=300s']);
    await apply([
      {
        apiVersion,
        kind: 'CustomDomain',
        metadata: {name: 'both', namespace: second},
        spec: {projectRef: {name: 'web'}, primary: apex},
      },
    ]);
    const message = () =>
      kubectl(['get', 'customdomain/both', '-n', second, '-o', 'jsonpath={.status.hosts[0].message}']);
    expect(
      await eventually('the second is told where it is', async () => {
        const text = await message();
        return text.includes('Remove it there') && text;
      }),
    ).toBe(
      `${apex} has the right record, but it is attached already to CustomDomain ${first.namespace}/both of the same account. Remove it there, and Doorplate moves it here; or remove it here.`,
    );
    await kubectl(['delete', 'customdomain', '-n', second, 'both']);
    await kubectl(['delete', 'namespace', second, '--wait=false']);
    await kubectl(['delete', 'customdomain', '-n', first.namespace, 'both']);
  });

  test('its namespace is given to another Account while it is Live: it goes along, and is served on', async () => {
    const [given, taker] = [await another('given'), await another('taker')];
    const www = given.host('www');
    await given.record('www', given.proof);
    await given.attach('site', www);
    await given.wait('site', 'Ready');
    await given.belongsTo(taker.namespace);
    await eventually('its claim is of the Account that has the namespace now', async () => {
      const {account} = (await claimOf(www))?.spec.tenant ?? {};
      if (account !== taker.namespace) throw new Error(`it is ${account}'s`);
      return true;
    });
    expect((await given.get('site'))?.status?.hosts).toMatchObject([{hostname: www, phase: 'Live', reason: 'Serving'}]);
    expect((await fetchEdge(`https://${www}/`, {ca: await acmeRoot()})).status).toBe(200);
  });
});

describe('what the platform removes by mistake', () => {
  test('the Project of a Live hostname: its CustomDomain says so, and comes back with it', async () => {
    const gone = await another('gone');
    await gone.record('www', gone.proof);
    await gone.attach('site', gone.host('www'));
    await gone.wait('site', 'Verified');
    await kubectl(['delete', 'project/web', '-n', gone.namespace]);
    await expectSaid(gone, 'site', 'ProjectNotFound', 'The namespace has no Project web. Create it.');
    await apply([gone.project('web', {defaultHost: 'Disabled'})]);
    await gone.wait('site', 'Ready');
  });

  test.each<[string, (plan: string, account: string) => string]>([
    ['Account', (_, account) => `The namespace belongs to the Account ${account}, which does not exist.`],
    ['Plan', (plan, account) => `The Account ${account} is on the Plan ${plan}, which does not exist.`],
  ])('the %s: what is Live is served on, and what is added says whose turn it is', async (kind, says) => {
    const live = await another('unplanned');
    const [www, added] = [live.host('www'), live.host('added')];
    const plan = `plan-${live.namespace}`;
    const spec = JSON.parse(await kubectl(['get', 'plan/pro', '-o', 'jsonpath={.spec}'])) as object;
    await apply([{apiVersion, kind: 'Plan', metadata: {name: plan}, spec}]);
    await live.onPlan(plan);
    await live.record('www', live.proof);
    await live.attach('site', www);
    await live.wait('site', 'Ready');
    await kubectl(['delete', kind === 'Plan' ? `plan/${plan}` : `account/${live.namespace}`]);
    await live.attach('site', www, [{from: added}]);
    const {status} = await live.hosts('site', [`${www} Live Serving`, `${added} NotAccepted PlanNotFound`]);
    expect(status?.hosts?.[1]).toMatchObject({
      waitingFor: 'Platform',
      message: expect.stringContaining(says(plan, live.namespace)),
    });
    expect((await fetchEdge(`https://${www}/`, {ca: await acmeRoot()})).status).toBe(200);
    if (kind === 'Account') await kubectl(['delete', `plan/${plan}`]);
  });
});

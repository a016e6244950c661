/** Reading and changing domains through the API: what it writes is a CustomDomain, what it shows is its status. */
import {afterAll, beforeAll, describe, expect, test} from '@jest/globals';
import {customDomains} from '../../operator/resources/resources.ts';
import type {CustomDomain, Project} from '../../operator/api/foreign.ts';
import {eventually} from '../../cluster/cluster.ts';
import {ApiWorld} from '../support/api-role.ts';
import type {Answer, Ask} from '../support/http-client.ts';

let world: ApiWorld;
let key: string;
beforeAll(async () => {
  world = await ApiWorld.start();
  await world.tenant('acme', 'huge');
  key = await world.key('acme', 'ci');
});
afterAll(async () => {
  await world?.stop();
});

const ask = (path: string, options: Ask = {}): Promise<Answer> => world.ask(`/v1/projects${path}`, {key, ...options});
const read = (name: string): Promise<CustomDomain | undefined> => world.client.get(customDomains, `acme/${name}`);

/** The hostnames whose traffic stops at once. */
const stopOf = async (name: string): Promise<string | undefined> =>
  (await read(name))!.metadata.annotations?.['doorplate.dev/stop'];
const addTo = (name: string, hostname: string): Promise<Answer> =>
  ask(`/${name}/domains`, {method: 'POST', body: {hostname}});

/** A project that the API knows. */
async function project(name: string): Promise<void> {
  await world.project('acme', name, {
    observedGeneration: 1,
    host: `${name}.apps.platform.test`,
    url: `https://${name}.apps.platform.test`,
    firstDeployTime: '2026-11-01T00:00:00Z',
  });
  await eventually('the API knows the project', async () => (await ask(`/${name}`)).body.deployed === true);
}

/** Says what the operator would. */
async function say(
  name: string,
  hosts: Partial<NonNullable<NonNullable<CustomDomain['status']>['hosts']>[number]>[],
): Promise<void> {
  const {
    metadata: {generation = 0},
  } = (await read(name))!;
  const status: CustomDomain['status'] = {
    observedGeneration: generation,
    dnsRecords: hosts.map((h) => ({
      hostname: h.hostname!,
      type: 'CNAME',
      name: 'www',
      zone: 'example.com',
      value: 'x.apps.platform.test',
      ttl: 3600,
      note: 'Example DNS follows it',
      state: 'Missing',
      observed: ['A 203.0.113.7'],
    })),
    hosts: hosts.map((h) => ({
      hostname: h.hostname!,
      role: 'Primary',
      phase: 'AwaitingVerification',
      reason: 'RecordMissing',
      message: 'Create CNAME www.',
      since: '2026-11-22T00:00:00Z',
      waitingFor: 'Customer',
      ...h,
    })),
  };
  await world.client.patch(customDomains, `acme/${name}`, {status}, {type: 'merge', subresource: 'status'});
}

describe('Projects', () => {
  test('are listed in pages, sorted by name', async () => {
    for (const name of ['page-a', 'page-b', 'page-c']) await project(name);
    const first = (await ask('?limit=2&after=p')).body;
    expect(first).toMatchObject({
      items: [{name: 'page-a', deployed: true, url: 'https://page-a.apps.platform.test'}, {name: 'page-b'}],
      next: 'page-b',
    });
    expect((await ask(`?limit=2&after=${first.next}`)).body).toMatchObject({items: [{name: 'page-c'}], next: null});
  });

  test.each(['?limit=501', '?limit=x', '?limit=0'])('%s is refused, and the field is named', async (query) => {
    expect(await ask(query)).toMatchObject({
      status: 400,
      body: {type: 'https://doorplate.dev/problems/invalid-input', errors: [{field: 'querystring.limit'}]},
    });
  });
});

describe('Domains', () => {
  test('the first becomes the primary, the next a redirect; the answer has the status that the operator writes', async () => {
    await project('docs');
    expect((await ask('/docs/domains')).body).toEqual({
      project: 'docs',
      domains: {primary: null, redirects: []},
      hosts: [],
      checkedFor: null,
      reissuedFor: null,
      managedBy: null,
      version: 'none',
    });
    const adding = ask('/docs/domains', {method: 'POST', body: {hostname: 'WWW.Example.com.'}});
    await eventually('it is written', () => read('docs'));
    const zone = {name: 'example.com', nameServers: ['ns1.example.net', 'ns2.example.net'], provider: 'Example DNS'};
    await say('docs', [{hostname: 'www.example.com', zone}]);
    const added = await adding;
    expect(added).toMatchObject({
      status: 201,
      headers: {location: '/v1/projects/docs/domains/www.example.com'},
      body: {
        hostname: 'www.example.com',
        phase: 'AwaitingVerification',
        reason: 'RecordMissing',
        waitingFor: 'Customer',
        zone,
        records: [
          {
            type: 'CNAME',
            name: 'www',
            zone: 'example.com',
            value: 'x.apps.platform.test',
            ttl: 3600,
            note: 'Example DNS follows it',
            state: 'Missing',
            observed: ['A 203.0.113.7'],
          },
        ],
      },
    });
    const second = ask('/docs/domains', {method: 'POST', body: {hostname: 'old.example.com', status: 302}});
    await eventually('it is written', async () => (await read('docs'))?.spec.redirects?.length === 1);
    await say('docs', [{hostname: 'www.example.com'}, {hostname: 'old.example.com', role: 'RedirectSource'}]);
    expect((await second).status).toBe(201);
    expect((await ask('/docs/domains')).body.domains).toEqual({
      primary: 'www.example.com',
      redirects: [{from: 'old.example.com', to: 'www.example.com', status: 302}],
    });
    expect((await read('docs'))?.spec).toMatchObject({
      projectRef: {name: 'docs'},
      primary: 'www.example.com',
      redirects: [{from: 'old.example.com', status: 302}],
    });
  });

  test('a hostname that somebody removes before the operator has seen it is told as it was added', async () => {
    await project('brief');
    await world.domain('acme', 'brief', {primary: 'brief.example.com'});
    await eventually('the API knows it', async () => (await ask('/brief/domains')).body.domains.primary !== null);
    const adding = ask('/brief/domains', {method: 'POST', body: {hostname: 'gone.example.com'}});
    await eventually('it is written', async () => (await read('brief'))?.spec.redirects?.length === 1);
    expect((await ask('/brief/domains/gone.example.com', {method: 'DELETE'})).status).toBe(204);
    await say('brief', [{hostname: 'brief.example.com'}]);
    expect(await adding).toMatchObject({status: 201, body: {hostname: 'gone.example.com', role: 'RedirectSource'}});
  });

  test('a hostname that exists already is refused by POST and left unchanged by PUT', async () => {
    expect(await ask('/docs/domains', {method: 'POST', body: {hostname: 'OLD.example.com'}})).toMatchObject({
      status: 409,
      body: {type: 'https://doorplate.dev/problems/hostname-exists'},
    });
    const {
      metadata: {resourceVersion},
    } = (await read('docs'))!;
    expect((await ask('/docs/domains/old.example.com', {method: 'PUT', body: {status: 302}})).status).toBe(200);
    expect((await read('docs'))!.metadata.resourceVersion).toBe(resourceVersion);
  });

  test('If-Match lets nobody overwrite what they have not seen', async () => {
    const {
      headers: {etag = ''},
    } = await ask('/docs/domains');
    expect(
      (await ask('/docs/domains/old.example.com', {method: 'DELETE', headers: {'if-match': '"other.1"'}})).status,
    ).toBe(412);
    const swapped = await ask('/docs/domains/old.example.com/make-primary', {
      method: 'POST',
      headers: {'if-match': etag},
    });
    expect(swapped).toMatchObject({
      status: 200,
      body: {domains: {primary: 'old.example.com', redirects: [{from: 'www.example.com', status: 302}]}},
    });
    expect((await ask('/docs/domains/www.example.com', {method: 'DELETE', headers: {'if-match': etag}})).status).toBe(
      412,
    );
  });

  test('`version` in If-Match does the same, and changes with what was asked for alone', async () => {
    await project('versions');
    const none = (await ask('/versions/domains')).body.version as string;
    const added = await ask('/versions/domains', {
      method: 'POST',
      body: {hostname: 'v.example.com'},
      headers: {'if-match': `"${none}"`},
    });
    expect(added).toMatchObject({status: 201, headers: {etag: `"${added.body.version}"`}});
    await say('versions', [{hostname: 'v.example.com', phase: 'Live'}]);
    const one = await eventually('the API knows it', async () => {
      const answer = await ask('/versions/domains/v.example.com');
      return answer.body.phase === 'Live' && answer;
    });
    const all = await ask('/versions/domains');
    expect([one.body.version, all.body.version]).toEqual([added.body.version, added.body.version]);
    expect(all.body.hosts[0]).not.toHaveProperty('version');
    const remove = (tag: string): Promise<Answer> =>
      ask('/versions/domains/v.example.com', {method: 'DELETE', headers: {'if-match': `"${tag}"`}});
    expect((await remove(none)).status).toBe(412);
    expect((await remove(added.body.version)).status).toBe(204);
  });

  test('are read again only when they show something else', async () => {
    await project('polled');
    await ask('/polled/domains', {method: 'POST', body: {hostname: 'polled.example.com'}});
    await say('polled', [{hostname: 'polled.example.com'}]);
    const paths = ['', '/polled', '/polled/domains', '/polled/domains/polled.example.com'];
    const first = await eventually('the API knows it', async () => {
      const answers = await Promise.all(paths.map((path) => ask(path)));
      return answers.at(-1)!.body.reason === 'RecordMissing' && answers;
    });
    const again = (): Promise<Answer[]> =>
      Promise.all(paths.map((path, i) => ask(path, {headers: {'if-none-match': first[i]!.headers.etag!}})));
    expect((await again()).map(({status, body}) => [status, body])).toEqual(paths.map(() => [304, '']));
    await say('polled', [{hostname: 'polled.example.com', phase: 'Live', reason: 'Serving'}]);
    await eventually('the API knows it', async () => (await again()).every(({status}) => status === 200));
  });

  test('and so is every other answer under /v1, besides streams and the account, which shows usage', async () => {
    const {paths} = (await world.ask('/openapi.json')).body as {
      paths: Record<string, {get?: {responses: Record<string, {content?: object}>}}>;
    };
    const reads = Object.entries(paths).flatMap(([path, {get}]) =>
      path.startsWith('/v1/') && get?.responses[200]?.content ? [{path, can: get.responses[304] !== undefined}] : [],
    );
    expect(reads.length).toBeGreaterThan(5);
    expect(reads.filter(({can}) => !can).map(({path}) => path)).toEqual([
      '/v1/account',
      '/v1/usage/all',
      '/v1/projects/{project}/events',
      '/v1/events',
    ]);
    const account = await world.ask('/v1/account', {key, headers: {'if-none-match': '*'}});
    expect(account).toMatchObject({status: 200, headers: {'cache-control': 'no-store'}});
    expect(account.headers).not.toHaveProperty('etag');
  });

  describe('that change places', () => {
    const [was, is] = ['was.swap.example.com', 'is.swap.example.com'];
    const live = {phase: 'Live', liveAt: '2026-11-22T00:00:00Z'} as const;
    const before = [
      {hostname: was, ...live},
      {hostname: is, role: 'RedirectSource' as const},
    ];
    const after = [{hostname: is}, {hostname: was, ...live, role: 'RedirectSource' as const}];
    const swap = (name: string): Promise<Answer> => ask(`/${name}/domains/${is}/make-primary`, {method: 'POST'});

    /** A project whose primary is Live, and whose other hostname was never proven. */
    async function served(name: string): Promise<void> {
      await project(name);
      await world.domain('acme', name, {primary: was, redirects: [{from: is, status: 301}]});
      await say(name, before);
      await eventually('the API knows it', async () => (await ask(`/${name}/domains/${was}`)).body.phase === 'Live');
    }

    test('are told with the status that the operator writes of it', async () => {
      await served('swap');
      const swapping = swap('swap');
      await eventually('it is written', async () => (await read('swap'))?.spec.primary === is);
      await say('swap', after);
      expect(await swapping).toMatchObject({
        status: 200,
        body: {
          domains: {primary: is},
          hosts: [
            {hostname: is, role: 'Primary'},
            {hostname: was, role: 'RedirectSource'},
          ],
        },
      });
    });

    const removed = async (name: string): Promise<number> =>
      (await ask(`/${name}/domains/${was}`, {method: 'DELETE'})).status;

    test('leave the former primary removable: one write takes it out of the spec and stops its traffic', async () => {
      await served('late');
      expect((await swap('late')).status).toBe(200);
      expect(await removed('late')).toBe(204);
      const {metadata, spec} = (await read('late'))!;
      expect([spec, metadata.annotations]).toEqual([
        {projectRef: {name: 'late'}, primary: is},
        {'doorplate.dev/stop': was},
      ]);
      // A later change keeps the annotation until the operator has stopped the hostname.
      expect((await addTo('late', 'one.swap.example.com')).status).toBe(201);
      expect(await stopOf('late')).toBe(was);
      await say('late', [{hostname: is}]);
      expect((await addTo('late', 'two.swap.example.com')).status).toBe(201);
      expect(await stopOf('late')).toBeUndefined();
      expect(await removed('late')).toBe(404);
    });

    test('stop the former primary, too, when the spec no longer names it', async () => {
      await served('left');
      await world.client.patch(
        customDomains,
        'acme/left',
        {spec: {primary: is, redirects: null}},
        {type: 'merge', fieldManager: 'kubectl-doorplate'},
      );
      await say('left', [{hostname: is}, {hostname: was, ...live, role: 'FormerPrimary'}]);
      await eventually('the API knows it', async () => (await ask('/left/domains')).body.domains.primary === is);
      expect(await ask(`/left/domains/${is}`, {method: 'DELETE'})).toMatchObject({
        status: 409,
        body: {type: 'https://doorplate.dev/problems/primary-has-redirects', detail: expect.stringContaining(was)},
      });
      expect(await removed('left')).toBe(204);
      expect([await stopOf('left'), (await read('left'))!.spec.primary]).toEqual([was, is]);
    });

    test('stop the former primary although somebody has set the annotation by kubectl annotate', async () => {
      await served('noted');
      await world.client.patch(
        customDomains,
        'acme/noted',
        {metadata: {annotations: {'doorplate.dev/stop': 'other.swap.example.com'}}},
        {type: 'merge', fieldManager: 'kubectl-annotate'},
      );
      expect((await swap('noted')).status).toBe(200);
      expect(await removed('noted')).toBe(204);
      expect(await stopOf('noted')).toBe(was);
    });

    test('drop the annotation when the hostname is added again', async () => {
      await served('back');
      expect((await swap('back')).status).toBe(200);
      expect(await removed('back')).toBe(204);
      expect((await addTo('back', was)).status).toBe(201);
      expect(await stopOf('back')).toBeUndefined();
    });
  });

  test('the primary can only be deleted last, and the CustomDomain goes with it', async () => {
    expect(await ask('/docs/domains/old.example.com', {method: 'DELETE'})).toMatchObject({
      status: 409,
      body: {type: 'https://doorplate.dev/problems/primary-has-redirects'},
    });
    expect((await ask('/docs/domains/www.example.com', {method: 'DELETE'})).status).toBe(204);
    expect((await ask('/docs/domains/old.example.com', {method: 'DELETE'})).status).toBe(204);
    expect(await read('docs')).toBeUndefined();
    expect((await ask('/docs/domains/old.example.com', {method: 'DELETE'})).status).toBe(404);
  });

  test.each([
    ['an address', '192.0.2.1', 400, /IP address/],
    ['a scheme', 'https://docs.example.com', 400, /hostname/],
    ['a wildcard', '*.example.com', 400, /hostname/],
    ['a public suffix', 'co.uk', 422, /public suffix/],
    ["the platform's zone", 'x.apps.platform.test', 422, /platform/],
  ])('%s is refused with the rule that it breaks', async (_, hostname, status, detail) => {
    await project('strict');
    expect(await ask('/strict/domains', {method: 'POST', body: {hostname}})).toMatchObject({
      status,
      body: {detail: expect.stringMatching(detail)},
    });
    expect(await read('strict')).toBeUndefined();
  });

  test('Verify asks for a check at once, as the annotation does', async () => {
    await project('checked');
    await world.domain('acme', 'checked', {primary: 'checked.example.com'});
    await eventually('the API knows it', async () => (await ask('/checked/domains')).body.domains.primary !== null);
    const {status, body} = await ask('/checked/domains/checked.example.com/verify', {method: 'POST'});
    expect(status).toBe(202);
    expect((await read('checked'))!.metadata.annotations?.['doorplate.dev/requestedAt']).toBe(body.requestedAt);
    expect((await ask('/checked/domains/other.example.com/verify', {method: 'POST'})).status).toBe(404);
  });

  test('Reissue requests new certificates, and is complete when the status says so', async () => {
    await project('leaked');
    await world.domain('acme', 'leaked', {primary: 'leaked.example.com'});
    await eventually('the API knows it', async () => (await ask('/leaked/domains')).body.domains.primary !== null);
    const {status, body} = await ask('/leaked/domains/leaked.example.com/reissue', {method: 'POST'});
    expect(status).toBe(202);
    const {metadata} = (await read('leaked'))!;
    expect(metadata.annotations?.['doorplate.dev/reissueRequestedAt']).toBe(body.requestedAt);
    expect((await ask('/leaked/domains')).body.reissuedFor).toBeNull();
    await world.client.patch(
      customDomains,
      `acme/${metadata.name}`,
      {status: {observedGeneration: 1, lastHandledReissueAt: body.requestedAt}},
      {type: 'merge', subresource: 'status'},
    );
    await eventually(
      'the API shows it',
      async () => (await ask('/leaked/domains')).body.reissuedFor === body.requestedAt,
    );
    expect((await ask('/leaked/domains/other.example.com/reissue', {method: 'POST'})).status).toBe(404);
  });

  test.each([
    ['kubectl apply', 'kubectl-client-side-apply'],
    ['server-side apply of another', 'flux'],
    ['Argo CD', 'argocd-controller'],
  ])('what %s owns can be verified by the API, and not changed', async (_, manager) => {
    const name = `git-${manager.slice(0, 4)}`;
    await project(name);
    await world.domain('acme', name, {primary: `${name}.example.com`}, manager);
    await eventually('the API knows it', async () => (await ask(`/${name}/domains`)).body.domains.primary !== null);
    const managed = "your platform's configuration";
    expect((await ask(`/${name}/domains`)).body.managedBy).toBe(managed);
    for (const [method, path, body] of [
      ['POST', 'domains', {hostname: `new-${name}.example.com`}],
      ['PUT', `domains/new-${name}.example.com`, {}],
      ['DELETE', `domains/${name}.example.com`, undefined],
      ['POST', `domains/${name}.example.com/make-primary`, undefined],
    ] as const) {
      expect(await ask(`/${name}/${path}`, {method, body})).toMatchObject({
        status: 409,
        body: {type: 'https://doorplate.dev/problems/managed-elsewhere', manager: managed},
      });
    }
    expect((await ask(`/${name}/domains/${name}.example.com/verify`, {method: 'POST'})).status).toBe(202);
    expect((await read(name))!.spec).toEqual({projectRef: {name}, primary: `${name}.example.com`});
  });

  test('a dry run answers with the result, and writes nothing', async () => {
    await project('tried');
    const tried = (hostname: string): Promise<Answer> =>
      ask('/tried/domains?dryRun=true', {method: 'POST', body: {hostname}});
    expect(await tried('tried.example.com')).toMatchObject({
      status: 200,
      body: {hostname: 'tried.example.com', role: 'Primary', phase: 'AwaitingVerification'},
    });
    expect(await read('tried')).toBeUndefined();
    await world.domain('acme', 'tried', {primary: 'tried.example.com'});
    await eventually('the API knows it', async () => (await ask('/tried/domains')).body.domains.primary !== null);
    expect(await tried('more.example.com')).toMatchObject({status: 200, body: {role: 'RedirectSource'}});
    expect((await tried('TRIED.example.com')).status).toBe(409);
    expect(await tried('co.uk')).toMatchObject({status: 422, body: {cause: 'PublicSuffix'}});
    expect(
      (await ask('/tried/domains?dryRun=perhaps', {method: 'POST', body: {hostname: 'x.example.com'}})).status,
    ).toBe(400);
    expect((await read('tried'))!.spec).toEqual({projectRef: {name: 'tried'}, primary: 'tried.example.com'});
  });

  test.each([
    ['💩.shop.example', 'xn--ls8h.shop.example'],
    ['例え。テスト', 'xn--r8jz45g.xn--zckzah'],
    ['xn--ls8h.example', 'xn--ls8h.example'],
  ])('%s is attached in its ASCII form', async (hostname, attached) => {
    const name = `emoji-${attached.replaceAll('.', '-')}`;
    await project(name);
    const body = {hostname};
    expect(await ask(`/${name}/domains?dryRun=true`, {method: 'POST', body})).toMatchObject({
      status: 200,
      body: {hostname: attached, phase: 'AwaitingVerification'},
    });
    const adding = ask(`/${name}/domains/${encodeURIComponent(hostname)}`, {method: 'PUT', body: {}});
    await eventually('it is written', async () => (await read(name))?.spec.primary === attached);
    await say(name, [{hostname: attached}]);
    expect((await adding).status).toBe(200);
  });

  test('a hostname without an ASCII form is refused, and says so', async () => {
    await project('joined');
    const {status, body} = await ask('/joined/domains', {method: 'POST', body: {hostname: '👨‍👩‍👧.example'}});
    expect([status, body.type]).toEqual([400, 'https://doorplate.dev/problems/invalid-input']);
    expect(body.cause).toBe('JoinedEmoji');
    expect(body.detail).toMatch(/joined emoji have no ASCII form \(UTS #46\), so choose another hostname$/);
  });

  test('what a path does not know in a query is refused, and nothing is done', async () => {
    await project('exact');
    const spec = {primary: 'exact.example.com', redirects: [{from: 'old.exact.example.com', status: 301 as const}]};
    await world.domain('acme', 'exact', spec);
    await eventually('the API knows it', async () => (await ask('/exact/domains')).body.hosts.length === 2);
    const before = (await read('exact'))!.metadata.resourceVersion;
    for (const [method, path, body] of [
      ['DELETE', '/exact/domains/old.exact.example.com?dryRun=true', undefined],
      ['PUT', '/exact/domains/new.exact.example.com?dryRun=true', {}],
      ['POST', '/exact/domains?dryrun=true', {hostname: 'new.exact.example.com'}],
      ['POST', '/exact/domains/old.exact.example.com/make-primary?dryRun=true', undefined],
      ['POST', '/exact/domains/old.exact.example.com/verify?dryRun=true', undefined],
      ['GET', '/exact/domains?limit=1', undefined],
      ['HEAD', '/exact/domains?limit=1', undefined],
      ['GET', '?limt=1', undefined],
    ] as const)
      expect([method, path, (await ask(path, {method, body})).status]).toEqual([method, path, 400]);
    expect((await ask('/exact/domains/old.exact.example.com?dryRun=true', {method: 'DELETE'})).body).toMatchObject({
      type: 'https://doorplate.dev/problems/invalid-input',
      errors: [{field: 'querystring', message: expect.stringContaining('dryRun')}],
    });
    expect((await read('exact'))!.metadata.resourceVersion).toBe(before);
    for (const path of ['/docs', '/openapi.json'])
      expect((await world.ask(`${path}?utm_source=mail`)).status).toBe(200);
  });

  test('a dry run answers with what the plan or the project refuses', async () => {
    const host = {observedGeneration: 1, host: 'x.apps.platform.test', url: 'https://x.apps.platform.test'};
    const tried = async (namespace: string, plan: string, status: Project['status']): Promise<Answer> => {
      await world.tenant(namespace, plan);
      await world.project(namespace, 'x', status);
      const token = await world.key(namespace, 'ci');
      await eventually(
        'the API knows its host',
        async () => (await world.ask('/v1/projects/x', {key: token})).body.host === host.host,
      );
      return ask('/x/domains?dryRun=true', {key: token, method: 'POST', body: {hostname: `${namespace}.example.org`}});
    };
    const refused = {phase: 'NotAccepted', waitingFor: 'Customer', records: []};
    const deployed = {...host, firstDeployTime: '2026-11-01T00:00:00Z'};
    expect(await tried('poor', 'free', deployed)).toMatchObject({
      status: 200,
      body: {...refused, reason: 'PlanUpgradeRequired', message: expect.stringContaining('the plan free')},
    });
    expect(await tried('idle', 'huge', host)).toMatchObject({
      status: 200,
      body: {...refused, reason: 'NoSuccessfulDeploy'},
    });
    await project('full');
    const redirects = Array.from({length: 9}, (_, i) => ({from: `r${i}.full.example.com`, status: 301 as const}));
    await world.domain('acme', 'full', {primary: 'full.example.com', redirects});
    await eventually('the API knows it', async () => (await ask('/full/domains')).body.hosts.length === 10);
    expect(await ask('/full/domains?dryRun=true', {method: 'POST', body: {hostname: 'z.example.com'}})).toMatchObject({
      status: 200,
      body: {...refused, role: 'RedirectSource', reason: 'HostnameLimitReached'},
    });
    expect((await read('full'))!.spec.redirects).toHaveLength(9);
  });

  test('twenty hostnames that are added at the same time are all there', async () => {
    await project('many');
    const names = Array.from({length: 20}, (_, i) => `n${i}.example.com`);
    const answers = await Promise.all(
      names.map((hostname) => ask('/many/domains', {method: 'POST', body: {hostname}})),
    );
    const late = answers.flatMap((a, i) => (a.status === 503 ? [names[i]!] : []));
    expect(answers.filter((a) => ![201, 503].includes(a.status))).toEqual([]);
    for (const hostname of late)
      await eventually(
        'it arrives',
        async () => (await ask(`/many/domains/${hostname}`, {method: 'PUT', body: {}})).status === 200,
      );
    const {spec} = (await read('many'))!;
    expect([spec.primary, ...spec.redirects!.map((r) => r.from)].toSorted()).toEqual(names.toSorted());
  });
});

/**
 * Who else wrote a CustomDomain or an ApiKey, by the real kubectl on a real API server, and what the API makes of it. docs/how-to/gitops.md has the
 * table of these tools.
 */
import {execFile} from 'node:child_process';
import {mkdtempSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {afterAll, beforeAll, describe, expect, test} from '@jest/globals';
import type {ApiKey, CustomDomain} from '../../operator/api/foreign.ts';
import type {AuditRecord} from '../../operator/http/audit.ts';
import type {ObjectStore} from '../../operator/http/store/store.ts';
import {type DomainsChanged, DomainWriter} from '../../operator/http/store/writer.ts';
import type {Client} from '../../operator/kube/client/client.ts';
import {apiKeys, customDomains, projects} from '../../operator/resources/resources.ts';
import type {ManagedFieldsEntry} from '../../operator/kube/objects.ts';
import {eventually} from '../../cluster/cluster.ts';
import {ApiWorld} from '../support/api-role.ts';
import type {Answer, Ask} from '../support/http-client.ts';
import {bin} from '../support/kube-server.ts';
import {readPage, root, scriptsOf} from '../support/pages.ts';

let world: ApiWorld;
let key: string;
let folder: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'doorplate-owners-'));
  world = await ApiWorld.start();
  const [cert, admin] = ['admin.crt', 'admin.key'].map((name) => join(world.server.dir, name));
  writeFileSync(join(folder, 'kubeconfig'), world.server.kubeconfig({'client-certificate': cert, 'client-key': admin}));
  await world.tenant('acme', 'huge');
  key = await world.key('acme', 'ci', {scopes: ['domains:read', 'domains:write', 'keys:write', 'audit:read']});
});
afterAll(async () => {
  await world?.stop();
  rmSync(folder, {recursive: true});
});

interface Ended {
  code: number;
  said: string;
}
/** A script of shell as an administrator runs it in the namespace of the tenant. */
function sh(script: string): Promise<Ended> {
  const path = `${join(root, 'operator/cli')}:${bin}:${process.env.PATH}`;
  const env = {...process.env, HOME: folder, PATH: path, KUBECONFIG: join(folder, 'kubeconfig')};
  return new Promise((resolve) => {
    execFile('bash', ['--norc', '-euo', 'pipefail', '-c', script], {cwd: folder, env}, (error, stdout, stderr) =>
      resolve({code: error ? Number(error.code) : 0, said: stdout + stderr}),
    );
  });
}
async function run(script: string): Promise<string> {
  const {code, said} = await sh(script);
  expect([script, code, code === 0 ? '' : said]).toEqual([script, 0, '']);
  return said;
}

const ask = (path: string, options: Ask = {}): Promise<Answer> => world.ask(`/v1/projects${path}`, {key, ...options});
const read = async (name: string): Promise<CustomDomain> => (await world.client.get(customDomains, `acme/${name}`))!;
const owners = (object: CustomDomain | ApiKey): ManagedFieldsEntry[] =>
  (object.metadata as {managedFields?: ManagedFieldsEntry[]}).managedFields ?? [];
const specOwners = (object: CustomDomain | ApiKey): string[] => {
  const owning = owners(object).filter(({fieldsV1 = {}, subresource}) => 'f:spec' in fieldsV1 && !subresource);
  return [...new Set(owning.map(({manager = ''}) => manager))];
};
const add = (name: string, label: string): Promise<Answer> =>
  ask(`/${name}/domains`, {method: 'POST', body: {hostname: `${label}.${name}.example.com`}});

/** A project whose domains the API made: `www` is the primary, `old` redirects. */
async function made(name: string): Promise<void> {
  await world.project('acme', name, {
    observedGeneration: 1,
    host: `${name}.apps.platform.test`,
    url: `https://${name}.apps.platform.test`,
    firstDeployTime: '2026-11-01T00:00:00Z',
  });
  await eventually('the API knows the project', async () => (await ask(`/${name}`)).body.deployed === true);
  for (const label of ['www', 'old']) expect((await add(name, label)).status).toBe(201);
}

/** The API's cache has the newest version of the object. */
async function seen(name: string): Promise<void> {
  const {uid, generation} = (await read(name)).metadata;
  await eventually(
    'the API has seen it',
    async () => (await ask(`/${name}/domains`)).body.version === `${uid}.${generation}`,
  );
}

const recordOf = (answer: Answer): Promise<AuditRecord> =>
  eventually('the record is there', async () => {
    const {items} = (await world.ask('/v1/audit?limit=500', {key})).body as {items: AuditRecord[]};
    return items.find(({requestId}) => requestId === answer.headers['x-request-id']) ?? false;
  });

const manifest = (name: string): string => {
  const spec = {projectRef: {name}, primary: `git.${name}.example.com`};
  const metadata = {name, namespace: 'acme', labels: {team: 'shop'}};
  return JSON.stringify({apiVersion: 'doorplate.dev/v1alpha1', kind: 'CustomDomain', metadata, spec});
};

/** An editor that sets the primary. */
const editing = (hostname: string): string => `KUBE_EDITOR="sed -i 's/primary: .*/primary: ${hostname}/'"`;
const patching = (name: string, spec: object, more = ''): string =>
  `kubectl patch customdomain ${name} -n acme --type merge ${more} -p '${JSON.stringify({spec})}'`;

describe('A person who changes a field of what the API made', () => {
  test.each<[string, (name: string, hostname: string) => string]>([
    ['edit', (name, hostname) => `${editing(hostname)} kubectl edit customdomain ${name} -n acme`],
    ['patch', (name, primary) => patching(name, {primary})],
  ])(
    'by kubectl %s leaves the domains changeable, and the next change takes over that field alone',
    async (how, script) => {
      const name = `visit-${how}`;
      await made(name);
      await run(`kubectl label customdomain ${name} -n acme ticket=4711`);
      await run(script(name, `help.${name}.example.com`));
      await seen(name);
      expect(specOwners(await read(name)).toSorted()).toEqual(['doorplate-api', `kubectl-${how}`]);
      expect((await ask(`/${name}/domains`)).body.managedBy).toBeNull();

      const answer = await add(name, 'new');
      const field = {field: 'primary', before: `help.${name}.example.com`, after: `help.${name}.example.com`};
      expect(answer).toMatchObject({status: 201, body: {role: 'RedirectSource', tookOver: [field]}});
      expect(await recordOf(answer)).toMatchObject({action: 'hostname.add', tookOver: [field]});
      const {spec, metadata} = await read(name);
      expect([spec.primary, spec.redirects?.map(({from}) => from.split('.')[0]), metadata.labels]).toEqual([
        `help.${name}.example.com`,
        ['old', 'new'],
        {ticket: '4711'},
      ]);
      expect(specOwners(await read(name))).toEqual(['doorplate-api']);
      expect(world.log.some((line) => line.includes(`"formerOwners":["kubectl-${how}"]`))).toBe(true);
      expect(JSON.stringify([answer.body, await recordOf(answer)])).not.toContain('kubectl');
      // The next change takes nothing over.
      const next = await add(name, 'next');
      expect([next.status, next.body.tookOver, (await recordOf(next)).tookOver]).toEqual([201, undefined, undefined]);
      // Nor do changes of nothing, after which the API's apply owns the spec alone again: labels stay.
      for (const _ of [1, 2])
        expect((await ask(`/${name}/domains/old.${name}.example.com`, {method: 'PUT', body: {}})).status).toBe(200);
      expect((await read(name)).metadata.labels).toEqual({ticket: '4711'});
    },
  );

  test('and takes it back locks nothing', async () => {
    await made('back');
    await run(patching('back', {primary: 'wrong.back.example.com'}));
    await run(patching('back', {primary: 'www.back.example.com'}));
    await seen('back');
    expect((await ask('/back/domains')).body.managedBy).toBeNull();
    // It changes nothing, but the API owns the field again, and that is on record.
    const answer = await ask('/back/domains/old.back.example.com', {method: 'PUT', body: {}});
    expect(answer.status).toBe(200);
    expect((await recordOf(answer)).tookOver).toMatchObject([{field: 'primary'}]);
    expect(specOwners(await read('back'))).toEqual(['doorplate-api']);
    const moved = await ask('/back/domains/old.back.example.com/make-primary', {method: 'POST'});
    expect([moved.status, (await read('back')).spec.primary]).toEqual([200, 'old.back.example.com']);
  });

  test('by a redirect that was added is obeyed when the redirect is removed through the API', async () => {
    await made('added');
    const redirects = ['old', 'extra'].map((label) => ({from: `${label}.added.example.com`, status: 302}));
    await run(patching('added', {redirects}));
    await seen('added');
    const answer = await ask('/added/domains/extra.added.example.com', {method: 'DELETE'});
    expect(answer.status).toBe(204);
    expect((await read('added')).spec.redirects).toEqual([{from: 'old.added.example.com', status: 302}]);
    expect((await recordOf(answer)).tookOver).toEqual([
      {field: 'redirects[extra.added.example.com]', before: '302', after: null},
      {field: 'redirects[old.added.example.com]', before: '302', after: '302'},
    ]);
  });

  test('is on record with the change that takes it over, also after a change that was refused', async () => {
    await made('full');
    const redirects = Array.from({length: 500}, (_, i) => ({from: `r${i}.full.example.com`, status: 301}));
    await run(patching('full', {redirects}));
    await seen('full');
    const before = await read('full');
    expect((await add('full', 'more')).status).toBe(422);
    expect(await read('full')).toEqual(before);
    const answer = await ask('/full/domains/r499.full.example.com', {method: 'PUT', body: {status: 302}});
    const field = {field: 'redirects[r499.full.example.com]', before: '301', after: '302'};
    expect([answer.status, answer.body.tookOver.length]).toEqual([200, 500]);
    expect(answer.body.tookOver).toContainEqual(field);
    // The record has the first 32 fields: changed fields are first.
    const {tookOver} = await recordOf(answer);
    expect([tookOver?.length, tookOver?.[0]]).toEqual([32, field]);
  });

  test('is on record with the change that removes all domains', async () => {
    await made('ended');
    expect((await ask('/ended/domains/old.ended.example.com', {method: 'DELETE'})).status).toBe(204);
    await run(patching('ended', {primary: 'help.ended.example.com'}));
    await seen('ended');
    const answer = await ask('/ended/domains/help.ended.example.com', {method: 'DELETE'});
    expect(answer.status).toBe(204);
    expect((await recordOf(answer)).tookOver).toEqual([
      {field: 'primary', before: 'help.ended.example.com', after: null},
    ]);
    const logged = world.log.find((line) => line.includes('took over') && line.includes('help.ended.example.com'));
    expect(logged).toContain('"formerOwners":["kubectl-patch"]');
  });

  test.each([1, 7])('is on record when the operator writes its status %d times meanwhile', async (times) => {
    const name = `busy-${times}`;
    await made(name);
    await run(patching(name, {primary: `help.${name}.example.com`}));
    let left = times;
    const client = meddling(async () => {
      if (left-- <= 0) return;
      const status = {observedGeneration: 1000 + left};
      await world.client.patch(customDomains, `acme/${name}`, {status}, {type: 'merge', subresource: 'status'});
    });
    const done = await changing(name, client).catch(String);
    expect(done).toMatchObject({tookOver: [{field: 'primary'}], formerOwners: ['kubectl-patch']});
    expect([left < 0, specOwners(await read(name))]).toEqual([true, ['doorplate-api']]);
  });

  test('by kubectl apply at the same time is no longer changeable, and keeps the fields of the apply', async () => {
    await made('race');
    await run(patching('race', {primary: 'help.race.example.com'}));
    let left = 1;
    const client = meddling(async () => {
      if (left-- > 0) await run(applying('race', 'kustomize-controller'));
    });
    await expect(changing('race', client)).rejects.toMatchObject({manager: 'kustomize-controller'});
    const after = await read('race');
    expect([after.spec.primary, specOwners(after).includes('kustomize-controller')]).toEqual([
      'git.race.example.com',
      true,
    ]);
  });

  test('goes through later changes as everything else does', async () => {
    await made('later');
    await run(patching('later', {primary: 'help.later.example.com'}));
    await seen('later');
    for (const label of ['one', 'two']) expect((await add('later', label)).status).toBe(201);
    for (const label of ['one', 'old', 'two'])
      expect((await ask(`/later/domains/${label}.later.example.com`, {method: 'DELETE'})).status).toBe(204);
    expect((await read('later')).spec).toEqual({projectRef: {name: 'later'}, primary: 'help.later.example.com'});
    expect((await ask('/later/domains/help.later.example.com', {method: 'DELETE'})).status).toBe(204);
  });

  test('is not in the way of a dry run, which takes nothing over', async () => {
    await made('trial');
    await run(patching('trial', {primary: 'help.trial.example.com'}));
    await seen('trial');
    const before = await read('trial');
    const path = '/trial/domains?dryRun=true';
    expect((await ask(path, {method: 'POST', body: {hostname: 'x.trial.example.com'}})).status).toBe(200);
    expect(await read('trial')).toEqual(before);
  });

  test('of a key locks neither its rotation nor its end', async () => {
    await world.key('acme', 'visited');
    await run(`kubectl patch apikey visited -n acme --type merge -p '{"spec":{"scopes":["domains:read"]}}'`);
    await seenKey('visited', ['domains:read']);
    expect((await world.ask('/v1/keys/visited/rotate', {key, method: 'POST', body: {}})).status).toBe(200);
    expect((await world.ask('/v1/keys/visited', {key, method: 'DELETE'})).status).toBe(204);
  });
});

describe('The annotation doorplate.dev/stop', () => {
  const stop = 'doorplate.dev/stop';
  const applied = (name: string): string => {
    const metadata = {name, namespace: 'acme', annotations: {[stop]: `www.${name}.example.com`}};
    return JSON.stringify({apiVersion: 'doorplate.dev/v1alpha1', kind: 'CustomDomain', metadata});
  };

  test('stays with its owners at a change that does not write it, with the other annotations', async () => {
    await made('stop');
    await run(`kubectl annotate customdomain stop -n acme ${stop}=www.stop.example.com other=1`);
    await run(`kubectl apply --server-side --field-manager=kustomize-controller -f - <<< '${applied('stop')}'`);
    await run(patching('stop', {primary: 'help.stop.example.com'}));
    for (const label of ['one', 'two']) expect((await add('stop', label)).status).toBe(201);
    expect((await read('stop')).metadata.annotations).toEqual({[stop]: 'www.stop.example.com', other: '1'});
    const its = owners(await read('stop')).flatMap(({manager, fieldsV1}) =>
      JSON.stringify(fieldsV1).includes(stop) ? [manager] : [],
    );
    expect(its.toSorted()).toEqual(['kubectl-annotate', 'kustomize-controller']);
  });

  test('is not taken from a program that would write it again', async () => {
    await made('stopgit');
    await run(`kubectl apply --server-side --field-manager=kustomize-controller -f - <<< '${applied('stopgit')}'`);
    const host = {role: 'Primary', phase: 'Live', reason: 'Live', message: '', liveAt: '2026-11-01T00:00:00Z'};
    const since = '2026-11-01T00:00:00Z';
    const hosts = [{...host, hostname: 'gone.stopgit.example.com', since, waitingFor: 'Nobody'}];
    const status = {observedGeneration: 1, hosts};
    await world.client.patch(customDomains, 'acme/stopgit', {status}, {type: 'merge', subresource: 'status'});
    const refused = await ask('/stopgit/domains/gone.stopgit.example.com', {method: 'DELETE'});
    expect([refused.status, refused.body.type]).toEqual([409, 'https://doorplate.dev/problems/managed-elsewhere']);
    expect((await read('stopgit')).metadata.annotations).toEqual({[stop]: 'www.stopgit.example.com'});
  });
});

describe('A mark of a GitOps tool on what the API made', () => {
  const mark = 'argocd.argoproj.io/tracking-id';
  const note = `kubectl annotate customdomain`;

  test('locks the domains if the tool has put it there, although the tool owns no field of the spec', async () => {
    await made('marked');
    await run(`${note} marked -n acme --field-manager=argocd-controller ${mark}=x`);
    const seenMark = eventually('the API has seen it', async () => (await owner('marked')) === platforms, 20_000);
    expect(await seenMark.catch(String)).toBe(true);
    expect((await add('marked', 'new')).status).toBe(409);
    const {code, said} = await sh('kubectl doorplate release marked -n acme');
    expect([code, said]).toEqual([1, expect.stringContaining(`Argo CD will write it again (${mark})`)]);
    await run(`${note} marked -n acme ${mark}-`);
    await eventually('the API has seen it', async () => (await add('marked', 'new')).status === 201, 20_000);
  });

  test('locks nothing if a person has put it there', async () => {
    await made('copied');
    await run(
      `${note} copied -n acme ${mark}=x && kubectl label customdomain copied -n acme app.kubernetes.io/instance=x`,
    );
    const labels = {'kustomize.toolkit.fluxcd.io/name': 'x', 'applyset.kubernetes.io/part-of': 'x'};
    const object = {...JSON.parse(manifest('copied')), metadata: {name: 'copied', namespace: 'acme', labels}};
    delete object.spec;
    await run(`kubectl apply --server-side -f - <<< '${JSON.stringify(object)}'`);
    expect((await add('copied', 'new')).status).toBe(201);
    expect((await ask('/copied/domains')).body.managedBy).toBeNull();
    expect(await run('kubectl doorplate release copied -n acme')).toBe(
      'The CustomDomain copied in the namespace acme already belongs to the API.\n',
    );
  });
});

describe('An owner of labels and annotations alone', () => {
  test.each([
    ['label', 'team=shop'],
    ['annotate', 'note=hello'],
  ])('by kubectl %s changes nothing for the API, and keeps them', async (how, pair) => {
    const name = `meta-${how}`;
    await made(name);
    await run(`kubectl ${how} customdomain ${name} -n acme ${pair}`);
    const answer = await add(name, 'new');
    expect([answer.status, answer.body.tookOver]).toEqual([201, undefined]);
    const {labels, annotations} = (await read(name)).metadata;
    expect(JSON.stringify({labels, annotations})).toContain(pair.split('=')[1]);
  });
});

/** A client of the API server, of which `meddle` is called before each write: another manager that is faster. */
function meddling(meddle: () => Promise<void>): Client {
  const {client} = world;
  const before = async <T>(write: () => Promise<T>): Promise<T> => {
    await meddle();
    return write();
  };
  const fake: Pick<Client, 'get' | 'patch' | 'applyPatch'> = {
    get: (...args) => client.get(...args),
    patch: (...args) => before(() => client.patch(...args)),
    applyPatch: (...args) => before(() => client.applyPatch(...args)),
  };
  return fake as Client;
}

/** A change of nothing by the API's writer, through a client. */
async function changing(name: string, client: Client): Promise<DomainsChanged> {
  const domain = await read(name);
  const store = {domainOf: () => domain} as unknown as ObjectStore;
  const domains = {observe: () => {}} as unknown as ConstructorParameters<typeof DomainWriter>[0]['domains'];
  const project = (await world.client.get(projects, `acme/${name}`))!;
  return new DomainWriter({client, store, domains}).change(project, undefined, (now) => now);
}

/** How others come to own fields of the spec. */
const applying = (name: string, manager?: string): string =>
  `kubectl apply --server-side --force-conflicts ${manager ? `--field-manager=${manager}` : ''} -f - <<< '${manifest(name)}'`;
const tools: [string, string, (name: string) => string][] = [
  ['kubectl apply', 'kubectl-client-side-apply', (name) => `kubectl apply -f - <<< '${manifest(name)}'`],
  ['kubectl apply --server-side', 'kubectl', (name) => applying(name)],
  [
    'kubectl replace',
    'kubectl-replace',
    (name) => `kubectl get customdomain ${name} -n acme -o json | sed s/www/changed/ | kubectl replace -f -`,
  ],
  [
    'a script with kubectl patch --field-manager',
    'deploy-script',
    (name) => patching(name, {primary: `x.${name}.example.com`}, '--field-manager=deploy-script'),
  ],
  ['Argo CD', 'argocd-controller', (name) => applying(name, 'argocd-controller')],
  ['Flux', 'kustomize-controller', (name) => applying(name, 'kustomize-controller')],
  ['Helm', 'helm', (name) => applying(name, 'helm')],
];
const nameOf = (tool: string): string => `t${tools.findIndex(([each]) => each === tool)}`;
/** How the API names the owner, when it has seen the newest version. */
async function owner(name: string): Promise<unknown> {
  await seen(name);
  return (await ask(`/${name}/domains`)).body.managedBy;
}
/** The API's cache has a key with these scopes. */
const seenKey = (name: string, scopes: readonly string[]): Promise<boolean> =>
  eventually('the API knows it', async () =>
    (await world.ask('/v1/keys', {key})).body.items.some(
      (item: {name: string; scopes: string[]}) => item.name === name && item.scopes.length === scopes.length,
    ),
  );
const platforms = "your platform's configuration";

describe('Every other owner of the spec', () => {
  test.each(tools)('%s keeps the domains read-only until they are released', async (how, manager, script) => {
    const name = nameOf(how);
    await made(name);
    await run(script(name));
    expect(await owner(name)).toBe(platforms);
    const owned = (await ask(`/${name}/domains`)).body;
    const refused = await add(name, 'new');
    expect(refused).toMatchObject({
      status: 409,
      body: {
        type: 'https://doorplate.dev/problems/managed-elsewhere',
        detail:
          "This project's list of domains is managed by your platform's configuration, not by this API: another program wrote it and may " +
          'write it again. Change it in that program, or ask the platform to hand it back to this API.',
      },
    });
    expect(JSON.stringify([owned, refused.body])).not.toContain(manager);
    expect(world.log.some((line) => line.includes(`"manager":"${manager}"`))).toBe(true);

    const before = await read(name);
    const object = `The CustomDomain ${name} in the namespace acme`;
    const flag = ['Argo CD', 'Flux', 'Helm'].includes(how) ? ' --from-pipeline' : '';
    const release = `kubectl doorplate release customdomain/${name} -n acme${flag}`;
    expect(await run(`${release} --dry-run`)).toBe(
      `${object} would be returned to the API. Former owner: ${manager}.\nNothing was written.\n`,
    );
    expect(await read(name)).toEqual(before);
    expect(await run(release)).toBe(`${object} is returned to the API. Former owner: ${manager}.\n`);
    expect(await run(`kubectl doorplate release ${name} -n acme`)).toBe(`${object} already belongs to the API.\n`);
    const after = await read(name);
    expect([after.spec, after.metadata.labels, specOwners(after)]).toEqual([
      before.spec,
      before.metadata.labels,
      ['doorplate-api'],
    ]);
    await eventually('the API has seen it', async () => (await add(name, 'new')).status !== 409, 20_000);
    const {spec, metadata} = await read(name);
    expect([spec.redirects?.at(-1)?.from, metadata.labels]).toEqual([
      `new.${name}.example.com`,
      before.metadata.labels,
    ]);
  });

  test('a visit does not open what kubectl made', async () => {
    await world.project('acme', 'foreign');
    await run(`kubectl create -f - <<< '${manifest('foreign')}'`);
    await run(patching('foreign', {primary: 'help.foreign.example.com'}));
    expect(await owner('foreign')).toBe(platforms);
    expect((await add('foreign', 'new')).status).toBe(409);
    expect((await read('foreign')).spec).toEqual({projectRef: {name: 'foreign'}, primary: 'help.foreign.example.com'});
  });

  test('of a key keeps its rotation away, without its name, until it is released', async () => {
    await world.key('acme', 'gitkey');
    const former = (await world.client.get(apiKeys, 'acme/gitkey'))!.spec;
    // Scopes are a set: those of the API stay.
    const scopes = [...former.scopes!, 'audit:read'];
    const spec = {...former, scopes};
    const object = {
      apiVersion: 'doorplate.dev/v1alpha1',
      kind: 'ApiKey',
      metadata: {name: 'gitkey', namespace: 'acme'},
      spec,
    };
    await run(
      `kubectl apply --server-side --force-conflicts --field-manager=secret-name -f - <<< '${JSON.stringify(object)}'`,
    );
    await seenKey('gitkey', scopes);
    const rotate = (): Promise<Answer> =>
      world.ask('/v1/keys/gitkey/rotate', {key, method: 'POST', body: {dropPrevious: true}});
    const refused = await rotate();
    expect(refused.status).toBe(409);
    expect(refused.body.detail).toContain("The key gitkey is managed by your platform's configuration");
    expect(JSON.stringify(refused.body)).not.toContain('secret-name');
    await run('kubectl doorplate release apikey/gitkey -n acme');
    await eventually('the API has seen it', async () => (await rotate()).status === 200, 20_000);
  });
});

describe('kubectl doorplate release', () => {
  test.each([
    ['Argo CD', 'annotate', 'argocd.argoproj.io/tracking-id', 'argocd-controller'],
    ['Argo CD', 'label', 'app.kubernetes.io/instance', 'argocd-controller'],
    ['Flux', 'label', 'kustomize.toolkit.fluxcd.io/name', 'kustomize-controller'],
    ['Helm', 'annotate', 'meta.helm.sh/release-name', 'helm'],
    ['kapp', 'label', 'kapp.k14s.io/app', 'kapp-server'],
    ['Rancher Fleet', 'annotate', 'objectset.rio.cattle.io/id', 'fleetagent'],
    ['kubectl apply --prune', 'label', 'applyset.kubernetes.io/part-of', undefined],
  ])(
    'refuses what %s marks as its own (kubectl %s %s), and says how to take it out',
    async (tool, verb, mark, manager) => {
      const name = `${verb}-${manager ?? 'kubectl'}`;
      await world.project('acme', name);
      await run(applying(name, manager));
      await run(`kubectl ${verb} customdomain ${name} -n acme ${mark}=x`);
      const before = await read(name);
      const [sign, flag] = manager ? [`${mark}, field manager ${manager}`, ' --from-pipeline'] : [mark, ''];
      const remedy =
        `kubectl ${verb} customdomain/${name} -n acme ${mark}- && ` +
        `kubectl doorplate release customdomain/${name} -n acme${flag}`;
      const refusal = {
        code: 1,
        said:
          `The CustomDomain ${name} in the namespace acme was not returned: ${tool} will write it again (${sign}). Remove it from ` +
          `${tool} first, without deleting the object. Then run: ${remedy}\n`,
      };
      expect(await sh(`kubectl doorplate release ${name} -n acme`)).toEqual(refusal);
      // The mark is removed first: the API would count it.
      expect(await sh(`kubectl doorplate release ${name} -n acme --from-pipeline`)).toEqual(refusal);
      expect(await read(name)).toEqual(before);
      await run(remedy);
      expect(specOwners(await read(name))).toEqual(['doorplate-api']);
    },
  );

  test.each([
    ['nothing', 'there is no CustomDomain nothing in the namespace acme'],
    ['apikey/nothing', 'there is no ApiKey nothing in the namespace acme'],
  ])('of %s says that it does not exist', async (word, says) => {
    const {code, said} = await sh(`kubectl doorplate release ${word} -n acme`);
    expect([code, said]).toEqual([1, expect.stringContaining(says)]);
  });

  test('takes no file that does not say who owned its objects', async () => {
    const {code, said} = await sh(`kubectl doorplate release -f - <<< '${manifest('x')}'`);
    expect([code, said]).toEqual([
      1,
      'error: - does not contain the owners of its objects: save them with kubectl get --show-managed-fields\n',
    ]);
  });
});

test('After a restore by docs/how-to/backup.md customers change by the API what they made there, and nothing else', async () => {
  await made('restored');
  // A person's copy of a mark, which kubectl apply owns after the restore.
  await run('kubectl label customdomain restored -n acme kustomize.toolkit.fluxcd.io/name=x');
  await world.key('acme', 'saved');
  await world.project('acme', 'in-git');
  await run(applying('in-git', 'kustomize-controller'));
  expect(await owner('in-git')).toBe(platforms);
  const [save, ...restore] = scriptsOf(readPage('docs/how-to/backup.md'), 'api-server').map(({text}) => text);
  await run(save!);
  await run('kubectl delete customdomain restored in-git -n acme && kubectl delete apikey saved -n acme');
  const said: string[] = [];
  for (const script of restore) said.push(await run(script));
  expect(said.at(-1)).toBe('acme in-git\n');
  expect(said.join('')).toContain(
    'The CustomDomain in-git in the namespace acme stays unchanged: its owner was kustomize-controller when it was saved.\n',
  );
  await eventually('the API has seen it', async () => (await add('restored', 'new')).status === 201, 20_000);
  const objects = [await read('restored'), (await world.client.get(apiKeys, 'acme/saved'))!, await read('in-git')];
  expect(objects.map(specOwners)).toEqual([['doorplate-api'], ['doorplate-api'], ['kubectl-client-side-apply']]);
  expect((await world.ask('/v1/keys/saved/rotate', {key, method: 'POST', body: {}})).status).toBe(200);
  expect((await add('in-git', 'new')).status).toBe(409);
});

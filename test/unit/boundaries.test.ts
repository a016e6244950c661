/** Checks the imports between the rooms of operator/, and the private files of folders. */
import {globSync, readFileSync} from 'node:fs';
import {basename, dirname, join} from 'node:path/posix';
import {describe, expect, test} from '@jest/globals';
import {importsOf} from '../support/source.ts';

/** From low to high. A file imports files of its own room and of lower rooms. Rooms of one level do not know each other. */
const levels = [
  ['dns', 'kube', 'version.ts'],
  ['api'],
  ['domain'],
  ['acme', 'limits', 'resources', 'setting-values.ts'],
  ['redirector'],
  ['api-settings.ts', 'edge', 'issuer-settings.ts'],
  ['config.ts', 'controllers'],
  ['observability', 'preflight'],
  ['http'],
  ['authorize', 'cli', 'generate'],
  ['roles'],
  ['main.ts'],
];

/**
 * The front doors of folders: files outside a folder import only its front doors. Other files are private to the folder and its
 * subfolders. Folders that are not listed have no private files.
 */
const doors: Readonly<Record<string, readonly string[]>> = {
  authorize: ['authorizer', 'envoy', 'http'],
  cli: [],
  'cli/check': ['command', 'subjects'],
  'cli/domains': ['domains', 'explain', 'records', 'reissue', 'release', 'status', 'verify', 'why'],
  'cli/platform/adopt': ['command'],
  'cli/platform/policy': ['command'],
  controllers: ['account', 'api-key', 'custom-domain', 'gather', 'issuers', 'project'],
  'controllers/orders': ['ca-progress', 'order-queues', 'order-tracker'],
  'controllers/probes': ['check-rates', 'dns-check', 'edge-health', 'issuance-reader', 'observations', 'observer'],
  'controllers/state': [
    'caches',
    'cas',
    'census',
    'certificate-times',
    'check-times',
    'edge-addresses',
    'first-domains',
    'issuer',
    'project-slots',
    'rendering',
    'repeated-requests',
    'tenants',
    'verification-slots',
  ],
  dns: ['addresses', 'client', 'inquiry', 'names', 'outward', 'rate', 'resolvers', 'wire'],
  domain: ['api-key', 'confirmations', 'csv', 'lifecycle', 'networks', 'tenant', 'text', 'times', 'world'],
  'domain/claims': ['claim', 'claim-write', 'ownership'],
  'domain/host': ['steps'],
  'domain/project': ['default-hostname', 'limit', 'project', 'world'],
  'domain/reasons': ['customer', 'parameters', 'reason', 'reasons', 'template'],
  'domain/verification': [
    'addresses',
    'cdns',
    'https-record',
    'message',
    'method',
    'methods',
    'misplaced-record',
    'provider-forms',
    'providers',
    'records',
    'surroundings',
    'verdict',
  ],
  edge: ['plain-http', 'probe'],
  generate: [],
  // The page, which is built from dashboard/, imports the schemas.
  http: ['audit', 'broken-requests', 'idempotency', 'listen', 'problems', 'server', 'usage', 'views'],
  'http/gate': [
    'address',
    'auth',
    'caller',
    'conditional',
    'gate',
    'namespace-header',
    'pools',
    'preconditions',
    'refusals',
    'service-accounts',
  ],
  'http/openapi': ['docs-page', 'openapi', 'static-file'],
  'http/page': ['files', 'routes'],
  'http/routes': ['audit', 'dry-run', 'events', 'key-bounds', 'keys', 'reads', 'usage', 'writes'],
  'http/session': ['cookie', 'pass', 'routes', 'same-origin', 'sessions'],
  'http/texts': ['customer-texts', 'schema'],
  'http/store': ['key-writer', 'managers', 'marks', 'settled', 'store', 'writer'],
  kube: ['broken-requests', 'clock', 'drain', 'equality', 'errors', 'manager', 'metrics', 'objects'],
  'kube/cache': ['cache'],
  'kube/client': ['client', 'kubeconfig', 'proxy', 'service-account-token', 'workers'],
  'kube/controller': ['appointments', 'controller', 'wake'],
  'kube/leader': ['leader'],
  'kube/writes': ['apply', 'events', 'finalizer', 'side-by-side', 'status'],
  limits: ['bans', 'headers', 'journal', 'limiter', 'limits', 'metrics', 'records', 'usage', 'verdict'],
  'limits/ledger': ['journal-tables', 'ledger'],
  preflight: ['preflight', 'question', 'questions'],
  roles: ['api', 'client', 'operator', 'parts', 'preflight', 'redirector', 'uninstall'],
};

/** More files than this in one folder are hard to find one's way in. `domain/host` is a list of steps, one file each. */
const mostFiles = 15;

const root = new URL('../../operator/', import.meta.url);
const files = globSync('**/*.ts', {cwd: root}).toSorted();
const imports = files.flatMap((from) =>
  importsOf(readFileSync(new URL(from, root), 'utf8'))
    .filter((specifier) => specifier.startsWith('.'))
    .map((specifier) => ({from, to: join(dirname(from), specifier)})),
);
const roomOf = (path: string): string => path.split('/')[0]!;
const levelOf = (path: string): number => levels.findIndex((rooms) => rooms.includes(roomOf(path)));
const isPrivate = (path: string): boolean => doors[dirname(path)]?.includes(basename(path, '.ts')) === false;
const isInside = (path: string, folder: string): boolean => folder === '.' || path.startsWith(`${folder}/`);

describe('The rooms of operator/', () => {
  test('have each a level', () => {
    expect(imports.length).toBeGreaterThan(500);
    expect([...new Set(files.map(roomOf))].toSorted()).toEqual(levels.flat().toSorted());
  });

  test('import nothing of the same level or a higher one', () => {
    const upward = imports.filter(({from, to}) => roomOf(from) !== roomOf(to) && levelOf(to) >= levelOf(from));
    expect(upward.map(({from, to}) => `${from} imports ${to}`)).toEqual([]);
  });
});

describe('A folder of operator/', () => {
  const folders = [...new Set(files.map(dirname))];

  test(`has at most ${mostFiles} files`, () => {
    const sizes = folders.map((folder) => ({folder, size: files.filter((path) => dirname(path) === folder).length}));
    expect(sizes.filter(({folder, size}) => folder !== 'domain/host' && size > mostFiles)).toEqual([]);
  });

  test('has private files that no file outside of it imports', () => {
    const intruders = imports.filter(({from, to}) => isPrivate(to) && !isInside(from, dirname(to)));
    expect(intruders.map(({from, to}) => `${from} imports ${to}, which is private to ${dirname(to)}/`)).toEqual([]);
  });

  test('has no front door that nobody outside comes in by', () => {
    const used = new Set(imports.filter(({from, to}) => !isInside(from, dirname(to))).map(({to}) => to));
    const listed = Object.entries(doors).flatMap(([folder, names]) => names.map((name) => `${folder}/${name}.ts`));
    expect(listed.filter((path) => !used.has(path))).toEqual([]);
  });
});

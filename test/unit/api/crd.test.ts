import {execFile} from 'node:child_process';
import {fileURLToPath} from 'node:url';
import {promisify} from 'node:util';
import {describe, expect, test} from '@jest/globals';
import {parse} from 'yaml';
import {z} from 'zod';
import type {CustomKind} from '../../../operator/api/crd.ts';
import {crd, lint} from '../../../operator/api/crd.ts';
import {customDomainConditions, customDomainKind} from '../../../operator/api/custom-domain.ts';
import {redirectStatuses} from '../../../operator/api/custom-domain-spec.ts';
import {accountKind} from '../../../operator/api/account.ts';
import {apiKeyKind} from '../../../operator/api/api-key.ts';
import {domainClaimKind} from '../../../operator/api/domain-claim.ts';
import {planKind} from '../../../operator/api/plan.ts';
import {projectKind} from '../../../operator/api/project.ts';
import {reasonsPage} from '../../../operator/generate/reasons-page.ts';
import {fold} from '../../../operator/api/hostname-rules.ts';
import {checked, text} from '../../../operator/api/rules.ts';
import {reasons} from '../../../operator/domain/reasons/reasons.ts';

interface Node {
  [key: string]: unknown;
  properties?: Record<string, Node>;
  items?: Node;
}
const schemaOf = (kind: CustomKind) =>
  (crd(kind) as {spec: {versions: {schema: {openAPIV3Schema: Node}}[]}}).spec.versions[0]!.schema.openAPIV3Schema;
const at = (node: Node, path: string) =>
  path.split('.').reduce<Node>((n, part) => (part === '[]' ? n.items! : n.properties![part]!), node);
/** Every schema with its path. */
const walk = (node: Node, path = ''): [string, Node][] => [
  [path, node],
  ...Object.entries(node.properties ?? {}).flatMap(([name, n]) => walk(n, `${path}.${name}`)),
  ...(node.items ? walk(node.items, `${path}[]`) : []),
];

const columns = (kind: CustomKind) =>
  (
    crd(kind) as {spec: {versions: {additionalPrinterColumns: {name: string; priority?: number}[]}[]}}
  ).spec.versions[0]!.additionalPrinterColumns.map((c) => c.name + (c.priority ? '*' : ''));

const specOf = (kind: CustomKind) =>
  (crd(kind) as {spec: {scope: string; versions: {subresources?: object; schema: {openAPIV3Schema: Node}}[]}}).spec;

const all: CustomKind[] = [planKind, accountKind, projectKind, customDomainKind, domainClaimKind, apiKeyKind];
const kindWith = (spec: z.ZodType): CustomKind => ({...projectKind, spec});

describe('The schema of a kind', () => {
  test.each<[string, CustomKind]>([
    ['CustomDomain', customDomainKind],
    ['Project', projectKind],
    ['Plan', planKind],
    ['Account', accountKind],
    ['ApiKey', apiKeyKind],
  ])('%s is structural, described and bounded throughout', (_, kind) => {
    for (const [path, node] of walk(schemaOf(kind))) {
      expect([path, node.description]).toEqual([path, expect.stringMatching(/\S/)]);
      expect([
        path,
        ['anyOf', 'oneOf', 'allOf', '$ref', 'additionalProperties', 'substitute'].filter((key) => key in node),
      ]).toEqual([path, []]);
    }
    expect(lint(schemaOf(kind), kind.kind)).toEqual([]);
  });

  test('has the lists of status as maps, so that each entry is told from the others', () => {
    const schema = schemaOf(customDomainKind);
    expect(
      ['spec.redirects', 'status.hosts', 'status.conditions'].map(
        (path) => at(schema, path)['x-kubernetes-list-map-keys'],
      ),
    ).toEqual([['from'], ['hostname'], ['type']]);
    expect(at(schema, 'spec.redirects.[].status')).toMatchObject({
      type: 'integer',
      enum: [...redirectStatuses],
      default: 301,
    });
    expect(at(schema, 'status').default).toEqual({observedGeneration: -1});
    expect(at(schema, 'spec.projectRef')['x-kubernetes-validations']).toEqual([
      {rule: 'self == oldSelf', message: expect.stringContaining('immutable')},
    ]);
  });

  test('has its columns in order, those of -o wide marked', () => {
    expect(columns(customDomainKind)).toEqual([
      'PRIMARY',
      'PHASE',
      'HOSTS',
      'READY',
      'REASON',
      'AGE',
      'WAITING-FOR*',
      'SINCE*',
      'WAITING*',
      'TARGET*',
      'MESSAGE*',
    ]);
    expect(columns(projectKind)).toEqual(['HOST', 'DEPLOYED', 'READY', 'REASON', 'AGE', 'URL*', 'MESSAGE*']);
    expect(columns(planKind)).toEqual(['DOMAINS', 'HOSTNAMES', 'PROJECTS', 'PER-MINUTE', 'PER-DAY', 'AGE']);
    expect(columns(apiKeyKind)).toEqual(['SCOPES', 'READY', 'REASON', 'LAST-USED', 'AGE', 'EXPIRES*', 'MESSAGE*']);
    expect(columns(accountKind)).toEqual(['PLAN', 'READY', 'REASON', 'AGE', 'PER-MINUTE*', 'PER-DAY*', 'MESSAGE*']);
  });

  test('is namespaced where tenants write it, cluster-scoped where the platform does; a Plan has no status that anybody could wait for', () => {
    expect([customDomainKind, projectKind, apiKeyKind, planKind, accountKind].map((k) => specOf(k).scope)).toEqual([
      'Namespaced',
      'Namespaced',
      'Namespaced',
      'Cluster',
      'Cluster',
    ]);
    expect([
      specOf(planKind).versions[0]!.subresources,
      Object.keys(specOf(planKind).versions[0]!.schema.openAPIV3Schema.properties!),
    ]).toEqual([undefined, ['spec']]);
    expect(specOf(accountKind).versions[0]!.subresources).toEqual({status: {}});
  });

  test('names no file of the repository: users read it on a cluster', () => {
    expect(
      JSON.stringify(all.map(crd)).match(/[^ ]*(docs|operator|test|examples|charts|crds)\/[^ ]*|[^ ]*\.md\b/g),
    ).toBe(null);
  });

  test('has short names that no other group has: they begin with dp, and each is of one kind', () => {
    expect(all.map((kind) => kind.shortNames)).toEqual([
      ['dpplan'],
      ['dpacct'],
      ['dpproj'],
      ['dpdom'],
      ['dpclaim'],
      ['dpkey'],
    ]);
  });

  test('is kept by Helm after an uninstall, and by Flux when a Kustomization prunes, because all domains go with it', () => {
    for (const kind of all)
      expect(crd(kind)).toMatchObject({
        metadata: {annotations: {'helm.sh/resource-policy': 'keep', 'kustomize.toolkit.fluxcd.io/prune': 'disabled'}},
      });
  });

  test('counts generations in 64 bits, as Kubernetes does', () => {
    const generations = all.flatMap((kind) =>
      walk(schemaOf(kind)).flatMap(([path, {format}]) => (/generation$/i.test(path) ? [[path, format]] : [])),
    );
    expect(generations.length).toBeGreaterThan(8);
    expect(generations.filter(([, format]) => format !== 'int64')).toEqual([]);
  });

  test('ends the name of each time as docs/reference/kinds.md says', () => {
    const times = all.flatMap((kind) =>
      walk(schemaOf(kind)).flatMap(([path, {format}]) => (format === 'date-time' ? path.split('.').at(-1)! : [])),
    );
    expect(times.length).toBeGreaterThan(20);
    expect(times.filter((name) => !/(^at|At|^since|Since|Until|From|Time|^notAfter)$/.test(name))).toEqual([]);
  });

  test.each<[string, z.ZodType, string]>([
    ['a field without a description', z.object({a: z.string().max(3)}).describe('x'), 'Project.spec.a: no description'],
    [
      'a string without an end',
      z.object({a: z.string().describe('x')}).describe('x'),
      'Project.spec.a: a string without maxLength',
    ],
    [
      'a list without an end',
      z.object({a: z.array(text(3, 'x')).describe('x')}).describe('x'),
      'Project.spec.a: a list without maxItems',
    ],
    [
      'something of two shapes',
      z.object({a: z.union([text(3, 'x'), z.int()]).describe('x')}).describe('x'),
      'Project.spec.a: not structural',
    ],
    [
      'all at once, inside a list',
      z
        .object({
          a: z
            .array(z.object({b: z.string()}).describe('x'))
            .max(2)
            .describe('x'),
        })
        .describe('x'),
      'Project.spec.a[].b: no description\n  Project.spec.a[].b: a string without maxLength',
    ],
  ])('is refused with %s', (_, spec, message) => {
    expect(() => crd(kindWith(spec))).toThrow(`the schema of Project breaks the rules:\n  ${message}`);
  });

  test('keeps rules and defaults through zod', () => {
    const rule = {cel: 'self != 1', holds: (n: number) => n !== 1, message: 'must not be one'};
    const schema = checked(z.int32().describe('a number'), [rule]).default(5);
    expect([schema.safeParse(1).error?.issues[0]?.message, schema.parse(undefined)]).toEqual(['must not be one', 5]);
    expect(at(schemaOf(kindWith(z.object({n: schema}).describe('x'))), 'spec.n')).toEqual({
      type: 'integer',
      format: 'int32',
      description: 'a number',
      default: 5,
      'x-kubernetes-validations': [{rule: 'self != 1', message: 'must not be one'}],
    });
  });
});

test.each([
  ['Docs.Example.COM', 'docs.example.com'],
  ['docs.example.com.', 'docs.example.com'],
  ['docs.example.com..', 'docs.example.com.'],
  ['BÜCHER.example', 'bÜcher.example'],
  ['İ.example', 'İ.example'],
])('Folded as CEL does it, ASCII only, %s is %s', (written, expected) => {
  expect(fold(written)).toBe(expected);
});

test.each<CustomKind>([customDomainKind, projectKind, planKind, accountKind, apiKeyKind])(
  'The examples of $kind are good',
  (kind: CustomKind) => {
    for (const example of kind.examples)
      expect(kind.spec.safeParse((parse(example) as {spec: unknown}).spec).error).toBeUndefined();
  },
);

describe('docs/reference/reasons.md', () => {
  const sections = reasonsPage().split('\n### ').slice(1);

  test('has a heading for each reason, in the order of the table, with all its lines', () => {
    expect(sections.map((section) => section.split('\n')[0])).toEqual(Object.keys(reasons));
    for (const section of sections)
      expect(section).toMatch(
        /^\w+\n\n[A-Z].+\.\n\n- What to do: [A-Z].+\.\n- Waiting for: `\w+`\. Kind: (pending|awaited|stalled|done|removing)\.\n/,
      );
  });

  test('shows what the page tells the customer about each reason', () => {
    for (const section of sections) expect(section).toMatch(/\n- On the page: "[A-Z].+"\. .+\.\n/);
    expect(sections.find((section) => section.startsWith('RecordMissing\n'))).toContain(
      '{hostname} does not have the DNS record that connects it to your project.',
    );
  });

  test('says of every reason whose turn it is: who must act is never nobody, where something stalls', () => {
    for (const [name, r] of Object.entries(reasons)) {
      expect([name, r.health === 'stalled' && r.waitingFor === 'Nobody']).toEqual([name, false]);
      expect([name, r.health === 'done' && r.waitingFor !== 'Nobody']).toEqual([name, false]);
    }
  });

  test('has reasons that are words as conditions take them', () => {
    for (const name of [...Object.keys(reasons), ...customDomainConditions])
      expect(name).toMatch(/^[A-Z][A-Za-z]{3,127}$/);
  });
});

test('What is generated is in step with its sources', async () => {
  const script = fileURLToPath(new URL('../../../operator/generate/generate.ts', import.meta.url));
  await expect(promisify(execFile)(process.execPath, [script, '--check'])).resolves.toMatchObject({stderr: ''});
});

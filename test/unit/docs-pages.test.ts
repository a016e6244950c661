/** What pages say that can be wrong: links, examples, names of commands, values and metrics. */
import {globSync, readFileSync} from 'node:fs';
import {dirname, join} from 'node:path/posix';
import {describe, expect, test} from '@jest/globals';
import {parse, parseAllDocuments} from 'yaml';
import {sections} from '../../docs/.vitepress/sidebar.ts';
import {addressOf, resolveLink} from '../../docs/.vitepress/links.ts';
import {accountKind} from '../../operator/api/account.ts';
import {apiKeyKind} from '../../operator/api/api-key.ts';
import {crd, type CustomKind} from '../../operator/api/crd.ts';
import {customDomainKind} from '../../operator/api/custom-domain.ts';
import {domainClaimKind} from '../../operator/api/domain-claim.ts';
import {planKind} from '../../operator/api/plan.ts';
import {projectKind} from '../../operator/api/project.ts';
import {programFor} from '../../operator/cli/program.ts';
import type {Surroundings} from '../../operator/cli/surroundings.ts';
import {metricsPage} from '../../operator/generate/metrics-page.ts';
import {anchorOf, codeOf, linksOf, pagePaths, parsePage, readPage, root} from '../support/pages.ts';

const pages = pagePaths().map(readPage);
const known = new Set(pages.map(({path}) => path));

/** What is wrong in any page, each with its page. */
const wrongIn = (find: (page: (typeof pages)[number]) => readonly string[]): string[] =>
  pages.flatMap((page) => find(page).map((wrong) => `${page.path}: ${wrong}`));

describe('The site', () => {
  const listed = sections.flatMap((section) => section.pages.map(([path]) => path));

  test('has every page in its sidebar, once', () => {
    expect(listed.toSorted()).toEqual([...known].toSorted());
  });

  test('has each of them at an address of its own', () => {
    // Two addresses that differ only by case are one file on macOS and Windows.
    expect(new Set(listed.map((path) => addressOf(path).toLowerCase())).size).toBe(listed.length);
  });
});

describe('A link', () => {
  test('leads to a file that is there, and to a heading of that page', () => {
    const wrong = wrongIn((page) =>
      linksOf(page).flatMap((href) => {
        const [path = '', anchor] = href.split('#');
        if (/^[a-z]+:/.test(href)) return [];
        try {
          resolveLink(path, {page: page.path, root, isPage: (name) => known.has(name)});
        } catch (error) {
          return [(error as Error).message];
        }
        if (anchor === undefined) return [];
        const target = path === '' ? page : readPage(join(dirname(page.path), path));
        return target.headings.some((heading) => anchorOf(heading) === anchor) ? [] : [`${href}: no such heading`];
      }),
    );
    expect(wrong).toEqual([]);
    expect(pages.flatMap(linksOf).length).toBeGreaterThan(100);
  });

  test.each([
    ['another page', '../reference/api.md#limits', {kind: 'page', href: '/reference/api#limits'}],
    ['the README of a folder', '../../operator/kube/README.md', {kind: 'page', href: '/operator/kube/'}],
    ['the home', '../README.md', {kind: 'page', href: '/'}],
    ['a page of the top folder', '../../SECURITY.md', {kind: 'page', href: '/project/security'}],
    ['a file', '../../LICENSE', {kind: 'file', path: 'LICENSE', href: '/files/LICENSE'}],
    [
      'a folder',
      '../../examples/argocd/',
      {kind: 'file', path: 'examples/argocd', href: '/files/examples/argocd/index.html'},
    ],
    ['another site', 'https://example.com/x', {kind: 'as it is'}],
  ])('of a page to %s is one of the site', (_, href, expected) => {
    expect(resolveLink(href, {page: 'docs/how-to/gitops.md', root, isPage: (path) => known.has(path)})).toEqual(
      expected,
    );
  });

  test('to a file that is not there is told with its page', () => {
    expect(() => resolveLink('none.md', {page: 'docs/how-to/gitops.md', root, isPage: () => false})).toThrow(
      'docs/how-to/gitops.md links to none.md: there is no such file',
    );
  });
});

interface Schema {
  properties?: Record<string, Schema>;
  items?: Schema;
}

/** Fields that a schema does not know, by their paths. */
function unknownFields(value: unknown, schema: Schema, path: string): string[] {
  if (Array.isArray(value)) return value.flatMap((item) => unknownFields(item, schema.items ?? {}, `${path}[]`));
  if (value === null || typeof value !== 'object' || !schema.properties) return [];
  return Object.entries(value).flatMap(([name, field]) => {
    const of = schema.properties![name];
    return of ? unknownFields(field, of, `${path}.${name}`) : [`${path}.${name} is unknown`];
  });
}

interface Manifest {
  apiVersion?: string;
  kind?: string;
  spec?: unknown;
}
const kinds: readonly CustomKind[] = [
  planKind,
  accountKind,
  projectKind,
  customDomainKind,
  domainClaimKind,
  apiKeyKind,
];

/** What the API server would have against an object of one of our kinds. */
function wrongWith({apiVersion, kind, spec}: Manifest): string[] {
  if (apiVersion !== 'doorplate.dev/v1alpha1') return [];
  const ours = kinds.find((known_) => known_.kind === kind);
  if (!ours) return [`there is no kind ${kind}`];
  const {versions} = crd(ours).spec as {versions: [{schema: {openAPIV3Schema: Required<Schema>}}]};
  return [
    ...(ours.spec.safeParse(spec).error?.issues.map(({message}) => message) ?? []),
    ...unknownFields(spec, versions[0].schema.openAPIV3Schema.properties.spec!, 'spec'),
  ];
}

describe('An example', () => {
  test('in YAML can be read, and is what the kinds take', () => {
    let objects = 0;
    const wrong = wrongIn(({blocks}) =>
      blocks
        .filter(({info: [language]}) => language === 'yaml')
        .flatMap(({text, line}) =>
          parseAllDocuments(text).flatMap((document) => {
            if (document.errors.length > 0) return [`line ${line}: ${document.errors[0]!.message}`];
            const manifest = document.toJS() as Manifest;
            if (manifest?.apiVersion?.startsWith('doorplate.dev/')) objects++;
            return wrongWith(manifest ?? {}).map((what) => `line ${line}: ${what}`);
          }),
        ),
    );
    expect(wrong).toEqual([]);
    expect(objects).toBeGreaterThan(5);
  });

  test('with an unknown field, or a value that is refused, is told', () => {
    const base = {apiVersion: 'doorplate.dev/v1alpha1', kind: 'CustomDomain'};
    const spec = {projectRef: {name: 'docs'}, primary: 'docs.example.com'};
    expect(wrongWith({...base, spec})).toEqual([]);
    expect(
      wrongWith({...base, spec: {...spec, redirects: [{form: 'old.example.com', from: 'old.example.com'}]}}),
    ).toEqual(['spec.redirects[].form is unknown']);
    expect(wrongWith({...base, spec: {...spec, primary: 'localhost'}})).not.toEqual([]);
    expect(wrongWith({...base, kind: 'Domain', spec})).toEqual(['there is no kind Domain']);
  });
});

const text = (path: string): string => readFileSync(join(root, path), 'utf8');
const values = parse(text('charts/doorplate/values.yaml')) as Record<string, unknown>;

/** Names with dots in a piece of code that is nothing else, of which the first part is a value of the chart. */
const valuesIn = (code: string): string[] =>
  [...code.matchAll(/^([a-z][A-Za-z]+(?:\.[a-z][A-Za-z]+)+)(?::.*)?$/g)]
    .map(([, name]) => name!)
    .filter((name) => Object.hasOwn(values, name.split('.')[0]!));

function isValue(name: string): boolean {
  let at: unknown = values;
  for (const part of name.split('.')) {
    if (at === null || typeof at !== 'object' || !Object.hasOwn(at, part)) return false;
    at = (at as Record<string, unknown>)[part];
  }
  return true;
}

const metrics = new Set([...metricsPage().matchAll(/^\| `([a-z_]+)` \|/gm)].map(([, name]) => name!));
const metricsIn = (code: string): string[] =>
  (code.match(/\b(?:doorplate|workqueue|controller_runtime|rest_client|leader_election|cache|events)_[a-z_]+\b/g) ?? [])
    // The label of a TXT record.
    .filter((name) => name !== 'doorplate_challenge');
const isMetric = (name: string): boolean => metrics.has(name) || metrics.has(name.replace(/_(count|sum|bucket)$/, ''));

/** Commands of the plugin in a piece of code that it does not have, or not with these options. */
function wrongCommands(code: string): string[] {
  const program = programFor({} as Surroundings);
  const everywhere = [...program.options.map(({long}) => long), '--help'];
  return [...code.matchAll(/kubectl doorplate ((?:[a-z]+ ?)+)([^\n#|>]*)/g)].flatMap(([all, words = '', rest = '']) => {
    const [first, second] = words.trim().split(' ');
    const command = program.commands.find((c) => c.name() === first);
    const below = command?.commands.find((c) => c.name() === second) ?? command;
    const options = new Set([...everywhere, ...(below?.options.map(({long}) => long) ?? [])]);
    const used = [...rest.matchAll(/(?<=^|\s)--[a-z-]+/g)].map(([option]) => option);
    return below && used.every((option) => options.has(option)) ? [] : [all];
  });
}

/** What is wrong in pages for users: those on the inside have names of their own, of files and of keys. */
const wrongForUsers = (find: (code: string) => readonly string[]): string[] =>
  wrongIn((page) => (/^(operator|cluster)\//.test(page.path) ? [] : codeOf(page).flatMap(find)));

describe('A name in a page', () => {
  test('of a target of make, or of a script of npm, is one', () => {
    const targets = new Set([...text('Makefile').matchAll(/^([a-z-]+):/gm)].map(([, name]) => name!));
    const scripts = new Set(Object.keys((JSON.parse(text('package.json')) as {scripts: object}).scripts));
    const wrong = wrongIn((page) =>
      codeOf(page).flatMap((code) => [
        ...[...code.matchAll(/^ *make ([a-z][a-z-]*)/gm)].filter(([, name]) => !targets.has(name!)).map(([all]) => all),
        ...[...code.matchAll(/npm run ([a-z]+)/g)].filter(([, name]) => !scripts.has(name!)).map(([all]) => all),
      ]),
    );
    expect(wrong).toEqual([]);
  });

  test('of a command of the plugin is one, and so are its options', () => {
    expect(wrongIn((page) => codeOf(page).flatMap(wrongCommands))).toEqual([]);
    expect(wrongCommands('kubectl doorplate verify docs --wait; kubectl doorplate --help')).toEqual([]);
    expect(wrongCommands('kubectl doorplate wait docs')).toEqual(['kubectl doorplate wait docs']);
    expect(wrongCommands('kubectl doorplate key create ci --forever')).toEqual([
      'kubectl doorplate key create ci --forever',
    ]);
  });

  test('of a value of the chart is one', () => {
    expect(pages.flatMap((page) => codeOf(page).flatMap(valuesIn)).length).toBeGreaterThan(50);
    expect(wrongForUsers((code) => valuesIn(code).filter((name) => !isValue(name)))).toEqual([]);
    expect(valuesIn('dns.modus: RecursiveOnly').filter((name) => !isValue(name))).toEqual(['dns.modus']);
  });

  test('of a metric is one', () => {
    expect(pages.flatMap((page) => codeOf(page).flatMap(metricsIn)).length).toBeGreaterThan(30);
    expect(wrongForUsers((code) => metricsIn(code).filter((name) => !isMetric(name)))).toEqual([]);
    expect(metricsIn('rate(doorplate_orders[1h])').filter((name) => !isMetric(name))).toEqual(['doorplate_orders']);
  });
});

describe('An issue form', () => {
  const forms = globSync('.github/ISSUE_TEMPLATE/*.yaml', {cwd: root});

  test.each(forms)('%s has the fields that GitHub requires, and asks for commands that exist', (path) => {
    const form = parse(text(path)) as {name: string; description: string; body: {type: string; id?: string}[]};
    expect([form.name, form.description]).not.toContain(undefined);
    const inputs = form.body.filter(({type}) => type !== 'markdown');
    expect(inputs.length).toBeGreaterThan(2);
    expect(new Set(inputs.map(({id}) => id)).size).toBe(inputs.length);
    expect(codeOf({text: text(path)} as (typeof pages)[number]).flatMap(wrongCommands)).toEqual([]);
  });
});

test('docs/reference/support.md names the versions that the local cluster has', () => {
  const versions = [...text('cluster/versions.env').matchAll(/^([A-Z_]+)_VERSION=v(.+)$/gm)];
  const page = text('docs/reference/support.md');
  const others = new Set(['ETCD', 'CONTAINERD']);
  const named = versions.filter(([, name]) => !others.has(name!));
  expect(named.length).toBe(6);
  expect(named.filter(([, , version]) => !page.includes(version!)).map(([all]) => all)).toEqual([]);
});

describe('A page, taken apart', () => {
  const page = parsePage(
    'x.md',
    '# One\n\nA [link](a.md), `[none](b.md)`.\n\n```sh run\n# no heading\n```\n\n    make x\n',
  );

  test('has its headings, links and blocks; what is code is neither', () => {
    expect(page.headings).toEqual(['One']);
    expect(linksOf(page)).toEqual(['a.md']);
    expect(page.blocks).toEqual([{info: ['sh', 'run'], text: '# no heading', line: 5, under: 'One'}]);
  });

  test('has the blocks of a list, without their indentation', () => {
    const listed = parsePage('x.md', '1. Values:\n\n   ```yaml values\n   a:\n     b: 1\n   ```\n');
    expect(listed.blocks).toEqual([{info: ['yaml', 'values'], text: 'a:\n  b: 1', line: 3, under: ''}]);
  });

  test('has its commands where they are fenced, indented or in the text', () => {
    expect(codeOf(page)).toEqual(['# no heading\n', '    make x', '[none](b.md)']);
  });
});

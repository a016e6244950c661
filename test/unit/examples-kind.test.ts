/** The scripts of examples/kind, as far as they need neither Docker nor a cluster. */
import {execFile} from 'node:child_process';
import {globSync, mkdtempSync, readFileSync, rmSync, symlinkSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {promisify} from 'node:util';
import {afterAll, beforeAll, describe, expect, test} from '@jest/globals';
import {parseAllDocuments} from 'yaml';
import {root} from '../support/pages.ts';

const run = promisify(execFile);
const folder = join(root, 'examples/kind');
const text = (path: string): string => readFileSync(join(root, path), 'utf8');

/** Manifests that surroundings.sh and story.sh apply. */
const manifests = [
  'cluster/manifests/traefik.yaml',
  'cluster/manifests/pebble.yaml',
  'cluster/manifests/issuer.yaml',
  'cluster/zones/db.test',
  'cluster/zones/db.platform.test',
  'cluster/zones/db.customer.test',
  'examples/kind/zones.yaml',
  'examples/kind/certificates.yaml',
  'examples/demo/platform.yaml',
  'examples/demo/project.yaml',
  'examples/demo/custom-domain.yaml',
];

/** Runs a line of bash after lib.sh. */
const bash = async (line: string, env: NodeJS.ProcessEnv = process.env): Promise<string> =>
  (await run('bash', ['-c', `. "${folder}/lib.sh"; ${line}`], {env})).stdout;

test.each(globSync('*.sh', {cwd: folder}))('%s is valid bash', async (name) => {
  expect(await run('bash', ['-n', join(folder, name)])).toEqual({stdout: '', stderr: ''});
});

test('README.md lists the output of up.sh to its last line', () => {
  const [, listed] = /^```text output\n(\[   0s\][^]*?)^```$/m.exec(text('examples/kind/README.md'))!;
  const [, printed] = /^cat <<T\n([^]*)^T$/m.exec(text('examples/kind/up.sh'))!;
  const last = printed!
    .replace('$KUBECONFIG', '/home/you/doorplate/dist/kind/kubeconfig')
    .replace('$EDGE_HTTPS', '127.0.0.1:8443');
  const [end] = text('examples/kind/story.sh').trimEnd().split('\n').slice(-1);
  expect(end).toBe('say "done"');
  expect(listed).toMatch(/^\[ \.\.\.s\] done$/m);
  expect(listed!.endsWith(last)).toBe(true);
});

describe('A manifest', () => {
  test('is rendered without a placeholder, and is YAML', async () => {
    const names = 'EDGE_HTTP_PORT EDGE_HTTPS_PORT NODE_IP DNS_IP PEBBLE_CA_BASE64';
    const all = [...manifests, 'examples/kind/cluster.yaml'];
    const rendered = await bash(
      `for name in ${names}; do declare "$name=7"; done
      for file in ${all.join(' ')}; do render "$ROOT/$file" | sed '/@PEBBLE_IP@/d'; echo '# end'; done`,
    );
    const texts = rendered.split('# end\n').slice(0, -1);
    expect(texts).toHaveLength(all.length);
    expect(rendered.match(/@[A-Z_]+@/g)).toBeNull();
    const yaml = texts.filter((_, i) => all[i]!.endsWith('.yaml'));
    expect(yaml.flatMap((one) => parseAllDocuments(one).flatMap(({errors}) => errors))).toEqual([]);
  });

  test('has no image but those that up.sh builds and loads into the node', async () => {
    const wanted = (
      await bash(
        `cat ${manifests.map((path) => `"$ROOT/${path}"`).join(' ')} | sed "s/@COREDNS_VERSION@/$COREDNS_VERSION/"`,
      )
    ).match(/(?<=image: )\S+/g)!;
    const built = [...text('examples/kind/up.sh').matchAll(/^ *image "?([^\s"]+)"?/gm)].map(([, name]) => name!);
    const names = (await bash(`id=; printf '%s\\n' ${built.map((name) => `"${name}"`).join(' ')}`)).trim().split('\n');
    expect(wanted.length).toBe(4);
    expect(wanted.filter((image) => !names.includes(image))).toEqual([]);
  });
});

describe('up.sh on a machine without Docker and kind', () => {
  let bin: string;
  beforeAll(() => {
    bin = mkdtempSync(join(tmpdir(), 'doorplate-kind-'));
    for (const name of ['bash', 'cat', 'dirname']) symlinkSync(join('/bin', name), join(bin, name));
  });
  afterAll(() => rmSync(bin, {recursive: true}));

  test('names each missing program with a remedy, and changes nothing', async () => {
    const {code, stderr} = await run(join(bin, 'bash'), [join(folder, 'up.sh')], {env: {PATH: bin}}).then(
      () => ({code: 0, stderr: ''}),
      (error: {code: number; stderr: string}) => error,
    );
    expect(code).toBe(1);
    expect(stderr.match(/^missing: \w+: /gm)).toEqual(
      ['docker', 'kind', 'kubectl', 'helm', 'curl'].map((name) => `missing: ${name}: `),
    );
  });
});

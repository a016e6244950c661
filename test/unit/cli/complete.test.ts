/** What the tab key offers; that kubectl asks for it, test/crds/cli.test.ts shows with the real one. */
import {describe, expect, test} from '@jest/globals';
import {complete} from '../../../operator/cli/complete.ts';
import {programFor} from '../../../operator/cli/program.ts';
import type {Surroundings} from '../../../operator/cli/surroundings.ts';
import type {Client} from '../../../operator/kube/client/client.ts';
import type {Resource} from '../../../operator/kube/objects.ts';

/** A fake: it lists one object of each kind, of the name `NAMESPACE-PLURAL`. */
const fake = {
  list: async ({plural}: Resource, {namespace = 'all'}: {namespace?: string}) => ({
    items: [{metadata: {name: `${namespace}-${plural}`}}],
  }),
  close: async () => {},
} as unknown as Client;

const around = (cluster: Surroundings['cluster']): Surroundings => ({
  out: () => {},
  tell: () => {},
  colours: false,
  read: async () => '',
  now: () => 0,
  wait: async () => {},
  cluster,
});
const standing = around(async () => ({namespace: 'acme', client: () => fake}));
const silent = around(() => Promise.reject(new Error('no cluster answers')));

/** The values that are offered, and the directive. */
async function offered(line: string, world = standing): Promise<string[]> {
  const answer = await complete(programFor(world), line.split(' '), world);
  return answer
    .trimEnd()
    .split('\n')
    .map((each) => each.split('\t')[0]!);
}

const commands = [
  'status',
  'records',
  'verify',
  'reissue',
  'why',
  'check',
  'key',
  'version',
  'preflight',
  'policy',
  'adopt',
  'claims',
  'release',
  'usage',
];

describe('The tab key', () => {
  test.each<[string, string[]]>([
    ['', [...commands, ':4']],
    ['st', ['status', ':4']],
    ['key ', ['create', 'list', 'revoke', ':4']],
    ['key re', ['revoke', ':4']],
    ['key revoke ', ['acme-apikeys', ':4']],
    ['key create ', [':4']],
    ['why ', ['acme-customdomains', ':4']],
    ['release ', ['acme-customdomains', ':4']],
    ['-n other why ', ['other-customdomains', ':4']],
    ['why -n other ', ['other-customdomains', ':4']],
    ['-nother why ', ['other-customdomains', ':4']],
    ['why --namespace=other ', ['other-customdomains', ':4']],
    ['check --project=docs --as-', ['--as-group', ':4']],
    ['why -n ', ['all-namespaces', ':4']],
    ['why acme-x', [':4']],
    ['check --project ', ['acme-projects', ':4']],
    ['records -o ', ['table', 'zone', 'json', 'yaml', 'name', ':4']],
    ['records -o z', ['zone', ':4']],
    ['records --o', ['--output', ':4']],
    ['key create --scope domains:', ['domains:read', 'domains:write', ':4']],
    ['key create ci --dry-run --tok', ['--token-file', ':4']],
    ['check -f ', [':0']],
    ['policy audit ', [':0']],
    ['policy audit -o ', ['table', 'json', 'yaml', ':4']],
    ['why --a', ['--all-namespaces', '--as', '--as-group', ':4']],
    ['--as jane why ', ['acme-customdomains', ':4']],
    ['nonsense ', [...commands, ':4']],
  ])('behind "%s" offers %j', async (line, expected) => {
    expect(await offered(line)).toEqual(expected);
  });

  test('asks the cluster as the user, in the groups and with the kubeconfig that the command line names', async () => {
    const asked: object[] = [];
    const cluster: Surroundings['cluster'] = async (options) => {
      asked.push({...options});
      return {namespace: 'acme', client: () => fake};
    };
    await offered(
      '--as jane --as-group=dev --as-group ops why --kubeconfig=/a=b --context c -nother ',
      around(cluster),
    );
    const groups = {as: 'jane', asGroup: ['dev', 'ops']};
    expect(asked).toEqual([{...groups, kubeconfig: '/a=b', context: 'c', namespace: 'other'}]);
  });

  test('without a cluster offers what needs none', async () => {
    expect(await offered('why ', silent)).toEqual([':4']);
    expect(await offered('key ', silent)).toEqual(['create', 'list', 'revoke', ':4']);
  });

  test('says what each command is for', async () => {
    expect(await complete(programFor(standing), ['stat'], standing)).toBe(
      'status\tshow the state of each hostname\n:4\n',
    );
  });
});

import {expect, test} from '@jest/globals';
import {runCli} from '../../support/cli.ts';
import type {Client} from '../../../operator/kube/client/client.ts';
import {ApiError} from '../../../operator/kube/errors.ts';
import {version} from '../../../operator/version.ts';

const forbidden = new ApiError({status: 403, body: '{}'});
const released = {metadata: {labels: {'app.kubernetes.io/version': '9.8.7'}}};

/** Runs the command against a fake cluster that holds this ConfigMap. `null`: no cluster may be asked. */
async function shown(words: string, configMap: object | Error | undefined | null) {
  const fake = {
    get: async () => {
      if (configMap instanceof Error) throw configMap;
      return configMap;
    },
    close: async () => {},
  } as unknown as Client;
  const ended = await runCli(['version', ...words.split(' ').filter(Boolean)], {
    cluster: async () => {
      if (configMap === null) throw new Error('no cluster was to be asked for');
      return {namespace: 'acme', client: () => fake};
    },
    now: () => 0,
    wait: async () => {},
  });
  return ended;
}

test.each<[string, string, object | null, string]>([
  ['both versions', '', released, `Client: ${version}\nServer: 9.8.7\n`],
  ['both as YAML', '-o yaml', released, `client: ${version}\nserver: 9.8.7\n`],
  ['its own without a cluster', '--client', null, `Client: ${version}\n`],
  ['its own as YAML', '--client -o yaml', null, `client: ${version}\n`],
])('version prints %s', async (_, words, configMap, out) => {
  expect(await shown(words, configMap)).toEqual({code: 0, out, told: ''});
});

test.each([
  ['is not there', undefined],
  ['may not be read', forbidden],
])('where the ConfigMap %s, the version of the server is unknown', async (_, configMap) => {
  const {code, out, told} = await shown('', configMap);
  expect([code, out]).toEqual([0, `Client: ${version}\n`]);
  expect(told).toMatch(/^The server's version is unknown: the ConfigMap doorplate-system\/doorplate-public/);
});

test('where no cluster answers, the version of the plugin is printed all the same, and the exit code is 1', async () => {
  expect(await shown('', new ApiError({status: 401, body: '{}'}))).toMatchObject({
    code: 1,
    out: `Client: ${version}\n`,
  });
});

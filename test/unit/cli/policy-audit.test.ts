/** `kubectl doorplate policy audit` over logs as an API server writes them; over a real one's: test/operator/policy-modes.test.ts. */
import {describe, expect, test} from '@jest/globals';
import {kubectlDoorplate} from '../../support/cli.ts';

const by = (...policies: string[]) => ({
  'validation.policy.admission.k8s.io/validation_failure': JSON.stringify(policies.map((policy) => ({policy}))),
});
const routes = by('doorplate-system-doorplate-routes');
const event = (change: object = {}) => ({
  stage: 'ResponseComplete',
  verb: 'create',
  user: {username: 'dana'},
  objectRef: {namespace: 'team-a', resource: 'ingresses', apiGroup: 'networking.k8s.io'},
  annotations: routes,
  ...change,
});
const line = JSON.stringify;

async function audit(text: string, ...args: string[]) {
  const nowhere = {credentials: {server: 'https://127.0.0.1:1', read: () => Promise.reject(new Error('no cluster'))}};
  return kubectlDoorplate({...nowhere, namespace: 'default'}, ['policy', 'audit', 'audit.log', ...args], {
    read: () => Promise.resolve(text),
  });
}

describe('An audit log', () => {
  test('is summed up by user, namespace and kind', async () => {
    const others = event({verb: 'patch', user: {username: 'admin'}, impersonatedUser: {username: 'dana'}});
    const ofSecrets = event({
      objectRef: {namespace: 'team-b', resource: 'secrets'},
      annotations: by('another', 'doorplate-system-doorplate-secrets'),
    });
    const {code, out} = await audit(`${line(event())}\n${line(ofSecrets)}\n${line(others)}\n\n`, '-o', 'json');
    expect([code, JSON.parse(out)]).toEqual([
      5,
      [
        {
          user: 'dana',
          namespace: 'team-a',
          resource: 'ingresses.networking.k8s.io',
          verbs: ['create', 'patch'],
          times: 2,
        },
        {user: 'dana', namespace: 'team-b', resource: 'secrets', verbs: ['create'], times: 1},
      ],
    ]);
    expect((await audit(line(event()))).out).toMatch(
      /^USER +NAMESPACE +RESOURCE +VERBS +TIMES\ndana +team-a +ingresses\S+ +create +1\n$/,
    );
  });

  test.each([
    ['of a request that began', event({stage: 'RequestReceived'})],
    ['of what no policy refuses', event({annotations: {}})],
    ['of what another policy refuses', event({annotations: by('others-routes-of-theirs')})],
    ['of what is refused with every mode', event({annotations: by('doorplate-system-doorplate-labels')})],
    ['of what is no object', event({objectRef: undefined})],
  ])('with an event %s alone tells of nobody', async (_, one) => {
    expect(await audit(line(one))).toMatchObject({code: 0, out: ''});
  });

  test('with a line that is no event is refused, and the line is named', async () => {
    expect(await audit(`${line(event())}\nI1123 something else`)).toMatchObject({
      code: 1,
      out: '',
      told: expect.stringContaining('audit.log, line 2: this is not an event of an audit log'),
    });
  });
});

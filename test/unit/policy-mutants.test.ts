/** Which parts of the admission policy mutants leave out, and which rows of its table they are tried on. */
import {describe, expect, test} from '@jest/globals';
import {brokenPolicies} from '../mutants/manifests.ts';
import {read} from '../mutants/mutant.ts';
import {refusedRows, rowsThatMayChange} from '../mutants/policy-rows.ts';
import {partsLeftOut} from '../mutants/policy-rules.ts';
import {type Manifest, placeOf} from '../support/policy.ts';

const prefix = 'doorplate-system-doorplate-';
const object = (kind: string, name: string, spec: object): Manifest => ({
  apiVersion: 'admissionregistration.k8s.io/v1',
  kind,
  metadata: {name: prefix + name},
  spec,
});
const policy = (name: string, spec: object) => object('ValidatingAdmissionPolicy', name, spec);
const binding = (name: string, of: string, more: object = {}) =>
  object('ValidatingAdmissionPolicyBinding', name, {
    policyName: prefix + of,
    validationActions: ['Deny'],
    ...more,
  });
const rule = (group: string, resource: string, ...operations: string[]) => ({
  apiGroups: [group],
  resources: [resource],
  operations,
});

const routes = [
  policy('routes', {
    matchConstraints: {
      namespaceSelector: {},
      resourceRules: [rule('networking.k8s.io', 'ingresses', 'CREATE'), rule('networking.k8s.io', '*', 'DELETE')],
    },
    matchConditions: [{name: 'not-by-the-platform'}],
    validations: [
      {expression: 'a', messageExpression: "'only Doorplate writes ' + request.kind.kind"},
      {expression: 'b', message: 'only its controller writes the status'},
    ],
  }),
  binding('routes', 'routes'),
  binding('routes-status', 'routes', {matchResources: {objectSelector: {}, resourceRules: []}}),
];
const secrets = [
  policy('secrets', {
    matchConstraints: {resourceRules: [rule('', 'secrets', 'CREATE')]},
    validations: [{expression: 'a', message: 'only cert-manager writes Secrets'}],
  }),
  binding('secrets', 'secrets'),
];
const namesOf = (rendered: Manifest[]) => partsLeftOut(rendered, [], {}).map(({name}) => name);
const entry = (lines: string) =>
  read('x.mutants', `# mutant: written\n# breaks: x\n# red: test/cluster/policy.test.ts › row\n${lines}`);

describe('A mutant leaves out', () => {
  test('each validation, condition, rule, limit and binding of a policy, and its denial', () => {
    expect(namesOf(routes)).toEqual([
      'policy-without-routes-validation-doorplate-writes',
      'policy-without-routes-validation-its-controller',
      'policy-without-routes-condition-not-by-the-platform',
      'policy-without-routes-rule-networking-k8s-io-create',
      'policy-without-routes-rule-networking-k8s-io-delete',
      'policy-without-routes-namespace-selector',
      'policy-without-routes-object-selector-of-routes-status',
      'policy-without-routes-resource-rules-of-routes-status',
      'policy-without-routes-binding-routes',
      'policy-without-routes-binding-routes-status',
      'policy-without-routes-denial',
    ]);
  });

  test('the denial of a policy that has one validation, one rule and one binding', () => {
    expect(namesOf(secrets)).toEqual(['policy-without-secrets-denial']);
    const [denial] = partsLeftOut(secrets, [], {});
    expect(brokenPolicies(secrets, denial!.edits)[1]!.spec).toMatchObject({validationActions: ['Warn']});
  });

  test('one part, and nothing else', () => {
    const parts = partsLeftOut(routes, [], {});
    const results = parts.map(({edits}) => JSON.stringify(brokenPolicies(routes, edits)));
    expect(new Set([...results, JSON.stringify(routes)]).size).toBe(parts.length + 1);
    const [without] = brokenPolicies(routes, parts[1]!.edits);
    expect(without!.spec).toMatchObject({validations: [{expression: 'a'}], matchConditions: [{}]});
  });

  test('nothing that an entry leaves out already', () => {
    const written = entry('# without: ValidatingAdmissionPolicy/routes › validations[Doorplate writes]\n');
    const names = partsLeftOut(routes, [written], {}).map(({name}) => name);
    expect(names).toEqual(namesOf(routes).slice(1));
  });

  test('a part whose equivalent is listed, with the reason', () => {
    const name = 'policy-without-secrets-denial';
    expect(partsLeftOut(secrets, [], {[name]: 'it rains'})).toMatchObject([
      {name, equivalent: 'it rains', breaks: 'nothing: it rains'},
    ]);
    expect(() => partsLeftOut(secrets, [], {gone: 'it rains'})).toThrow('gone: the chart has no such part');
  });

  test('no part of a policy that the table does not have, or of a name that is taken', () => {
    expect(() => namesOf([policy('other', {})])).toThrow("other: the policy's table has no such policy");
    expect(() => namesOf([...secrets, ...secrets])).toThrow('two mutants have this name');
  });
});

describe('A mutant is tried on', () => {
  const place = placeOf('x', {namespace: 'doorplate-system', name: 'doorplate'});
  const [limit, denial] = ['policy-without-routes-namespace-selector', 'policy-without-routes-denial'].map((name) =>
    partsLeftOut(routes, [], {}).find((part) => part.name === name),
  );

  test('the rows that its policy refuses, if it refuses less then; the first differ in method or resource', () => {
    const rows = rowsThatMayChange(denial!, place);
    expect(rows).toEqual(refusedRows('routes', place));
    expect(new Set(rows.map(({refusedBy}) => refusedBy))).toEqual(new Set(['routes']));
    const kinds = rows.slice(0, 8).map((row) => {
      const {method, path} = row.write(place);
      return `${method} ${path.replace(/\/x-[^/]+/, '')}`;
    });
    expect(new Set(kinds).size).toBe(8);
  });

  test('the rows that pass and write what its policy covers, if it refuses more then', () => {
    const rows = rowsThatMayChange(limit!, place);
    expect(rows.length).toBeGreaterThan(10);
    for (const row of rows)
      expect([row.refusedBy, row.write(place).path]).toEqual([
        undefined,
        expect.stringMatching(/^\/apis\/networking\.k8s\.io\//),
      ]);
  });

  test('a Namespace itself, not what is in it', () => {
    const part = {...limit!, rules: [rule('', 'namespaces', 'UPDATE')]};
    const paths = rowsThatMayChange(part, place).map((row) => row.write(place).path);
    expect(paths).toEqual(paths.filter((path) => /^\/api\/v1\/namespaces(\/[^/]+)?$/.test(path)));
    expect(paths.length).toBeGreaterThan(3);
  });
});

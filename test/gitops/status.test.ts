/** What kstatus, Argo CD and Flux make of what Doorplate writes: the tools themselves say. */
import {readFileSync} from 'node:fs';
import {join} from 'node:path';
import {beforeAll, describe, expect, test} from '@jest/globals';
import {parse} from 'yaml';
import {healthRows} from '../../operator/domain/status/health.ts';
import type {ReasonName} from '../../operator/domain/reasons/reasons.ts';
import {reasons} from '../../operator/domain/reasons/reasons.ts';
import type {KubeObject} from '../../operator/kube/objects.ts';
import type {Judgement} from './judges.ts';
import {fluxKustomizations, judge, luaChecks} from './judges.ts';
import type {Situation} from './situations.ts';
import {allSituations} from './situations.ts';
import {table} from './table.ts';
import {checksFolder, testdata} from './testdata.ts';

const verdicts = ({kstatus, argoCD, flux}: Judgement) => ({kstatus, argoCD: argoCD.status, flux});
type WithConditions = KubeObject & {status?: {conditions?: {type: string; reason: string}[]}};
const readyOf = (object: KubeObject): string | undefined =>
  (object as WithConditions).status?.conditions?.find((c) => c.type === 'Ready')?.reason;

describe('The states of the design', () => {
  let judged: Judgement[];
  beforeAll(() => {
    judged = judge(table.map(({situation}) => situation.object));
  });

  test.each(table.map((row, at) => ({...row, at})))(
    '$state: $kstatus, $argoCD, $flux',
    ({at, kstatus, argoCD, flux}) => {
      expect(verdicts(judged[at]!)).toEqual({kstatus, argoCD, flux});
    },
  );
});

describe('Every status that is decided', () => {
  let situations: Situation[];
  let judged: Judgement[];
  beforeAll(() => {
    situations = allSituations();
    judged = judge(situations.map(({object}) => object));
    console.log(`${judged.length} distinct statuses were judged by kstatus, Argo CD's Lua and Flux's CEL`);
  });

  test('is judged by each tool as the table of healths says', () => {
    const wrong = situations.flatMap(({object, expected}, i) => {
      const {kstatus, argoCD, flux} = healthRows[expected];
      const said = verdicts(judged[i]!);
      return JSON.stringify(said) === JSON.stringify({kstatus, argoCD, flux})
        ? []
        : {kind: object.kind, reason: readyOf(object), expected, said};
    });
    expect(wrong.slice(0, 20)).toEqual([]);
  });

  test('gives what Ready says for the message of Argo CD, so that the record to create is read there', () => {
    const awaited = situations.flatMap(({object, expected}, i) => (expected === 'awaited' ? [{object, i}] : []));
    expect(awaited.length).toBeGreaterThan(10);
    for (const {object, i} of awaited)
      expect((object as WithConditions).status?.conditions).toContainEqual(
        expect.objectContaining({type: 'Ready', message: judged[i]!.argoCD.message}),
      );
  });

  /** What a hostname that waits for nothing of its own says: Ready speaks of the hostname that it waits for. */
  const toldByOthers: readonly ReasonName[] = ['WaitingForPrimary'];

  test('has every reason in it, and those that are not the end are reasons of Ready', () => {
    const all = JSON.stringify(situations.map(({object}) => object));
    const ready = new Set(situations.map(({object}) => readyOf(object)));
    const names = Object.keys(reasons) as ReasonName[];
    expect(names.filter((name) => !all.includes(`"reason":"${name}"`))).toEqual([]);
    const untold = names.filter((name) => reasons[name].health !== 'done' && !ready.has(name));
    expect(untold.filter((name) => !toldByOthers.includes(name))).toEqual([]);
    console.log(`${names.length} reasons came up`);
  });
});

interface HealthTest {
  inputPath: string;
  healthStatus: Judgement['argoCD'];
}

describe('The checks for Argo CD', () => {
  const kinds = ['Account', 'ApiKey', 'CustomDomain', 'Project'];

  test('are those that examples/argocd installs', () => {
    const installed = luaChecks();
    expect(Object.keys(installed)).toEqual(kinds);
    for (const kind of kinds)
      expect(installed[kind]).toBe(readFileSync(join(checksFolder, kind, 'health.lua'), 'utf8'));
  });

  test.each(kinds)('of %s pass their tests, as the repository of Argo CD runs them', (kind) => {
    const {tests} = parse(readFileSync(join(checksFolder, kind, 'health_test.yaml'), 'utf8')) as {tests: HealthTest[]};
    const read = ({inputPath}: HealthTest): KubeObject =>
      parse(readFileSync(join(checksFolder, kind, inputPath), 'utf8')) as KubeObject;
    expect(judge(tests.map(read)).map(({argoCD}) => argoCD)).toEqual(tests.map(({healthStatus}) => healthStatus));
    console.log(`${tests.length} tests of the check of ${kind}`);
  });

  test('have the testdata that the operator writes now: else `make crds`', () => {
    for (const [file, text] of testdata()) expect(readFileSync(join(checksFolder, file), 'utf8')).toBe(text);
  });
});

const waits = (file: string): boolean[] => fluxKustomizations(file).map(({spec}) => spec.wait);

test("Flux waits for what the platform decides, and not where a customer's DNS decides", () => {
  expect([waits('own-site.yaml'), waits('customers.yaml')]).toEqual([[true], [true, false]]);
});

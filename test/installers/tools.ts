/** Flux and Argo CD: their own libraries apply what their controllers would, with the files of examples/. */
import {execFile} from 'node:child_process';
import {cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {promisify} from 'node:util';
import {parseAllDocuments, stringify} from 'yaml';
import type {KubeObject} from '../../operator/kube/objects.ts';
import {bin} from '../support/kube-server.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const run = promisify(execFile);

export interface Application extends KubeObject {
  spec: {
    source: {chart: string; targetRevision: string; helm?: {releaseName: string; valuesObject: object}};
    destination: {namespace: string};
  };
}
export interface HelmRelease extends KubeObject {
  spec: {chart: {spec: {chart: string; version: string}}; dependsOn?: {name: string}[]; values?: object};
}

/** The objects of a YAML file of examples/. */
export const example = <T extends KubeObject>(file: string): T[] =>
  objectsOf(readFileSync(join(root, 'examples', file), 'utf8'));

export const objectsOf = <T extends KubeObject>(text: string): T[] =>
  parseAllDocuments(text).flatMap((document) => (document.toJS() as T | null) ?? []);

/** A folder with `charts` and an umbrella chart that has its dependencies, as the page about it creates it. The caller removes it. */
export async function umbrella(): Promise<{folder: string; chart: string}> {
  const folder = mkdtempSync(join(tmpdir(), 'doorplate-umbrella-'));
  const chart = join(folder, 'platform/umbrella');
  mkdirSync(join(folder, 'platform'));
  cpSync(join(root, 'examples/umbrella'), chart, {recursive: true});
  symlinkSync(join(root, 'charts'), join(folder, 'charts'));
  await run(join(bin, 'helm'), ['dependency', 'update', chart], {env: {...process.env, HOME: folder}});
  return {folder, chart};
}

export interface Outcome {
  phase: string;
  message: string;
  results: Record<string, string>;
}
interface Answers {
  'argocd-compare': Record<string, {live: unknown; desired: unknown}>;
  'argocd-sync': Outcome;
  'argocd-delete': {deleted: string[]; hooks: string[]};
  'flux-apply': Record<string, string>;
  'flux-prune': Record<string, string>;
  'flux-drift': Record<string, unknown>;
}

/** The program of this folder. Builds it first, unless it is built. */
export class Tools {
  readonly #program: string;
  readonly #kubeconfig: string;
  readonly #folder = mkdtempSync(join(tmpdir(), 'doorplate-installers-'));

  private constructor(program: string, kubeconfig: string) {
    [this.#program, this.#kubeconfig] = [program, kubeconfig];
  }

  static async start(kubeconfig: string): Promise<Tools> {
    const {stdout} = await run(join(root, 'test/gitops/install.sh'), ['installers']);
    return new Tools(stdout.trim(), kubeconfig);
  }

  stop(): void {
    rmSync(this.#folder, {recursive: true});
  }

  /** Runs a command of the tool with the objects of `by`, which is an Application, a Kustomization or a HelmRelease. */
  async call<T extends keyof Answers>(command: T, by: KubeObject, objects: readonly KubeObject[]): Promise<Answers[T]> {
    const child = run(this.#program, [command], {maxBuffer: 2 ** 28});
    child.child.stdin!.end(JSON.stringify({kubeconfig: this.#kubeconfig, by, objects}));
    return JSON.parse((await child).stdout) as Answers[T];
  }

  /** The chart of an Application, as Argo CD renders it. `more` replaces values. */
  async ofApplication({spec: {source, destination}, metadata}: Application, more: readonly string[] = []) {
    const values = this.values(source.helm?.valuesObject ?? {});
    const name = source.helm?.releaseName ?? metadata.name;
    const args = [
      'template',
      name,
      `charts/${source.chart}`,
      '-n',
      destination.namespace,
      '--include-crds',
      '-f',
      values,
    ];
    return objectsOf((await run(join(bin, 'helm'), [...args, ...more], {cwd: root, maxBuffer: 2 ** 28})).stdout);
  }

  /** A file with these values. */
  values(values: object): string {
    const file = join(this.#folder, 'values.yaml');
    writeFileSync(file, stringify(values));
    return file;
  }
}

/** The real tools: kstatus, the Lua of Argo CD and the CEL of Flux, with the checks that users install. */
import {execFileSync} from 'node:child_process';
import {readFileSync} from 'node:fs';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {parse, parseAllDocuments} from 'yaml';
import type {HealthRow} from '../../operator/domain/status/health.ts';
import type {KubeObject} from '../../operator/kube/objects.ts';
import {bin} from '../support/kube-server.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));

/** As examples/argocd puts them into argocd-cm. */
const customizations = (): Record<string, string> =>
  (
    parse(execFileSync(join(bin, 'kubectl'), ['kustomize', join(root, 'examples/argocd')], {encoding: 'utf8'})) as {
      data: Record<string, string>;
    }
  ).data;
const prefix = 'resource.customizations.health.doorplate.dev_';

/** By kind, the checks of Argo CD. */
export const luaChecks = (): Record<string, string> =>
  Object.fromEntries(Object.entries(customizations()).map(([key, script]) => [key.replace(prefix, ''), script]));

interface FluxKustomization {
  spec: {wait: boolean; healthCheckExprs?: unknown[]};
}

/** The Kustomizations of an example of Flux. */
export const fluxKustomizations = (file: string): FluxKustomization[] =>
  parseAllDocuments(readFileSync(join(root, 'examples/flux', file), 'utf8')).map((d) => d.toJS() as FluxKustomization);

export interface Judgement {
  kstatus: HealthRow['kstatus'];
  argoCD: {status: HealthRow['argoCD']; message: string};
  flux: HealthRow['flux'];
}

/** What each of the tools makes of each object, in their order. Builds them first, where they are not built yet. */
export function judge(objects: readonly KubeObject[]): Judgement[] {
  const program = execFileSync(fileURLToPath(new URL('install.sh', import.meta.url)), {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  }).trim();
  const flux = fluxKustomizations('own-site.yaml').flatMap(({spec}) => spec.healthCheckExprs ?? []);
  const input = JSON.stringify({lua: luaChecks(), flux, objects});
  return execFileSync(program, {input, encoding: 'utf8', maxBuffer: 2 ** 28})
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Judgement);
}

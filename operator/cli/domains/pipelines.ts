/** Tools that write an object from a copy of theirs, by the marks that they leave on it. What they wrote they write again. */
import {ownersOf} from '../../http/store/managers.ts';
import type {KubeObject} from '../../kube/objects.ts';

interface Mark {
  tool: string;
  in: 'labels' | 'annotations';
  name: string;
  /** Only if a field manager whose name begins so wrote the object: other tools use the mark, too. */
  writer?: string;
}

const marks: readonly Mark[] = [
  {tool: 'Argo CD', in: 'annotations', name: 'argocd.argoproj.io/tracking-id'},
  {tool: 'Argo CD', in: 'labels', name: 'argocd.argoproj.io/instance'},
  {tool: 'Argo CD', in: 'labels', name: 'app.kubernetes.io/instance', writer: 'argocd'},
  {tool: 'Flux', in: 'labels', name: 'kustomize.toolkit.fluxcd.io/name'},
  {tool: 'Flux', in: 'labels', name: 'helm.toolkit.fluxcd.io/name'},
  {tool: 'Helm', in: 'annotations', name: 'meta.helm.sh/release-name'},
  {tool: 'kapp', in: 'labels', name: 'kapp.k14s.io/app'},
  {tool: 'Rancher Fleet', in: 'annotations', name: 'objectset.rio.cattle.io/id'},
  {tool: 'kubectl apply --prune', in: 'labels', name: 'applyset.kubernetes.io/part-of'},
];

/** Why it is of no use to hand the object back, and what to do first; undefined if no tool has marked it. */
export function writtenAgainBy(object: KubeObject): string | undefined {
  const {kind, metadata} = object;
  const isThere = (mark: Mark): boolean =>
    metadata[mark.in]?.[mark.name] !== undefined &&
    (mark.writer === undefined || ownersOf(object).some(({manager = ''}) => manager.startsWith(mark.writer!)));
  const found = marks.filter(isThere);
  const [first] = found;
  if (!first) return undefined;
  const of = `${kind.toLowerCase()} ${metadata.name} -n ${metadata.namespace}`;
  const remove = found.map((mark) => `kubectl ${mark.in === 'labels' ? 'label' : 'annotate'} ${of} ${mark.name}-`);
  return (
    `${first.tool} will write it again (${found.map(({name}) => name).join(', ')}). Take it out of ${first.tool} first, without ` +
    `deleting the object, then remove the mark: ${remove.join(' && ')}`
  );
}

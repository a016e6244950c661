/** GitOps tools, by their field managers and by the labels and annotations that they put on an object. */

/** A label or an annotation that a tool puts on each object that it writes. */
export interface Mark {
  tool: string;
  in: 'labels' | 'annotations';
  name: string;
  /** Start of the field manager's name, if the tool is known only by a server-side apply of the spec. */
  applier?: string;
}

export const marks: readonly Mark[] = [
  {tool: 'Argo CD', in: 'annotations', name: 'argocd.argoproj.io/tracking-id'},
  {tool: 'Argo CD', in: 'labels', name: 'argocd.argoproj.io/instance'},
  {tool: 'Argo CD', in: 'labels', name: 'app.kubernetes.io/instance'},
  {tool: 'Flux', in: 'labels', name: 'kustomize.toolkit.fluxcd.io/name'},
  {tool: 'Flux', in: 'labels', name: 'helm.toolkit.fluxcd.io/name'},
  {tool: 'Helm', in: 'annotations', name: 'meta.helm.sh/release-name'},
  {tool: 'kapp', in: 'labels', name: 'kapp.k14s.io/app'},
  {tool: 'Rancher Fleet', in: 'annotations', name: 'objectset.rio.cattle.io/id'},
  {tool: 'kubectl apply --prune', in: 'labels', name: 'applyset.kubernetes.io/part-of', applier: 'kubectl'},
];

const managers: readonly [RegExp, string][] = [
  [/^argocd/, 'Argo CD'],
  [/^(kustomize|helm)-controller$/, 'Flux'],
  [/^helm$/i, 'Helm'],
  [/^kapp/, 'kapp'],
  [/^fleet/, 'Rancher Fleet'],
];

/** The tool that writes under the name of a field manager; undefined if it is none that writes its objects again. */
export const toolOf = (manager: string): string | undefined => managers.find(([pattern]) => pattern.test(manager))?.[1];

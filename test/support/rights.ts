import {defineResource, type KubeObject} from '../../operator/kube/objects.ts';
import {api} from '../../cluster/cluster.ts';

const reviews = defineResource<KubeObject & {spec: object; status?: {allowed: boolean}}>({
  group: 'authorization.k8s.io',
  version: 'v1',
  plural: 'subjectaccessreviews',
  kind: 'SubjectAccessReview',
  namespaced: false,
});

/** What the API server answers of a ServiceAccount's rights, `kubectl auth can-i`: on a resource, `status` of one, in a namespace or in all. */
export async function may(
  account: {namespace: string; name: string},
  verb: string,
  {
    group,
    resource,
    subresource,
    namespace,
  }: {group: string; resource: string; subresource?: string; namespace?: string},
): Promise<boolean> {
  const spec = {
    user: `system:serviceaccount:${account.namespace}:${account.name}`,
    groups: ['system:serviceaccounts', `system:serviceaccounts:${account.namespace}`, 'system:authenticated'],
    resourceAttributes: {
      verb,
      group,
      resource,
      ...(subresource !== undefined && {subresource}),
      ...(namespace !== undefined && {namespace}),
    },
  };
  const {status} = await api().create(reviews, {
    apiVersion: 'authorization.k8s.io/v1',
    kind: 'SubjectAccessReview',
    metadata: {name: ''},
    spec,
  });
  if (status === undefined) throw new Error('the review has no answer');
  return status.allowed;
}

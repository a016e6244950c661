import {createPrivateKey, sign} from 'node:crypto';
import {readFileSync} from 'node:fs';
import {join} from 'node:path';
import type {Client} from '../../operator/kube/client/client.ts';
import {defineResource} from '../../operator/kube/objects.ts';
import type {KubeObject} from '../../operator/kube/objects.ts';
import {requestToken} from '../../operator/kube/client/service-account-token.ts';

export const serviceAccounts = defineResource<KubeObject>({
  group: '',
  version: 'v1',
  plural: 'serviceaccounts',
  kind: 'ServiceAccount',
  namespaced: true,
});
export const roleBindings = defineResource<KubeObject & {roleRef: object; subjects: object[]}>({
  group: 'rbac.authorization.k8s.io',
  version: 'v1',
  plural: 'rolebindings',
  kind: 'RoleBinding',
  namespaced: true,
});
const clusterRoleBindings = defineResource<KubeObject & {roleRef: object; subjects: object[]}>({
  group: 'rbac.authorization.k8s.io',
  version: 'v1',
  plural: 'clusterrolebindings',
  kind: 'ClusterRoleBinding',
  namespaced: false,
});
const clusterRoles = defineResource<KubeObject & {rules: object[]}>({
  group: 'rbac.authorization.k8s.io',
  version: 'v1',
  plural: 'clusterroles',
  kind: 'ClusterRole',
  namespaced: false,
});

/** Makes a ServiceAccount, and a ClusterRole with these rules that is bound to it in each of the namespaces, or in all. */
export async function makeServiceAccount(
  client: Client,
  {namespace, name}: {namespace: string; name: string},
  rules: object[],
  namespaces: readonly string[] | 'all',
): Promise<void> {
  const binding = {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    roleRef: {apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name},
    subjects: [{kind: 'ServiceAccount', namespace, name}],
  };
  await client.create(serviceAccounts, {apiVersion: 'v1', kind: 'ServiceAccount', metadata: {namespace, name}});
  await client.create(clusterRoles, {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRole',
    metadata: {name},
    rules,
  });
  if (namespaces === 'all')
    await client.create(clusterRoleBindings, {...binding, kind: 'ClusterRoleBinding', metadata: {name}});
  else
    for (const where of namespaces)
      await client.create(roleBindings, {...binding, kind: 'RoleBinding', metadata: {namespace: where, name}});
}

/** A token for an hour. */
export const tokenOf = (
  client: Client,
  account: {namespace: string; name: string},
  audience: string,
): Promise<string> => requestToken(client, account, {audience, seconds: 3600});

/** The same claims with others on top, signed by the API server's own key, which stands in its folder. */
export function resigned(token: string, claims: object, folder: string): string {
  const [head = '', payload = ''] = token.split('.');
  const changed = {...(JSON.parse(Buffer.from(payload, 'base64url').toString()) as object), ...claims};
  const body = `${head}.${Buffer.from(JSON.stringify(changed)).toString('base64url')}`;
  const key = createPrivateKey(readFileSync(join(folder, 'sa.key')));
  return `${body}.${sign('sha256', Buffer.from(body), {key, dsaEncoding: 'ieee-p1363'}).toString('base64url')}`;
}

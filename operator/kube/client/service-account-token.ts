/** ServiceAccount tokens, created as by `kubectl create token`. */
import type {Client} from './client.ts';
import {defineResource, type KubeObject} from '../objects.ts';

type TokenRequest = KubeObject & {spec: object; status?: {token: string}};

/** Requests a token for one audience. The API server may choose a lifetime other than `seconds`. Rejects with an ApiError. */
export async function requestToken(
  client: Client,
  {namespace, name}: {namespace: string; name: string},
  {audience, seconds}: {audience: string; seconds: number},
): Promise<string> {
  const tokens = defineResource<TokenRequest>({
    group: '',
    version: 'v1',
    plural: `serviceaccounts/${name}/token`,
    kind: 'TokenRequest',
    namespaced: true,
  });
  const made = await client.create(tokens, {
    apiVersion: 'authentication.k8s.io/v1',
    kind: 'TokenRequest',
    metadata: {namespace, name},
    spec: {audiences: [audience], expirationSeconds: seconds},
  });
  return made.status!.token;
}

/** For Envoy and what is built on it (Envoy Gateway, Contour): its gRPC service envoy.service.auth.v3.Authorization. */
import type {HeaderValues} from '../limits/headers.ts';
import {Server as GrpcServer, ServerCredentials, status} from '@grpc/grpc-js';
import type {handleUnaryCall, sendUnaryData} from '@grpc/grpc-js';
import type {ManagedServer} from '../kube/manager.ts';
import {identityHeaders} from './authorizer.ts';
import type {Authorizer, AuthorizeDecision} from './authorizer.ts';
import {checkPath, overwrite, readRequest, readResponse, writeRequest, writeResponse} from './envoy-protocol.ts';
import type {CheckRequest, CheckResponse, HeaderValueOption} from './envoy-protocol.ts';

const options = {
  // The headers of a request, and no body.
  'grpc.max_receive_message_length': 1 << 18,
  // A new Pod gets its share of what is open for long.
  'grpc.max_connection_age_ms': 300_000,
  'grpc.max_connection_age_grace_ms': 10_000,
};
/** What has begun is answered before a stop. */
const drainMs = 5000;

/** Listens on the port, 0 for any free one. */
export function envoyServer({
  authorizer,
  port,
}: {
  authorizer: Authorizer;
  port: number;
}): ManagedServer & {port: () => number} {
  const server = new GrpcServer(options);
  const check: handleUnaryCall<CheckRequest, CheckResponse> = ({request}, send) =>
    void answer(authorizer, request, send);
  server.addService(
    {
      check: {
        path: checkPath,
        requestStream: false,
        responseStream: false,
        requestSerialize: writeRequest,
        requestDeserialize: readRequest,
        responseSerialize: writeResponse,
        responseDeserialize: readResponse,
      },
    },
    {check},
  );
  const bind = (host: string): Promise<number> =>
    new Promise((resolve, reject) => {
      server.bindAsync(`${host}:${port}`, ServerCredentials.createInsecure(), (error, at) => {
        if (error) reject(error);
        else resolve(at);
      });
    });
  let bound = 0;
  return {
    start: async () => {
      // As a server of Node's own without a host: both address families, or IPv4 alone on a node without IPv6.
      bound = await bind('[::]').catch(() => bind('0.0.0.0'));
    },
    stop: () =>
      new Promise((resolve) => {
        const cut = setTimeout(() => server.forceShutdown(), drainMs);
        server.tryShutdown(() => {
          clearTimeout(cut);
          resolve();
        });
      }),
    port: () => bound,
  };
}

/** While nothing can be decided the call fails: Envoy's own configuration says what follows. */
async function answer(
  authorizer: Authorizer,
  {attributes}: CheckRequest,
  send: sendUnaryData<CheckResponse>,
): Promise<void> {
  if (!authorizer.isReady) return send({code: status.UNAVAILABLE, details: 'the caches have not synced yet'});
  send(
    null,
    toResponse(
      await authorizer.decide({
        authorization: attributes?.request?.http?.headers?.authorization,
        address: attributes?.source?.address?.socketAddress?.address ?? '',
        scope: attributes?.contextExtensions?.scope,
      }),
    ),
  );
}

const toOptions = (headers: Readonly<HeaderValues>): HeaderValueOption[] =>
  Object.entries(headers).map(([key, value]) => ({header: {key, value: String(value)}, appendAction: overwrite}));

export function toResponse({status: code, headers, identity, body = ''}: AuthorizeDecision): CheckResponse {
  if (code !== 200) {
    return {
      status: {code: status.PERMISSION_DENIED},
      deniedResponse: {status: {code}, headers: toOptions(headers), body},
    };
  }
  const known = Object.fromEntries(Object.entries(identity).filter(([, value]) => value !== ''));
  return {
    status: {code: status.OK},
    okResponse: {
      headers: toOptions(known),
      headersToRemove: identityHeaders.filter((name) => identity[name] === ''),
      responseHeadersToAdd: toOptions(headers),
    },
  };
}

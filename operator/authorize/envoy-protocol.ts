/**
 * The messages of Envoy's authorization service, as far as they are read or written here: fields and numbers are those of
 * envoy/service/auth/v3/{external_auth,attribute_context}.proto and envoy/config/core/v3/{base,address}.proto (Envoy 1.40,
 * Apache-2.0). What else a message has is passed over.
 */
import protobuf from 'protobufjs';

const source = `
  syntax = "proto3";
  package envoy.service.auth.v3;

  message CheckRequest { AttributeContext attributes = 1; }
  message AttributeContext {
    message Peer { Address address = 1; }
    message HttpRequest { map<string, string> headers = 3; }
    message Request { HttpRequest http = 2; }
    Peer source = 1;
    Request request = 4;
    map<string, string> context_extensions = 10;
  }
  message Address { SocketAddress socket_address = 1; }
  message SocketAddress { string address = 2; }

  message CheckResponse {
    Status status = 1;
    oneof http_response {
      DeniedHttpResponse denied_response = 2;
      OkHttpResponse ok_response = 3;
    }
  }
  // google.rpc.Status: 0 lets the request pass.
  message Status { int32 code = 1; }
  message DeniedHttpResponse {
    HttpStatus status = 1;
    repeated HeaderValueOption headers = 2;
    string body = 3;
  }
  message HttpStatus { int32 code = 1; }
  message OkHttpResponse {
    repeated HeaderValueOption headers = 2;
    repeated string headers_to_remove = 5;
    repeated HeaderValueOption response_headers_to_add = 6;
  }
  message HeaderValueOption {
    enum HeaderAppendAction { APPEND_IF_EXISTS_OR_ADD = 0; ADD_IF_ABSENT = 1; OVERWRITE_IF_EXISTS_OR_ADD = 2; }
    HeaderValue header = 1;
    HeaderAppendAction append_action = 3;
  }
  message HeaderValue { string key = 1; string value = 2; }
`;

export interface CheckRequest {
  attributes?: {
    source?: {address?: {socketAddress?: {address?: string}}};
    request?: {http?: {headers?: Record<string, string>}};
    contextExtensions?: Record<string, string>;
  };
}

export interface HeaderValueOption {
  header: {key: string; value: string};
  appendAction: number;
}

export interface CheckResponse {
  status: {code: number};
  deniedResponse?: {status: {code: number}; headers: HeaderValueOption[]; body: string};
  okResponse?: {headers: HeaderValueOption[]; headersToRemove: string[]; responseHeadersToAdd: HeaderValueOption[]};
}

export const overwrite = 2;
/** The path of the method on the wire. */
export const checkPath = '/envoy.service.auth.v3.Authorization/Check';

const {root} = protobuf.parse(source);
const [request, response] = ['CheckRequest', 'CheckResponse'].map((name) =>
  root.lookupType(`envoy.service.auth.v3.${name}`),
);

/** Throws for what is no such message. */
export const readRequest = (bytes: Uint8Array): CheckRequest => request!.decode(bytes) as CheckRequest;
export const writeRequest = (message: CheckRequest): Buffer =>
  Buffer.from(request!.encode(request!.fromObject(message)).finish());
export const readResponse = (bytes: Uint8Array): CheckResponse => response!.decode(bytes) as object as CheckResponse;
export const writeResponse = (message: CheckResponse): Buffer =>
  Buffer.from(response!.encode(response!.fromObject(message)).finish());

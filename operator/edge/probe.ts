/** Connects to an edge as a browser does, and reports which certificate it presents. "Live means seen" (rule 6). */
import {hash} from 'node:crypto';
import {isIP, type Socket} from 'node:net';
import type {TLSSocket} from 'node:tls';
import {connect} from 'node:tls';
import {timestamp} from '../domain/times.ts';
import {answeredBy} from '../redirector/table.ts';
import {open, type ProxyProtocol} from './proxy-protocol.ts';

export interface EdgeAddress {
  /** An IP address or a host name. */
  address: string;
  port: number;
}

export type ProbeFinding = {edge: EdgeAddress} & (
  | {
      /** Lower-case hex over the DER of the leaf. */
      leafSha256: string;
      /** As OpenSSL prints it: `DNS:docs.example.com, DNS:...`; '' when there are none. */
      subjectAltNames: string;
      /** RFC 3339, whole seconds, as in a Certificate's status. */
      notAfter: string;
      /** Where it was asked: whether Doorplate's redirector answered, and not what the hostname serves. */
      redirector?: boolean;
    }
  | {
      /** A short reason that stays the same while the cause does, such as `connection refused`. */
      unreachable: string;
    }
);

export interface ProbeOptions {
  timeoutMs: number;
  signal?: AbortSignal | undefined;
  /** With this header in front: none by default. */
  proxyProtocol?: ProxyProtocol;
  /** Asks, too, who answers there: a HEAD of `/`. */
  whoAnswers?: boolean;
}

/**
 * Performs a TLS handshake with all edges at once, SNI `hostname`. No certificate is validated: the caller compares the leaf with the
 * expected one. Returns findings in the order of `edges`. Never rejects, and takes at most `timeoutMs`.
 */
export function probeEdge(hostname: string, edges: EdgeAddress[], opts: ProbeOptions): Promise<ProbeFinding[]> {
  return Promise.all(
    edges.map((edge) =>
      probeOne(hostname, edge, opts).catch((error: Error) => ({edge, unreachable: shortReason(error)})),
    ),
  );
}

const CERTIFICATE_BEGIN = '-----BEGIN CERTIFICATE-----';
const CERTIFICATE_END = '-----END CERTIFICATE-----';

/** SHA-256 (lower-case hex) over the DER of the first certificate of a PEM chain (RFC 7468). Throws when there is none. */
export function leafSha256(pemChain: string): string {
  const begin = pemChain.indexOf(CERTIFICATE_BEGIN);
  const end = pemChain.indexOf(CERTIFICATE_END, begin);
  if (begin < 0 || end < 0) throw new Error('no certificate in the PEM chain');
  const der = Buffer.from(pemChain.slice(begin + CERTIFICATE_BEGIN.length, end), 'base64');
  // Every certificate is an ASN.1 SEQUENCE.
  if (der[0] !== 0x30) throw new Error('the first entry of the PEM chain is not a certificate');
  return hash('sha256', der);
}

function probeOne(
  hostname: string,
  edge: EdgeAddress,
  {timeoutMs, signal, proxyProtocol = 'None', whoAnswers = false}: ProbeOptions,
): Promise<ProbeFinding> {
  if (signal?.aborted) return Promise.resolve({edge, unreachable: 'stopped'});
  // SNI holds names, never addresses (RFC 6066, 3).
  if (isIP(hostname) !== 0) return Promise.resolve({edge, unreachable: 'an IP address is not a server name'});
  return new Promise((resolve) => {
    let connected = false;
    const tcp = open(edge, proxyProtocol, () => {
      connected = true;
      handshake(connect({socket: tcp, servername: hostname, rejectUnauthorized: false}));
    });
    const finish = (finding: ProbeFinding) => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', onAbort);
      tcp.destroy();
      resolve(finding);
    };
    const onAbort = () => finish({edge, unreachable: 'stopped'});
    let presented: ProbeFinding | undefined;
    const timer = setTimeout(
      () =>
        finish(
          presented ?? {
            edge,
            unreachable: connected
              ? 'connected, but the TLS handshake did not finish in time'
              : 'no connection in time',
          },
        ),
      timeoutMs,
    );
    signal?.addEventListener('abort', onAbort, {once: true});
    const hear = (socket: Socket) => {
      socket.on('error', (error) => finish(presented ?? {edge, unreachable: shortReason(error)}));
      socket.on('close', () => finish(presented ?? {edge, unreachable: 'connection closed'}));
    };
    hear(tcp);
    const handshake = (socket: TLSSocket) => {
      hear(socket);
      socket.on('secureConnect', () => {
        const leaf = socket.getPeerX509Certificate();
        if (!leaf) return finish({edge, unreachable: 'presented no certificate'});
        const finding = {
          edge,
          leafSha256: hash('sha256', leaf.raw),
          subjectAltNames: leaf.subjectAltName ?? '',
          notAfter: timestamp(leaf.validToDate.getTime()),
        };
        if (!whoAnswers) return finish(finding);
        // Nobody who answers in time is not the redirector, which does.
        presented = {...finding, redirector: false};
        headOf(socket, hostname, (head) => finish({...finding, redirector: isRedirectors(head)}));
      });
    };
  });
}

const longestHead = 16_384;
const isRedirectors = (head: string) =>
  head.split('\r\n').some((line) => line.toLowerCase() === `${answeredBy.name}: ${answeredBy.value}`);

/** Sends a HEAD and calls with the head of the answer, as far as it goes. */
function headOf(socket: TLSSocket, hostname: string, done: (head: string) => void): void {
  let head = '';
  socket.setEncoding('latin1');
  socket.on('data', (chunk: string) => {
    head += chunk;
    if (head.includes('\r\n\r\n') || head.length > longestHead) done(head);
  });
  socket.write(`HEAD / HTTP/1.1\r\nhost: ${hostname}\r\nuser-agent: doorplate-probe\r\nconnection: close\r\n\r\n`);
}

/** The `unreachable` of an edge that was reached, and has no certificate for the name. */
export const refusesName = 'refuses this server name';

/** The `unreachable` of an edge that was reached, and hung up in place of a handshake. */
export const hangsUp = 'connection reset';

const REASONS: Record<string, string> = {
  ECONNREFUSED: 'connection refused',
  ECONNRESET: hangsUp,
  EPIPE: hangsUp,
  EHOSTUNREACH: 'no route to it',
  ENETUNREACH: 'no route to it',
  EADDRNOTAVAIL: 'no route to it',
  ETIMEDOUT: 'no connection in time',
  ENOTFOUND: 'its name has no address',
  EAI_AGAIN: 'its name could not be resolved',
  ERR_SSL_WRONG_VERSION_NUMBER: 'does not speak TLS',
  ERR_SSL_PACKET_LENGTH_TOO_LONG: 'does not speak TLS',
  ERR_SSL_TLSV1_UNRECOGNIZED_NAME: refusesName,
};

function shortReason(error: Error): string {
  const code = (error as NodeJS.ErrnoException).code ?? '';
  return REASONS[code] ?? `TLS handshake failed (${code || error.message})`;
}

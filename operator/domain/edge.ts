/** Judges what the edge presents, and how long that may take. */
import type {CertificateFacts} from './certificate.ts';
import type {Hostname} from './hostname.ts';
import type {EdgeFinding} from './world.ts';

/** The edge's own delay, which is no news: nothing is said of a wrong answer before it, ms. */
export const edgeDelayMs = 3_000;

/** Until the edge has surely taken in what was written; times of objects are whole seconds. */
export const edgeSettlesMs = edgeDelayMs + 1000;

/** How long an address of the edge may be missing or wrong before that is Stalled. */
export const edgeGraceMs = 120_000;

export type Seen = {kind: 'Seen'} | {kind: 'Pending'} | {kind: 'EdgeNotServing' | 'EdgeUnreachable'; message: string};

/** As in a URL (RFC 3986, 3.2.2). */
export const at = ({edge: {address, port}}: Pick<EdgeFinding, 'edge'>) =>
  address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`;

const noAddress = (hostname: Hostname): Seen => ({
  kind: 'EdgeUnreachable',
  message:
    `Nobody knows an address of the edge yet, so ${hostname} cannot be seen there. The certificate is there; the ` +
    'platform must see that the Service in edge.service or edge.probe has an address, or that edge.hostname resolves.',
});

/**
 * Rule 6: every edge address presented, for that SNI, the very leaf that was issued, and a hostname that redirected before is no longer
 * redirected there.
 */
export function seenOnEdge(
  hostname: Hostname,
  certificate: CertificateFacts | undefined,
  edge: readonly EdgeFinding[] | undefined,
): Seen {
  const {leafSha256: leaf, notAfter} = certificate ?? {};
  if ((leaf ?? notAfter) === undefined || edge === undefined) return {kind: 'Pending'};
  if (edge.length === 0) return noAddress(hostname);
  // No request tells the leaf of a Secret that cert-manager found and kept, or whose request is gone: status tells when it ends.
  const issued = (f: EdgeFinding) =>
    leaf !== undefined ? f.leafSha256 === leaf : f.notAfter === notAfter && f.subjectAltNames === `DNS:${hostname}`;
  const dead = edge.find((f) => f.unreachable !== undefined);
  if (dead)
    return {
      kind: 'EdgeUnreachable',
      message:
        `The edge at ${at(dead)} does not answer for ${hostname} (${dead.unreachable}). The certificate is there; ` +
        'the platform must bring the edge back.',
    };
  const other = edge.find((f) => !issued(f));
  if (other) {
    return {
      kind: 'EdgeNotServing',
      message:
        `The edge at ${at(other)} presents another certificate for ` +
        `${hostname}${other.subjectAltNames ? ` (of ${other.subjectAltNames})` : ''} than the one that was issued. ` +
        'If that lasts, the platform must look at its ingress controller.',
    };
  }
  const former = edge.find((f) => f.redirector);
  return former
    ? {
        kind: 'EdgeNotServing',
        message:
          `The edge at ${at(former)} still redirects ${hostname}, which is to serve now. ` +
          'If that lasts, the platform must look at its ingress controller.',
      }
    : {kind: 'Seen'};
}

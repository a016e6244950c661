/** Judges the certificates that the edge presents, and the time that a change may take. */
import type {CertificateFacts} from '../certificates/certificate.ts';
import type {Hostname} from '../hostnames/hostname.ts';
import type {EdgeFinding} from '../world.ts';

/** The edge's usual delay, ms. Wrong answers within this time are not reported. */
export const edgeDelayMs = 3_000;

/** Time after which the edge has surely applied a write, ms. Times on objects are whole seconds. */
export const edgeSettlesMs = edgeDelayMs + 1000;

/** How long an address of the edge may be missing or wrong before the hostname is Stalled, ms. */
export const edgeGraceMs = 120_000;

export type Seen = {kind: 'Seen'} | {kind: 'Pending'} | {kind: 'EdgeNotServing' | 'EdgeUnreachable'; message: string};

/** The address and port as in a URL (RFC 3986, 3.2.2). */
export const at = ({edge: {address, port}}: Pick<EdgeFinding, 'edge'>) =>
  address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`;

const noAddress = (hostname: Hostname): Seen => ({
  kind: 'EdgeUnreachable',
  message:
    `Nobody knows an address of the edge yet, so ${hostname} cannot be seen there. The certificate is there; the ` +
    'platform must see that the Service in edge.service or edge.probe has an address, or that edge.hostname resolves.',
});

/**
 * Rule 6: every address of the edge presented, for this SNI, exactly the leaf that was issued. A hostname that redirected before no
 * longer redirects there.
 */
export function seenOnEdge(
  hostname: Hostname,
  certificate: CertificateFacts | undefined,
  edge: readonly EdgeFinding[] | undefined,
): Seen {
  const {leafSha256: leaf, notAfter} = certificate ?? {};
  if ((leaf ?? notAfter) === undefined || edge === undefined) return {kind: 'Pending'};
  if (edge.length === 0) return noAddress(hostname);
  // No request shows the leaf of a Secret that cert-manager found and kept, or whose request is deleted. Status shows when that leaf
  // ends.
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

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

export type Seen =
  | {kind: 'Seen'}
  | {kind: 'Pending'}
  /** `edge`: the faulty address, as {@link at} writes it; undefined if no address is known. */
  | {kind: 'EdgeNotServing' | 'EdgeUnreachable'; message: string; edge?: string};

/** The address and port as in a URL (RFC 3986, 3.2.2). */
export const at = ({edge: {address, port}}: Pick<EdgeFinding, 'edge'>) =>
  address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`;

const noAddress = (hostname: Hostname): Seen => ({
  kind: 'EdgeUnreachable',
  message:
    `Doorplate knows no address of the edge yet, so it cannot probe ${hostname}. The certificate is issued. ` +
    'The platform must ensure that the Service in edge.service or edge.probe has an address, or that edge.hostname resolves.',
});

/** The leaf that an edge probe expects. */
export interface ExpectedLeaf {
  hostname: Hostname;
  /** Lower-case hex over the DER. */
  leafSha256?: string | undefined;
  /** RFC 3339, whole seconds. */
  notAfter?: string | undefined;
}

/**
 * Whether an address presented the issued leaf. No request shows the leaf of a Secret that cert-manager found and kept, or whose request is
 * deleted; then the names and the end of the presented leaf decide.
 */
export const presentsIssued = (
  finding: Pick<EdgeFinding, 'leafSha256' | 'notAfter' | 'subjectAltNames'>,
  {hostname, leafSha256, notAfter}: ExpectedLeaf,
): boolean =>
  leafSha256 !== undefined
    ? finding.leafSha256 === leafSha256
    : finding.notAfter === notAfter && finding.subjectAltNames === `DNS:${hostname}`;

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
  const issued = (f: EdgeFinding) => presentsIssued(f, {hostname, leafSha256: leaf, notAfter});
  const dead = edge.find((f) => f.unreachable !== undefined);
  if (dead)
    return {
      kind: 'EdgeUnreachable',
      edge: at(dead),
      message:
        `The edge at ${at(dead)} does not answer for ${hostname} (${dead.unreachable}). The certificate is ` +
        'issued; the platform must repair the edge.',
    };
  const other = edge.find((f) => !issued(f));
  if (other) {
    return {
      kind: 'EdgeNotServing',
      edge: at(other),
      message:
        `The edge at ${at(other)} presents another certificate for ` +
        `${hostname}${other.subjectAltNames ? ` (of ${other.subjectAltNames})` : ''} than the one that was ` +
        'issued. If this lasts, the platform must check its ingress controller.',
    };
  }
  const former = edge.find((f) => f.redirector);
  return former
    ? {
        kind: 'EdgeNotServing',
        edge: at(former),
        message:
          `The edge at ${at(former)} still redirects ${hostname}, which must now serve ` +
          'the project. If this lasts, the platform must check its ingress controller.',
      }
    : {kind: 'Seen'};
}

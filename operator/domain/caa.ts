import type {Hostname} from './hostname.ts';
import {within} from './hostname.ts';
import {printable} from './verification.ts';

/** What was found by climbing from a hostname; `operator/dns/client.ts` does. */
export interface CaaSeen {
  foundAt?: string;
  records?: readonly {flags: number; tag: string; value: string}[];
  failure?: {name: string; failure: string; detail: string};
}

/** The CA that would be asked. */
export interface CertificateAuthority {
  /** Its names in CAA records. */
  identities: readonly string[];
  /** The platform's own zone. */
  zone: Hostname;
  /** The ACME account that orders (RFC 8555, 7.1.2), where it is known. */
  accountUri?: string;
}

/** Whether the CA may be asked. Only `Allowed` lets an order be made. */
export type CaaVerdict =
  | {kind: 'Allowed'}
  | {kind: 'Blocked'; message: string; by: 'Customer' | 'Platform'}
  | {kind: 'Unknown'; message: string};

const critical = 0x80;

/** `issuer-domain-name *(";" parameter)` (RFC 8659, 4.2); undefined where it is malformed, which allows nobody. */
function issueValue(value: string): {issuer: string; parameters: Map<string, string>} | undefined {
  const [issuer = '', ...rest] = value.split(';').map((part) => part.trim());
  if (issuer !== '' && !/^[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$/i.test(issuer))
    return undefined;
  const parameters = new Map<string, string>();
  for (const part of rest) {
    if (part === '') continue;
    const [, tag, text] = /^([a-z0-9-]+)\s*=\s*([\x21-\x3a\x3c-\x7e]*)$/i.exec(part) ?? [];
    if (tag === undefined || parameters.has(tag.toLowerCase())) return undefined;
    parameters.set(tag.toLowerCase(), text ?? '');
  }
  return {issuer: issuer.toLowerCase(), parameters};
}

const text = (r: {flags: number; tag: string; value: string}) =>
  `CAA ${r.flags} ${printable(r.tag)} "${printable(r.value)}"`;

/**
 * Whether the CAA records let the CA issue for a hostname by HTTP-01: RFC 8659 (no `issue` property: anybody; `issuewild` is
 * not for us; an unknown critical property: nobody), RFC 8657 (`validationmethods`; `accounturi` exactly, as far as `accountUri`, the platform's account, is known).
 * Records within the platform's own zone, reached by the CNAME, are the platform's to mend.
 */
export function judgeCaa(hostname: Hostname, seen: CaaSeen, ca: CertificateAuthority): CaaVerdict {
  if (seen.failure) {
    const {name, detail} = seen.failure;
    return {
      kind: 'Unknown',
      message: `The CAA records of ${printable(name)} could not be read (${detail.slice(0, 200)}); the certificate authority would refuse, so nothing is ordered for ${hostname}. The servers of that zone must answer questions for CAA.`,
    };
  }
  const at = seen.foundAt ?? '';
  const records = seen.records ?? [];
  const by = within(at, ca.zone) ? 'Platform' : 'Customer';
  const blocked = (what: string): CaaVerdict => ({
    kind: 'Blocked',
    by,
    message: `${printable(at)} has ${what}. Nothing is ordered for ${hostname}. Add CAA 0 issue "${ca.identities[0]}" at ${printable(at)}.`,
  });
  const unknown = records.find((r) => (r.flags & critical) !== 0 && !['issue', 'issuewild', 'iodef'].includes(r.tag));
  if (unknown) return blocked(`${text(unknown)}, a critical property that no certificate authority may pass over`);
  const issue = records.filter((r) => r.tag === 'issue');
  if (issue.length === 0) return {kind: 'Allowed'};
  const ours = issue.flatMap((r) => {
    const value = issueValue(r.value);
    return value && ca.identities.includes(value.issuer) ? [value] : [];
  });
  const methods = (v: (typeof ours)[number]) =>
    v.parameters
      .get('validationmethods')
      ?.toLowerCase()
      .split(',')
      .map((m) => m.trim());
  const forAccount = (v: (typeof ours)[number]) =>
    ca.accountUri === undefined || (v.parameters.get('accounturi') ?? ca.accountUri) === ca.accountUri;
  if (ours.some((v) => forAccount(v) && (methods(v)?.includes('http-01') ?? true))) return {kind: 'Allowed'};
  const shown = issue.slice(0, 3).map(text).toSorted().join(', ');
  if (ours.length === 0) return blocked(`${shown}, which does not allow the platform's certificate authority`);
  return blocked(
    ours.some(forAccount)
      ? `${shown}, which does not allow the validation method http-01`
      : `${shown}, which allows other accounts of the platform's certificate authority only`,
  );
}

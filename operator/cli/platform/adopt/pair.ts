/** The certificate and the key that a Secret holds: whether cert-manager would go on with them for one hostname. */
import {createPrivateKey, type KeyObject, X509Certificate} from 'node:crypto';
import {type PrivateKey, privateKeys} from '../../../domain/certificates/certificate.ts';
import type {Hostname} from '../../../domain/hostnames/hostname.ts';
import {timestamp} from '../../../domain/times.ts';
import type {KubeObject} from '../../../kube/objects.ts';

export interface Secret extends KubeObject {
  type?: string;
  /** Base64. */
  data?: Record<string, string>;
}

/** An adoptable pair, or the reason against it: words that follow "its certificate". */
export type Pair = {kind: 'Good'; privateKey: PrivateKey} | {kind: 'Bad'; why: string};

const bad = (why: string): Pair => ({kind: 'Bad', why});

const curves: Record<string, number> = {prime256v1: 256, secp384r1: 384, secp521r1: 521};

/**
 * Judges a Secret as cert-manager judges one without a CertificateRequest (its internal/controller/certificates/policies:
 * NewTriggerPolicyChain): the key must match, the names must be exactly this one, and less than two thirds of its lifetime may have passed.
 * A self-signed certificate is refused, because browsers would warn visitors. `now`: ms since the epoch.
 */
export function pairIn({data = {}}: Pick<Secret, 'data'>, hostname: Hostname, now: number): Pair {
  const [chain, keyText] = ['tls.crt', 'tls.key'].map((name) => Buffer.from(data[name] ?? '', 'base64').toString());
  if (!chain || !keyText) return bad('is missing: the Secret has no tls.crt or no tls.key');
  const read = parsed(chain, keyText);
  if (!read) return bad('or its key can’t be read');
  const {certificate, key} = read;
  if (!certificate.checkPrivateKey(key)) return bad('does not match the key in the Secret');
  if (certificate.checkIssued(certificate)) return bad('is signed by itself');
  const names = namesOf(certificate);
  if (names.join(' ') !== hostname)
    return bad(`must name only ${hostname}, but names ${names.join(', ') || 'no name'}`);
  const [from, to] = [Date.parse(certificate.validFrom), Date.parse(certificate.validTo)];
  if (now < from) return bad(`is not valid before ${timestamp(from)}`);
  if (now >= to) return bad(`has expired at ${timestamp(to)}`);
  if (now >= to - (to - from) / 3) return bad(`is due for renewal: it ends at ${timestamp(to)}`);
  const privateKey = kindOf(key);
  return privateKey ? {kind: 'Good', privateKey} : bad('has a key type that cert-manager would replace');
}

function parsed(chain: string, keyText: string): {certificate: X509Certificate; key: KeyObject} | undefined {
  try {
    // Of several certificates in a PEM, the first is read: the leaf.
    return {certificate: new X509Certificate(chain), key: createPrivateKey(keyText)};
  } catch {
    return undefined;
  }
}

/** The common name with the others, as some CAs repeat one there; each once. Addresses and the like are names too. */
function namesOf(certificate: X509Certificate): string[] {
  const [, common] = /^CN=(.+)$/m.exec(certificate.subject) ?? [];
  const others = certificate.subjectAltName?.split(', ').map((name) => name.replace(/^DNS:/, '')) ?? [];
  return [...new Set([...(common === undefined ? [] : [common]), ...others])].toSorted();
}

function kindOf({asymmetricKeyType, asymmetricKeyDetails: {namedCurve = '', modulusLength} = {}}: KeyObject) {
  const size = asymmetricKeyType === 'ec' ? curves[namedCurve] : modulusLength;
  const name = `${asymmetricKeyType === 'ec' ? 'ECDSA' : (asymmetricKeyType ?? '').toUpperCase()} ${size}`;
  return privateKeys.find((known) => known === name);
}

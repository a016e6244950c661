/** Secrets with certificates that a CA has signed, made by openssl. */
import {execFileSync} from 'node:child_process';
import {mkdtempSync, readFileSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';

const keyArguments = {
  'RSA 2048': ['rsa:2048'],
  'RSA 1024': ['rsa:1024'],
  'ECDSA 256': ['ec', '-pkeyopt', 'ec_paramgen_curve:P-256'],
  'ECDSA 384': ['ec', '-pkeyopt', 'ec_paramgen_curve:P-384'],
  Ed25519: ['ed25519'],
};

/** `names`: as openssl writes them. */
export interface Wish {
  key?: keyof typeof keyArguments;
  names: string;
  subject?: string;
  signedByItself?: boolean;
}

export class SignedSecrets {
  readonly #folder = mkdtempSync(join(tmpdir(), 'doorplate-signed-'));
  #made = 0;

  constructor() {
    this.#openssl(['-newkey', 'rsa:2048', '-subj', '/CN=A CA'], 'ca');
  }

  /** The data of a Secret with a certificate that was made now and is good for 90 days. */
  make({key = 'ECDSA 256', names, subject = '/', signedByItself = false}: Wish): {
    'tls.crt': string;
    'tls.key': string;
  } {
    const name = `${this.#made++}`;
    const by = signedByItself ? [] : ['-CA', this.#file('ca.crt'), '-CAkey', this.#file('ca.key')];
    const extension = ['-addext', `subjectAltName=${names}`];
    this.#openssl(['-days', '90', '-newkey', ...keyArguments[key], '-subj', subject, ...extension, ...by], name);
    const [chain, keyText] = ['crt', 'key'].map((end) => readFileSync(this.#file(`${name}.${end}`)).toString('base64'));
    return {'tls.crt': chain!, 'tls.key': keyText!};
  }

  remove(): void {
    rmSync(this.#folder, {recursive: true});
  }

  #file = (name: string): string => join(this.#folder, name);

  #openssl(words: readonly string[], name: string): void {
    const files = ['-keyout', this.#file(`${name}.key`), '-out', this.#file(`${name}.crt`)];
    execFileSync('openssl', ['req', '-x509', '-nodes', ...words, ...files], {stdio: 'pipe'});
  }
}

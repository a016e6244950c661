import {execFile} from 'node:child_process';
import {mkdtemp, readFile, rm} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {promisify} from 'node:util';
import type {Certificate, CertificateRequest} from '../../operator/api/foreign.ts';
import {certificateRequests, certificates} from '../../operator/resources/resources.ts';
import {timestamp} from '../../operator/domain/times.ts';
import {Cache} from '../../operator/kube/cache/cache.ts';
import type {Client} from '../../operator/kube/client/client.ts';
import {isNotFound} from '../../operator/kube/errors.ts';
import {keyOf} from '../../operator/kube/objects.ts';
import {eventually} from './kube-api.ts';

const run = promisify(execFile);
const day = 86_400_000;

/** A key pair and its certificate, as PEM. */
export interface KeyPair {
  key: string;
  cert: string;
}

const isTrue = (certificate: Certificate | undefined, type: string) =>
  certificate?.status?.conditions?.some((c) => c.type === type && c.status === 'True') ?? false;
const ready = (status: 'True' | 'False', reason: string, message: string) => ({
  conditions: [{type: 'Ready', status, reason, message, lastTransitionTime: timestamp(Date.now())}],
});

/**
 * A fake, in place of cert-manager and of its CA: it makes a CertificateRequest for every Certificate and marks it
 * issued, at once or when the test says so. It removes the requests of a Certificate that is gone, too, as the garbage
 * collector would.
 */
export class StandInCertManager {
  /** UIDs of all Certificates that there have been, by hostname. */
  readonly created = new Map<string, Set<string>>();
  /** The CertificateRequests that were made: orders, as the CA counts them. By hostname. */
  readonly orders = new Map<string, number>();
  /** By `namespace/name` of the Secret. Secrets outlive their Certificates. */
  readonly #secrets = new Map<string, KeyPair>();
  readonly #held = new Set<string>();
  readonly #ignored = new Set<string>();
  readonly #client: Client;
  readonly #folder: string;
  readonly #certificates: Cache<Certificate, Certificate>;
  readonly #stop = new AbortController();
  #work: Promise<unknown> = Promise.resolve();

  private constructor(client: Client, folder: string) {
    this.#client = client;
    this.#folder = folder;
    this.#certificates = new Cache<Certificate, Certificate>(client, certificates);
    this.#certificates.onChange((now, before) => this.#changed(now, before));
  }

  static async start(client: Client): Promise<StandInCertManager> {
    const manager = new StandInCertManager(client, await mkdtemp(join(tmpdir(), 'doorplate-ca-')));
    manager.#certificates.start(manager.#stop.signal);
    await manager.#certificates.synced;
    return manager;
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#certificates.stopped();
    await this.#work;
    await rm(this.#folder, {recursive: true, force: true});
  }

  /** Resolves when it has caught up: each Certificate has its request, and each request its Certificate. */
  async idle(): Promise<void> {
    await eventually(async () => {
      await this.#work;
      const [standing, requests] = await Promise.all([
        this.#client.list(certificates),
        this.#client.list(certificateRequests),
      ]);
      const uids = new Set(standing.items.map((c) => c.metadata.uid));
      const owners = new Set(requests.items.flatMap((r) => r.metadata.ownerReferences?.map((o) => o.uid) ?? []));
      return (
        [...owners].every((uid) => uids.has(uid)) &&
        standing.items.every((c) => owners.has(c.metadata.uid ?? '') || this.#ignored.has(c.spec.dnsNames[0] ?? ''))
      );
    });
  }

  secret(key: string): KeyPair | undefined {
    return this.#secrets.get(key);
  }

  /** What is asked for a hostname waits from now on until {@link issue} or {@link fail}. */
  hold(hostname: string): void {
    this.#held.add(hostname);
  }

  /** Certificates for a hostname are not even looked at: a cert-manager that is behind. */
  ignore(hostname: string): void {
    this.#ignored.add(hostname);
  }

  /**
   * Issues what waits for a hostname. `told`: `Request` stops halfway, before the Certificate says so, `Certificate`
   * tells of nothing but that.
   */
  async issue(hostname: string, told: 'Both' | 'Request' | 'Certificate' = 'Both'): Promise<void> {
    await this.#each(hostname, (certificate) => this.#issue(certificate, told));
  }

  /** Lets the request that waits for a hostname fail. `told`: `Request` stops before the Certificate says so. */
  async fail(hostname: string, message: string, told: 'Both' | 'Request' = 'Both'): Promise<void> {
    await this.#each(hostname, async (certificate) => {
      await this.#say(certificateRequests, this.#requestKey(certificate), {
        ...ready('False', 'Failed', message),
        failureTime: timestamp(Date.now()),
      });
      if (told === 'Request') return;
      const {conditions} = ready('False', 'Failed', message);
      await this.#say(certificates, keyOf(certificate), {conditions: conditions.map((c) => ({...c, type: 'Issuing'}))});
    });
  }

  async #each(hostname: string, work: (certificate: Certificate) => Promise<void>): Promise<void> {
    await this.idle();
    for (const certificate of this.#certificates.list())
      if (certificate.spec.dnsNames.includes(hostname)) await work(certificate);
  }

  #changed(now: Certificate | undefined, before: Certificate | undefined): void {
    const isNew = now !== undefined && now.metadata.uid !== before?.metadata.uid;
    const [hostname = ''] = (now ?? before)!.spec.dnsNames;
    if (isNew) this.created.set(hostname, (this.created.get(hostname) ?? new Set()).add(now.metadata.uid ?? ''));
    if (before && (isNew || !now)) this.#then(() => this.#collect(before));
    const another = before !== undefined && now?.spec.issuerRef.name !== before.spec.issuerRef.name;
    if (isNew || (now && (another || (isTrue(now, 'Issuing') && !isTrue(before, 'Issuing')))))
      this.#then(() => this.#order(now));
  }

  /** One thing after the other; what is gone meanwhile needs nothing more. */
  #then(work: () => Promise<void>): void {
    this.#work = this.#work.then(work).catch((error: unknown) => {
      if (!isNotFound(error) && !this.#stop.signal.aborted) throw error;
    });
  }

  #requestKey = ({metadata: {namespace, name}, status}: Certificate): string =>
    `${namespace}/${name}-${(status?.revision ?? 0) + 1}`;

  async #order(certificate: Certificate): Promise<void> {
    const {namespace = '', name, uid = '', labels} = certificate.metadata;
    const {
      dnsNames: [hostname = ''],
      issuerRef,
    } = certificate.spec;
    if (this.#ignored.has(hostname)) return;
    await this.#client.delete(certificateRequests, this.#requestKey(certificate));
    const request = await this.#client.create<CertificateRequest>(certificateRequests, {
      apiVersion: 'cert-manager.io/v1',
      kind: 'CertificateRequest',
      metadata: {
        name: this.#requestKey(certificate).split('/')[1]!,
        namespace,
        labels,
        annotations: {
          'cert-manager.io/certificate-name': name,
          'cert-manager.io/certificate-revision': String((certificate.status?.revision ?? 0) + 1),
        },
        ownerReferences: [{apiVersion: 'cert-manager.io/v1', kind: 'Certificate', name, uid, controller: true}],
      },
      spec: {issuerRef},
    });
    this.orders.set(hostname, (this.orders.get(hostname) ?? 0) + 1);
    await this.#say(
      certificateRequests,
      keyOf(request),
      ready('False', 'Pending', `Waiting on certificate issuance from order ${keyOf(request)}: "pending"`),
    );
    if (!this.#held.has(hostname)) await this.#issue(certificate, 'Both');
  }

  async #issue(certificate: Certificate, told: 'Both' | 'Request' | 'Certificate'): Promise<void> {
    const {
      metadata: {namespace},
      spec: {
        secretName,
        dnsNames: [hostname = ''],
      },
      status,
    } = certificate;
    const secret = `${namespace}/${secretName}`;
    if (told !== 'Certificate') {
      const made = await this.keyPair(hostname);
      this.#secrets.set(secret, made);
      await this.#say(certificateRequests, this.#requestKey(certificate), {
        ...ready('True', 'Issued', 'issued'),
        certificate: Buffer.from(made.cert).toString('base64'),
      });
    }
    if (told !== 'Request') {
      const [notAfter, renewalTime] = [timestamp(Date.now() + 90 * day), timestamp(Date.now() + 60 * day)];
      await this.#say(certificates, keyOf(certificate), {
        ...ready('True', 'Ready', 'up to date'),
        revision: (status?.revision ?? 0) + 1,
        notAfter,
        renewalTime,
      });
    }
  }

  async #collect({metadata: {namespace, uid}}: Certificate): Promise<void> {
    for (const {metadata} of (await this.#client.list(certificateRequests, {namespace})).items) {
      if (metadata.ownerReferences?.some((o) => o.uid === uid))
        await this.#client.delete(certificateRequests, keyOf({metadata}), {uid: metadata.uid});
    }
  }

  async #say(resource: typeof certificates | typeof certificateRequests, key: string, status: object): Promise<void> {
    await this.#client.patch<Certificate | CertificateRequest>(
      resource,
      key,
      {status},
      {type: 'merge', subresource: 'status'},
    );
  }

  /** Of its own making, and signed by itself. */
  async keyPair(hostname: string): Promise<KeyPair> {
    // Two may be made for a hostname at one time.
    const folder = await mkdtemp(join(this.#folder, 'pair-'));
    const [key, cert] = [join(folder, 'key'), join(folder, 'crt')];
    await run('openssl', [
      'req',
      '-x509',
      '-newkey',
      'ec',
      '-pkeyopt',
      'ec_paramgen_curve:P-256',
      '-nodes',
      '-days',
      '90',
      '-subj',
      '/',
      '-addext',
      `subjectAltName=DNS:${hostname}`,
      '-keyout',
      key,
      '-out',
      cert,
    ]);
    return {key: await readFile(key, 'utf8'), cert: await readFile(cert, 'utf8')};
  }
}

/**
 * Takes hostnames over. A CustomDomain may wait for the hostname already, and would order a certificate as soon as the claim counts
 * as proof, so that comes last:
 *
 *   claim, kept for the tenant ---> Secret ---> Certificate, ready ---> it rests for the tenant ---> the claim counts as proof
 *
 * The operator gives a retained Certificate, unchanged, to the owner of its hostname (domain/certificates/retained.ts). A run that was
 * interrupted is continued by the next run.
 */
import type {Certificate, DomainClaim} from '../../../api/foreign.ts';
import {intentAnnotation, managedBy, ownerLabel} from '../../../resources/labels.ts';
import {certificates, domainClaims} from '../../../resources/resources.ts';
import {hasCondition, isRetained, makeCertificate} from '../../../domain/certificates/certificate.ts';
import {identityOf} from '../../../domain/claims/claim.ts';
import {retainedCertificate, retentionOf} from '../../../domain/certificates/retained.ts';
import type {Policy} from '../../../domain/world.ts';
import {Applier} from '../../../kube/writes/apply.ts';
import type {Client} from '../../../kube/client/client.ts';
import {keyOf, type KubeObject, splitKey} from '../../../kube/objects.ts';
import {doAll} from '../../../kube/writes/side-by-side.ts';
import {CommandError} from '../../errors.ts';
import {fieldManager} from '../../field-manager.ts';
import type {Surroundings} from '../../surroundings.ts';
import {type AdoptRow, secrets} from './read.ts';

/** cert-manager learns of Secrets through a watch. For an unknown Secret it would order a new certificate. */
const seenAfterMs = 5_000;
const askAgainMs = 500;
const patienceMs = 120_000;

type AdoptSource = NonNullable<AdoptRow['source']>;

export class Adoption {
  readonly #client: Client;
  readonly #policy: Policy;
  readonly #around: Pick<Surroundings, 'now' | 'wait'>;
  /** As the operator writes: what it leaves out later is gone then. */
  readonly #applier: Applier;

  constructor(client: Client, policy: Policy, around: Pick<Surroundings, 'now' | 'wait'>) {
    this.#client = client;
    this.#policy = policy;
    this.#around = around;
    this.#applier = new Applier(client, {fieldManager: 'doorplate', hashAnnotation: intentAnnotation});
  }

  /** Resolves with the updated rows. Throws errors of the API server, and CommandError. */
  async run(rows: readonly AdoptRow[]): Promise<AdoptRow[]> {
    const kept = await doAll(rows, (row) => this.#keep(row));
    const taken = kept.filter(isTakenOver);
    await doAll(taken, ({place, source}) => this.#copy(place, source));
    if (taken.length > 0) await this.#around.wait(seenAfterMs);
    return doAll(kept, async (row) => {
      if (row.becomes !== 'TakeOver' && row.becomes !== 'NewOrder') return row;
      const done = isTakenOver(row) ? await this.#layDown(row) : row;
      await this.#vouch(row.claim!);
      return done;
    });
  }

  /**
   * The hostname becomes the tenant's before a Certificate is retained for it: without a claim the Certificate would be deleted at once.
   */
  async #keep(row: AdoptRow): Promise<AdoptRow> {
    const {hostname, tenant, claim, becomes} = row;
    if (claim || (becomes !== 'TakeOver' && becomes !== 'NewOrder')) return row;
    const spec = {tenant: identityOf(tenant), proof: 'DNS' as const};
    const metadata = {name: hostname};
    const made = {apiVersion: 'doorplate.dev/v1alpha1', kind: 'DomainClaim', metadata, spec};
    return {...row, claim: await this.#client.create(domainClaims, made, {fieldManager})};
  }

  async #copy(place: string, {secret: {data = {}}}: AdoptSource): Promise<void> {
    const {namespace = '', name} = splitKey(place);
    const {'tls.crt': chain = '', 'tls.key': key = ''} = data;
    const {issuerRef} = this.#policy.issuers[0];
    // cert-manager asks for another where these name another one, and a ClusterIssuer where they name none
    // (policies/checks.go: SecretIssuerAnnotationsMismatch).
    const annotations = {
      'cert-manager.io/certificate-name': name,
      'cert-manager.io/issuer-name': issuerRef.name,
      'cert-manager.io/issuer-kind': issuerRef.kind ?? 'Issuer',
      'cert-manager.io/issuer-group': issuerRef.group ?? 'cert-manager.io',
    };
    await this.#client.applyPatch(
      secrets,
      {
        apiVersion: 'v1',
        kind: 'Secret',
        // cert-manager's label of the Secrets that it reads first.
        metadata: {name, namespace, labels: {'controller.cert-manager.io/fao': 'true'}, annotations},
        type: 'kubernetes.io/tls',
        data: {'tls.crt': chain, 'tls.key': key},
      },
      {fieldManager, force: true},
    );
  }

  /** Makes the Certificate, and has it rest when cert-manager is content with the Secret. */
  async #layDown(row: AdoptRow & {source: AdoptSource}): Promise<AdoptRow> {
    const {hostname, place, tenant, claim, source} = row;
    const {namespace = '', name} = splitKey(place);
    const {issuers, quarantineTimeMs} = this.#policy;
    const [{issuerRef}] = issuers;
    const {privateKey} = source;
    await this.#apply(makeCertificate({name, namespace, hostname, issuerRef, privateKey}));
    const certificate = await this.#judged(place);
    const rest = retentionOf(certificate, {now: this.#around.now(), tenant, claim, quarantineTimeMs});
    if (!rest) {
      await this.#client.delete(certificates, place, {uid: certificate.metadata.uid!});
      return {...row, becomes: 'NewOrder', why: 'cert-manager would not keep its certificate'};
    }
    const {metadata, ...resting} = retainedCertificate(certificate, rest);
    await this.#apply({
      ...resting,
      metadata: {...metadata, labels: {...metadata.labels, ...managedBy, [ownerLabel]: ''}},
    });
    return {...row, becomes: 'Ready', why: 'it waits for its CustomDomain'};
  }

  async #apply(intent: Certificate): Promise<void> {
    const existing = await this.#client.get(certificates, keyOf(intent));
    const {outcome} = await this.#applier.apply(certificates, intent, {existing, isOurs: isOfNobody});
    if (outcome === 'NotOurs')
      throw new CommandError(`the Certificate ${keyOf(intent)} already belongs to a CustomDomain`);
  }

  /** The Certificate when cert-manager has said what it makes of the Secret. */
  async #judged(place: string): Promise<Certificate> {
    const {now, wait} = this.#around;
    const until = now() + patienceMs;
    for (;;) {
      const certificate = await this.#client.get(certificates, place);
      if (certificate && (hasCondition(certificate, 'Issuing') || isReady(certificate))) return certificate;
      if (now() > until)
        throw new CommandError(
          `cert-manager has not updated the Certificate ${place}. Check that cert-manager runs, then run this command again`,
        );
      await wait(askAgainMs);
    }
  }

  /** From now on the claim counts as proof. Throws a conflict where somebody else has written it meanwhile. */
  async #vouch({metadata: {name, resourceVersion}, spec}: DomainClaim): Promise<void> {
    if (spec.proof === 'Platform') return;
    const patch = [
      {op: 'replace', path: '/metadata/resourceVersion', value: resourceVersion},
      {op: 'replace', path: '/spec/proof', value: 'Platform'},
    ];
    await this.#client.patch(domainClaims, name, patch, {type: 'json', fieldManager});
  }
}

/** No CustomDomain has it. */
const isOfNobody = (object: KubeObject): boolean =>
  object.metadata.labels?.[ownerLabel] === undefined || isRetained(object);

const isReady = (certificate: Certificate): boolean =>
  hasCondition(certificate, 'Ready') && certificate.status?.renewalTime !== undefined;

const isTakenOver = (row: AdoptRow): row is AdoptRow & {source: AdoptSource} =>
  row.becomes === 'TakeOver' && row.source !== undefined;

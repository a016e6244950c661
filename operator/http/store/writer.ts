/**
 * Writes a project's CustomDomain through server-side apply under the API's own name, never forced. Fields of other managers are only read:
 * a write would undo their change, or they would undo it. Fields that a person changed once by kubectl are taken over in the same write.
 */
import {reissueAnnotation, stopAnnotation} from '../../api/custom-domain.ts';
import {type CustomDomainSpec} from '../../api/custom-domain-spec.ts';
import type {CustomDomain, Project} from '../../api/foreign.ts';
import type {Hostname} from '../../domain/hostnames/hostname.ts';
import {formerPrimary} from '../../domain/hostnames/hosts.ts';
import {customDomains} from '../../resources/resources.ts';
import type {Cache} from '../../kube/cache/cache.ts';
import type {Client} from '../../kube/client/client.ts';
import {isAlreadyExists, isConflict, isFieldManagerConflict, isNotFound} from '../../kube/errors.ts';
import {keyOf} from '../../kube/objects.ts';
import {fieldConflicts} from '../../kube/writes/apply.ts';
import {timestamp} from '../../domain/times.ts';
import {
  apiFieldManager,
  formerOwners,
  handedOver,
  isApplied,
  ManagedElsewhere,
  otherManager,
  ownersOf,
  stopOwners,
} from './managers.ts';
import {checkIfMatch} from '../gate/preconditions.ts';
import {Problem} from '../problems.ts';
import type {OwnedDomain, ObjectStore} from './store.ts';
import {takenOver, type TakenOver} from './visits.ts';

/** The subject of a refusal. */
const theseDomains = "This project's list of domains";

/** Asks the operator for a check at once; so do GitOps tools, by their own annotation. */
const requestedAt = 'doorplate.dev/requestedAt';

/** Attempts per change. Each conflicting write of another manager, such as the operator's status, costs one. */
const attempts = 8;

export type DomainsOf = Pick<CustomDomainSpec, 'primary' | 'redirects'>;

/** The desired domains. `stop`: a hostname that they no longer name and whose traffic stops at once, although it was the primary. */
export interface DesiredDomains extends DomainsOf {
  stop?: Hostname;
}

/**
 * A change of a project's domains: returns the desired domains, or undefined for none. `status`: the operator's current status. Throws the
 * {@link Problem} that forbids the change.
 */
export type DomainsChange = (now: DomainsOf | undefined, status?: CustomDomain['status']) => DesiredDomains | undefined;

/**
 * `before`: the CustomDomain that was changed, undefined if there was none. `tookOver`: its fields that a person had set past the API, and
 * that the API owns since. `formerOwners`: field managers of these fields, for the log.
 */
export interface DomainsChanged {
  before: CustomDomain | undefined;
  domain: CustomDomain | undefined;
  tookOver: readonly TakenOver[];
  formerOwners: readonly string[];
}

export class DomainWriter {
  readonly #client: Client;
  readonly #store: ObjectStore;
  readonly #cache: Cache<OwnedDomain, CustomDomain>;

  constructor(p: {client: Client; store: ObjectStore; domains: Cache<OwnedDomain, CustomDomain>}) {
    this.#client = p.client;
    this.#store = p.store;
    this.#cache = p.domains;
  }

  /**
   * Applies a change to the current CustomDomain, read from the API server. Returns the CustomDomain (undefined if it was deleted) and
   * the spec from before. After a conflicting write, the change is applied again to the new version, unless `ifMatch` forbids it. With
   * `dryRun` the API server checks what would be applied, and nothing is written or taken over.
   */
  async change(
    project: Project,
    ifMatch: string | undefined,
    change: DomainsChange,
    {dryRun = false} = {},
  ): Promise<DomainsChanged> {
    for (let attempt = 1; ; attempt++) {
      const domain = await this.#read(project);
      checkIfMatch(ifMatch, domain);
      const wanted = change(domain?.spec, domain?.status);
      try {
        if (domain && !wanted) return takingOver(domain, await this.#remove(domain));
        if (!wanted) return unowned(undefined, undefined);
        if (!domain || dryRun) return unowned(domain, await this.#apply(project, domain, wanted, dryRun));
        return await this.#update(project, domain, wanted);
      } catch (error) {
        const again = isConflict(error) || isAlreadyExists(error) || isNotFound(error);
        if (again && attempt < attempts) continue;
        // Another manager wrote the same fields between each read and write.
        if (isFieldManagerConflict(error)) throw new ManagedElsewhere(theseDomains, fieldConflicts(error)[0]?.manager);
        throw error;
      }
    }
  }

  /** Verify and Re-verify: one immediate check. Possible whoever owns the spec. Returns the value that the status will echo. */
  verify(domain: CustomDomain, now: Date): Promise<string> {
    return this.#request(domain, requestedAt, now);
  }

  /** Requests new certificates with new keys. Possible whoever owns the spec. Returns the value that the status will echo. */
  reissue(domain: CustomDomain, now: Date): Promise<string> {
    return this.#request(domain, reissueAnnotation, now);
  }

  async #request(domain: CustomDomain, annotation: string, now: Date): Promise<string> {
    const value = now.toISOString();
    const written = await this.#client.patch(
      customDomains,
      keyOf(domain),
      {metadata: {uid: domain.metadata.uid, annotations: {[annotation]: value}}},
      {type: 'merge', fieldManager: apiFieldManager},
    );
    this.#cache.observe(written);
    return value;
  }

  async #read(project: Project): Promise<CustomDomain | undefined> {
    const cached = this.#store.domainOf(project);
    const domain = cached && (await this.#client.get(customDomains, keyOf(cached)));
    if (domain?.metadata.deletionTimestamp !== undefined) {
      throw new Problem('unavailable', 'The domains of this project are being removed. Try again in a moment.', {
        headers: {'retry-after': '2'},
      });
    }
    const manager = domain && otherManager(ownersOf(domain));
    if (manager !== undefined) throw new ManagedElsewhere(theseDomains, manager);
    return domain;
  }

  /** Changes an existing CustomDomain. Throws {@link ManagedElsewhere} if another program keeps the annotation that the change sets. */
  async #update(project: Project, domain: CustomDomain, wanted: DesiredDomains): Promise<DomainsChanged> {
    const managedFields = ownersOf(domain);
    const stop = stopValue(domain, wanted);
    const setsStop = stop !== undefined && stop !== domain.metadata.annotations?.[stopAnnotation];
    const {others, keepCopy} = setsStop ? stopOwners(managedFields) : {others: [], keepCopy: []};
    if (keepCopy.length > 0) throw new ManagedElsewhere(theseDomains, keepCopy[0]);
    if (isApplied(managedFields) && others.length === 0)
      return unowned(domain, await this.#apply(project, domain, wanted, false));
    return takingOver(domain, await this.#takeOver(project, domain, wanted), others);
  }

  /**
   * Transfers the visitors' fields to the API, and changes the domains. Both are one write of the version that was read: if the API server
   * refuses the change, or another manager has written since, nothing is taken over.
   */
  async #takeOver(project: Project, domain: CustomDomain, wanted: DesiredDomains): Promise<CustomDomain> {
    const {uid, resourceVersion} = domain.metadata;
    const managedFields = ownersOf(domain);
    const owners = handedOver(managedFields, {apiVersion: domain.apiVersion, now: timestamp(Date.now())});
    const stop = stopValue(domain, wanted);
    const value = stop ?? (stopOwners(managedFields).isApis ? null : undefined);
    const metadata = {uid, resourceVersion, managedFields: owners, annotations: {[stopAnnotation]: value}};
    const spec = specOf(project, wanted);
    // A merge patch keeps what it does not name.
    const patch = {metadata, spec: {...spec, redirects: spec.redirects ?? null}};
    const written = await this.#client.patch(customDomains, keyOf(domain), patch, {
      type: 'merge',
      fieldManager: apiFieldManager,
    });
    this.#cache.observe(written);
    return written;
  }

  async #remove(domain: CustomDomain): Promise<undefined> {
    const {uid, resourceVersion} = domain.metadata;
    await this.#client.delete(customDomains, keyOf(domain), {uid, resourceVersion});
    return undefined;
  }

  async #apply(
    project: Project,
    domain: CustomDomain | undefined,
    desired: DesiredDomains,
    dryRun: boolean,
  ): Promise<CustomDomain> {
    const {namespace} = project.metadata;
    const stop = stopValue(domain, desired);
    // An apply with a version that no object has creates the object or fails (operator/kube/README.md, never adopt).
    const metadata = domain
      ? {
          namespace,
          name: domain.metadata.name,
          uid: domain.metadata.uid,
          resourceVersion: domain.metadata.resourceVersion,
        }
      : {namespace, name: this.#store.freeName(project), resourceVersion: '1'};
    const intent: CustomDomain = {
      apiVersion: 'doorplate.dev/v1alpha1',
      kind: 'CustomDomain',
      metadata: {...metadata, ...(stop !== undefined && {annotations: {[stopAnnotation]: stop}})},
      spec: specOf(project, desired),
    };
    const written = await this.#client.applyPatch(customDomains, intent, {
      fieldManager: apiFieldManager,
      force: false,
      dryRun,
    });
    if (!dryRun) this.#cache.observe(written);
    return written;
  }
}

const specOf = ({metadata: {name}}: Project, {primary, redirects}: DomainsOf): CustomDomain['spec'] => ({
  projectRef: {name},
  primary,
  ...(redirects?.length && {redirects: redirects.map(({from, status}) => ({from, status}))}),
});

/**
 * The value of the annotation `doorplate.dev/stop`; undefined if none is needed. A present value stays as it is while it stops a hostname,
 * because another manager may own it. It is removed when the operator has stopped the hostname.
 */
function stopValue(domain: CustomDomain | undefined, {stop, ...spec}: DesiredDomains): string | undefined {
  const status = domain?.status;
  const former = formerPrimary({spec, status});
  if (!domain || former === undefined) return undefined;
  const isStopped = formerPrimary({metadata: domain.metadata, spec, status}) === undefined;
  return isStopped ? domain.metadata.annotations?.[stopAnnotation] : stop;
}

/** The outcome of a change that takes nothing over. */
const unowned = (before: CustomDomain | undefined, domain: CustomDomain | undefined): DomainsChanged => ({
  before,
  domain,
  tookOver: [],
  formerOwners: [],
});

/** The outcome of a change or a deletion that ends the ownership of others. `others`: owners of the annotation that it took over. */
function takingOver(
  before: CustomDomain,
  domain: CustomDomain | undefined,
  others: readonly string[] = [],
): DomainsChanged {
  const managedFields = ownersOf(before);
  const tookOver = takenOver(managedFields, before, domain);
  return {before, domain, tookOver, formerOwners: [...new Set([...formerOwners(managedFields), ...others])]};
}

/**
 * Foresees the operator's decision without a write: it gathers and decides with the operator's own functions from the facts known here.
 * Claims that a decision asks for exist in memory alone.
 */
import type {CustomDomainStatus} from '../../api/custom-domain.ts';
import type {CustomDomain, DomainClaim, Project} from '../../api/foreign.ts';
import {type GatherSources, gather} from '../../controllers/gather.ts';
import {dnsKey} from '../../controllers/probes/observations.ts';
import {isCleanedUp} from '../../resources/projections.ts';
import {projectKey, projectOf, servedHostnamesOf} from '../../resources/relations.ts';
import type {ClaimWrite} from '../../domain/claims/claim-write.ts';
import {older} from '../../domain/hostnames/acceptance.ts';
import type {CertificateFacts} from '../../domain/certificates/certificate.ts';
import {identityOf} from '../../domain/claims/claim.ts';
import {type Hostname, projectHost} from '../../domain/hostnames/hostname.ts';
import {publishedHosts} from '../../domain/hostnames/published.ts';
import {decide} from '../../domain/lifecycle.ts';
import type {Verdict} from '../../domain/verification/method.ts';
import type {Question} from '../../domain/verification/records.ts';
import {timestamp} from '../../domain/times.ts';
import type {Look} from '../../domain/world.ts';
import type {CheckFacts} from './known.ts';
import {anyPlan, withPublished} from './published.ts';

/** A DNS check with CAA records. */
export type AskDns = (question: Question) => Promise<Verdict>;

/** A claim, a check and a check of the present owner: each may be followed by another decision. */
const mostRounds = 8;
const looksAtOnce = 32;
/** Times on objects are whole seconds: what is seen now counts against a claim of this second only when that is over. */
const aSecondMs = 1000;

export class Foresight {
  readonly #known: CheckFacts;
  readonly #ask: AskDns;
  readonly #now: () => number;
  readonly #startedAt: number;
  readonly #looked = new Map<string, {result: Verdict; at: number}>();

  constructor(known: CheckFacts, {ask, now}: {ask: AskDns; now: () => number}) {
    this.#known = known;
    this.#ask = ask;
    this.#now = () => now() + aSecondMs;
    this.#startedAt = this.#now();
  }

  /** The status that a CustomDomain of `known.domains` would get. Status itself says what no check can find. */
  async of(domain: CustomDomain): Promise<CustomDomainStatus> {
    const {hosts, ...status} = await this.#decide(domain, this.#known);
    return {...status, ...(hosts && {hosts: withPublished(hosts, domain.status?.hosts ?? [], this.#known)})};
  }

  /** The same as if everything but its hostnames were accepted: the next state after a refusal. */
  ofAccepted(domain: CustomDomain): Promise<CustomDomainStatus> {
    return this.#decide(domain, cleared(this.#known, domain, this.#startedAt));
  }

  async #decide(domain: CustomDomain, known: CheckFacts): Promise<CustomDomainStatus> {
    const claims = new Map(known.claims);
    const sources = this.#sources(domain, known, claims);
    for (let round = 0; round < mostRounds; round++) {
      const now = this.#now();
      // DNS is asked about what is proven already, too.
      const request = {value: 'check', seenAt: this.#startedAt};
      const moment = {
        now,
        domain,
        tenant: known.tenant,
        request,
        writes: {writeErrors: new Map(), claimErrors: new Map()},
      };
      const decision = decide(gather(sources, moment));
      const due = decision.looks.filter(
        (look) => isDnsLook(look) && look.at <= now && !this.#looked.has(dnsKey(look.question)),
      );
      if (decision.claims.length === 0 && due.length === 0) return decision.status;
      for (const write of decision.claims) claims.set(write.hostname, written(write));
      for (let i = 0; i < due.length; i += looksAtOnce) {
        await Promise.all(due.slice(i, i + looksAtOnce).map((look) => this.#look(look.question!)));
      }
    }
    throw new Error('what would be decided keeps changing');
  }

  async #look(question: Question): Promise<void> {
    const at = this.#now();
    this.#looked.set(dnsKey(question), {result: await this.#ask(question), at});
  }

  #sources(domain: CustomDomain, known: CheckFacts, claims: ReadonlyMap<string, DomainClaim>): GatherSources {
    const {edge, domains, projects} = known;
    // A record that is gone counts as gone for good at once, so that who serves by it is told before it is dark.
    const policy = {...known.policy, driftConfirmationsMs: []};
    const indices: Record<string, (domain: CustomDomain) => readonly string[]> = {
      uid: ({metadata: {uid = ''}}) => [uid],
      project: projectOf,
      hostname: servedHostnamesOf,
    };
    const by = (index: string, value: string): CustomDomain[] =>
      domains.filter((other) => indices[index]!(other).includes(value));
    // A look at a present holder's right counts as confirmed at once: nothing else is known that would take it back.
    const confirmed = [0, ...policy.takeoverConfirmationsMs].toReversed();
    return {
      policy,
      cas: known.cas,
      edgeAddresses: {edge, endpoints: []},
      domains: {by},
      // `known` has the CustomDomains of one Namespace alone.
      tenants: {of: () => known.tenant},
      firsts: {
        of: (project) =>
          by('project', project)
            .filter((d) => !isCleanedUp(d))
            .toSorted(older)[0],
      },
      projects: {get: (key) => projects.get(key)},
      ingressClasses: {get: () => undefined},
      plainHttp: {isOfItsOwn: () => false},
      claims: {of: (hostname) => claims.get(hostname)},
      ownedObjects: {
        certificate: ({hostname}) => certificateTold(domain, hostname),
        routedSince: () => new Map(),
        since: () => undefined,
        stands: () => false,
      },
      dns: {
        latest: (_owner, key) => this.#looked.get(key),
        recent: (_owner, key) => {
          const looked = this.#looked.get(key);
          return looked ? confirmed.map((ms) => ({result: looked.result, at: this.#startedAt - ms})) : [];
        },
      },
      edge: {recent: () => []},
      edgeHealth: {state: undefined},
      issuance: {latest: () => undefined},
      orders: {orders: () => [], grant: () => undefined, expectedAt: () => 0},
      checks: {of: () => undefined},
      startedAt: () => this.#startedAt,
    };
  }
}

const isDnsLook = (look: Look): look is Look & {question: Question} => look.what === 'dns';

/** The certificate that a hostname has, as far as its status tells: one that ends has been issued. */
function certificateTold(domain: CustomDomain, hostname: Hostname): CertificateFacts | undefined {
  const {name, notAfter} = publishedHosts(domain.status).get(hostname)?.entry?.certificate ?? {};
  return name !== undefined && notAfter !== undefined ? {name, notAfter, ready: true, issuing: false} : undefined;
}

const written = ({hostname, spec, status}: ClaimWrite): DomainClaim => ({
  apiVersion: 'doorplate.dev/v1alpha1',
  kind: 'DomainClaim',
  metadata: {name: hostname},
  spec,
  status,
});

/** The same with a plan that allows everything, an existing and deployed Project, and no other CustomDomain for it. */
function cleared({projects, domains, tenant, ...known}: CheckFacts, domain: CustomDomain, now: number): CheckFacts {
  const {installation, zone} = known.policy;
  const {namespace = ''} = domain.metadata;
  const {name} = domain.spec.projectRef;
  const key = projectKey(domain);
  const project = projects.get(key);
  const status = {
    observedGeneration: 0,
    host: projectHost({installation, zone, tenant: identityOf(tenant), namespace, name}),
    firstDeployTime: timestamp(now),
    ...project?.status,
  };
  const deployed: Project = {...(project ?? projectToBe(namespace, name)), status};
  return {
    ...known,
    tenant: {...tenant, plan: anyPlan},
    projects: new Map([...projects, [key, deployed]]),
    domains: domains.filter((other) => other === domain || projectKey(other) !== key),
  };
}

const projectToBe = (namespace: string, name: string): Project => ({
  apiVersion: 'doorplate.dev/v1alpha1',
  kind: 'Project',
  metadata: {namespace, name},
  spec: {serviceRef: {name, port: 80}, defaultHost: 'Serve'},
});

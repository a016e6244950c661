/** The stages of a CustomDomain's reconcile, on fakes that record what they are asked for. */
import {describe, expect, test} from '@jest/globals';
import type {CustomDomainStatus, HostStatus} from '../../../operator/api/custom-domain.ts';
import type {DomainClaim} from '../../../operator/api/foreign.ts';
import {DomainReconciliation, domainStages} from '../../../operator/controllers/domain-stages.ts';
import {finalizer} from '../../../operator/resources/projections.ts';
import {carryOut, removeObjects, rereadMs, type StageDeps} from '../../../operator/controllers/stages.ts';
import type {ClaimWrite} from '../../../operator/domain/claims/claim-write.ts';
import type {Decision} from '../../../operator/domain/world.ts';
import {ApiError, NoAnswerError} from '../../../operator/kube/errors.ts';
import type {HasMeta} from '../../../operator/kube/objects.ts';
import {domain, enterprise, heldClaim, policy, t0, tenantOn} from '../../support/world.ts';

const [docs, old, gone] = ['docs.example.com', 'old.example.com', 'gone.example.com'];
const none: Decision = {
  status: {observedGeneration: 1},
  passing: [],
  claims: [],
  certificates: [],
  returning: [],
  forfeited: [],
  handingOver: [],
  routes: [],
  freshAttempts: [],
  orderRequests: [],
  looks: [],
};
/** What the stages do where nothing else is planned. */
const usual = ['routes', 'certificates', 'attempts', 'probes', 'status'];
const writeOf = (hostname: string): ClaimWrite => ({
  hostname,
  before: undefined,
  spec: heldClaim(hostname).spec,
  status: heldClaim(hostname).status!,
});

interface Fakes {
  /** Hostnames that have a route. */
  routed: string[];
  /** Copies of claims. */
  copies: Map<string, DomainClaim>;
  /** Claims that the API server has, or what it answers in their place. */
  claims: Map<string, DomainClaim | Error>;
  /** What the API server answers to the write of a claim. */
  refused: Map<string, Error>;
  /** What the API server answers to the write of a Certificate. */
  certificateError?: Error;
  /** What the API server answers to the first write of a fresh attempt. */
  attemptError?: Error;
  /** The Namespace that the API server has. */
  namespace: HasMeta;
  /** What stages have changed, by the name under which they record it. */
  changes: string[];
  plan: (done: readonly string[]) => Decision;
}

class FakeReconciliation extends DomainReconciliation {
  readonly cache = {observe: () => {}};
  readonly done: string[] = [];
  plans = 0;
  namespaceReads = 0;
  readonly deps: StageDeps;
  readonly #fakes: Fakes;

  constructor(fakes: Partial<Fakes> = {}) {
    super(
      {...domain({redirects: [{from: old}]}), metadata: {...domain().metadata, finalizers: [finalizer]}},
      tenantOn(enterprise),
      () => t0,
    );
    const {copies, claims, refused, ...rest} = (this.#fakes = {
      routed: [],
      copies: new Map(),
      claims: new Map(),
      refused: new Map(),
      changes: [],
      namespace: {
        metadata: {name: 'acme', uid: tenantOn(enterprise).namespaceUID, labels: {'doorplate.dev/account': 'acme'}},
      },
      plan: () => none,
      ...fakes,
    });
    const wrote = async (what: string): Promise<boolean> => {
      this.done.push(what);
      return rest.changes.includes(what);
    };
    this.deps = {
      client: {
        patch: async () => void this.done.push('finalizer'),
        get: async () => {
          this.namespaceReads++;
          return rest.namespace;
        },
      } as never,
      policy,
      ingressClasses: {get: () => undefined},
      plainHttp: {isOfItsOwn: () => true},
      orders: {keep: () => false},
      claims: {
        of: (hostname) => copies.get(hostname),
        read: async (hostname) => {
          this.done.push(`read ${hostname}`);
          const live = claims.get(hostname);
          if (live instanceof Error) throw live;
          if (live) copies.set(hostname, live);
          return live;
        },
        writeAll: async (writes, {confirmTenant}) => {
          await confirmTenant();
          return Promise.allSettled(
            writes.map(async ({hostname}) => {
              const error = refused.get(hostname);
              this.done.push(`claim ${hostname}${error ? ' refused' : ''}`);
              if (error) throw error;
            }),
          );
        },
      },
      ownedObjects: {
        routedBy: () => new Set(rest.routed),
        removeRoutesOfOthers: async (_, hostnames) => {
          const stopped = rest.routed.filter((hostname) => !hostnames.has(hostname));
          this.done.push(...stopped.map((hostname) => `stop ${hostname}`));
          rest.routed = rest.routed.filter((hostname) => hostnames.has(hostname));
          return stopped.length > 0;
        },
        applyRoutes: () => wrote('routes'),
        applyCertificates: async (_owner, _wanted, _leaving, writes) => {
          if (rest.certificateError) writes.add([{status: 'rejected', reason: rest.certificateError}]);
          return wrote('certificates');
        },
      },
    };
  }

  protected decide(): Decision {
    this.plans++;
    return this.#fakes.plan(this.done);
  }
  debounceMs(): number {
    return this.#fakes.plan(this.done).status.phase === 'AwaitingVerification' ? 300 : 0;
  }
  async publish(): Promise<void> {
    this.done.push('status');
    this.wrote({...this.object, status: this.plan.status});
  }
  answer(): void {}
  async startAttempts(): Promise<boolean> {
    this.done.push('attempts');
    const {attemptError} = this.#fakes;
    if (attemptError) this.writes.add([{status: 'rejected', reason: attemptError}]);
    return attemptError !== undefined;
  }
  scheduleProbes(): void {
    this.done.push('probes');
  }
}

const failing = new ApiError({status: 500, body: 'the webhook is away'});
const wants =
  (...hostnames: string[]) =>
  (done: readonly string[]): Decision => ({
    ...none,
    claims: hostnames.filter((hostname) => !done.includes(`claim ${hostname}`)).map(writeOf),
  });

test('routes of hostnames that the object no longer names stop before anything is written', async () => {
  const r = new FakeReconciliation({routed: [docs, gone], plan: wants(docs)});
  expect(await carryOut(domainStages, r)).toBe('awaitChange');
  expect(r.done).toEqual([`stop ${gone}`, `claim ${docs}`, ...usual]);
});

describe('A claim that cannot be written', () => {
  test('is an error of its hostname: the others go on, and routes and certificates follow', async () => {
    const r = new FakeReconciliation({plan: wants(docs, old), refused: new Map([[old, failing]])});
    await expect(carryOut(domainStages, r)).rejects.toBe(failing);
    expect(r.done).toEqual([`claim ${docs}`, `claim ${old} refused`, ...usual]);
    expect([...r.writes.claimErrors]).toEqual([
      [old, {kind: 'WriteFailed', object: `DomainClaim ${old}`, says: 'the webhook is away'}],
    ]);
  });

  test('because the API server does not answer ends the reconcile', async () => {
    const silent = new NoAnswerError('no answer', {cause: undefined} as never);
    const r = new FakeReconciliation({routed: [gone], plan: wants(docs), refused: new Map([[docs, silent]])});
    await expect(carryOut(domainStages, r)).rejects.toBe(silent);
    expect(r.done).toEqual([`stop ${gone}`, `claim ${docs} refused`]);
  });
});

test('a Certificate that cannot be written holds up no later stage: status is published, and the queue tries again', async () => {
  const r = new FakeReconciliation({certificateError: failing});
  await expect(carryOut(domainStages, r)).rejects.toBe(failing);
  expect(r.done).toEqual(usual);
});

test('a fresh attempt that fails holds up no later stage: status is decided again with the failure, and the queue tries again', async () => {
  const r = new FakeReconciliation({attemptError: failing});
  await expect(carryOut(domainStages, r)).rejects.toBe(failing);
  expect([r.done, r.plans]).toEqual([usual, 2]);
});

describe('The Namespace', () => {
  const plan = wants(docs);
  const labels = {'doorplate.dev/account': 'acme'};

  test('is read when a claim is written, and at no other time', async () => {
    const [claiming, quiet] = [new FakeReconciliation({plan}), new FakeReconciliation()];
    await Promise.all([carryOut(domainStages, claiming), carryOut(domainStages, quiet)]);
    expect([claiming.namespaceReads, quiet.namespaceReads]).toEqual([1, 0]);
  });

  test('that belongs to another tenant by now gets no claim', async () => {
    const r = new FakeReconciliation({plan, namespace: {metadata: {name: 'acme', uid: 'another', labels}}});
    await expect(carryOut(domainStages, r)).rejects.toThrow('has changed since it was read');
    expect(r.done).toEqual([]);
  });
});

describe('A route of a hostname that another holds, by the copy of its claim', () => {
  const [mine, another] = [heldClaim(docs, domain().metadata.uid), heldClaim(docs, 'another')];
  test.each([
    ['is left where the claim itself is still the object’s', mine, []],
    ['is left where the claim cannot be read', failing, [docs]],
    ['is for the plan to remove where the claim says the same', another, []],
  ])('%s', async (_, claim, unconfirmed) => {
    const r = new FakeReconciliation({
      routed: [docs],
      copies: new Map([[docs, another]]),
      claims: new Map([[docs, claim]]),
    });
    await removeObjects(r);
    expect([r.done, [...r.writes.unconfirmed]]).toEqual([[`read ${docs}`], unconfirmed]);
    expect(r.isLost(docs)).toBe(claim !== mine);
  });
});

test('a claim that could not be read is read again within 2 s, whatever else is planned', async () => {
  const r = new FakeReconciliation({
    routed: [docs],
    copies: new Map([[docs, heldClaim(docs, 'another')]]),
    claims: new Map([[docs, failing]]),
    plan: () => ({...none, wakeAt: t0 + 3_600_000}),
  });
  expect(await carryOut(domainStages, r)).toEqual({requeueAfterMs: rereadMs});
});

const withHost = (host: Partial<HostStatus>): CustomDomainStatus => ({
  observedGeneration: 1,
  hosts: [{hostname: docs, role: 'Primary', phase: 'Verified', reason: 'Issuing', message: '', ...host} as HostStatus],
});

describe('Status', () => {
  const verified = withHost({verifiedAt: '2026-01-01T00:00:00Z'});

  test('says that a hostname is verified before its Certificate is made', async () => {
    const r = new FakeReconciliation({plan: () => ({...none, status: verified})});
    await carryOut(domainStages, r);
    expect(r.done).toEqual(['routes', 'status', 'certificates', 'attempts', 'probes', 'status']);
  });

  test('says that a hostname is Live before the routes of what was served in its place go', async () => {
    const r = new FakeReconciliation({plan: () => ({...none, status: withHost({phase: 'Live', reason: 'Serving'})})});
    await carryOut(domainStages, r);
    expect(r.done).toEqual(['status', 'routes', 'certificates', 'attempts', 'probes', 'status']);
  });

  test('that is not published yet wakes the reconcile when it is to be', async () => {
    const r = new FakeReconciliation({
      plan: () => ({...none, status: {observedGeneration: 1, phase: 'AwaitingVerification'}, wakeAt: t0 + 3_600_000}),
    });
    expect(await carryOut(domainStages, r)).toEqual({requeueAfterMs: 300});
    expect(r.done).not.toContain('status');
  });
});

describe('A plan is decided again', () => {
  test.each([
    ['not where nothing has changed', [], 1],
    ['after routes have changed', ['routes'], 2],
    ['after routes and Certificates have changed', ['routes', 'certificates'], 3],
  ])('%s', async (_, changes, plans) => {
    const r = new FakeReconciliation({changes});
    await carryOut(domainStages, r);
    expect(r.plans).toBe(plans);
  });

  test('after its claims are written, and those that are new then are written before the next stage', async () => {
    const r = new FakeReconciliation({
      changes: ['routes'],
      plan: (done) => wants(...(done.includes('routes') ? [docs, old] : [docs]))(done),
    });
    await carryOut(domainStages, r);
    expect(r.done.slice(0, 4)).toEqual([`claim ${docs}`, 'routes', `claim ${old}`, 'certificates']);
  });
});

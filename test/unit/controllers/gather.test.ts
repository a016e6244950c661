import {describe, expect, test} from '@jest/globals';
import type {HostStatus} from '../../../operator/api/custom-domain.ts';
import type {CertificatePlace} from '../../../operator/controllers/writers/owned-objects.ts';
import type {CustomDomain} from '../../../operator/api/foreign.ts';
import {timestamp} from '../../../operator/domain/times.ts';
import {gather, type GatherSources} from '../../../operator/controllers/gather.ts';
import type {RouteObject} from '../../../operator/controllers/state/rendering.ts';
import {
  certificate,
  days,
  domain,
  enterprise,
  heldClaim,
  hours,
  policy,
  project,
  seconds,
  t0,
  tenantOn,
} from '../../support/world.ts';

/** Caches of one CustomDomain whose routes have been there for a second; `stands`: whether one is as it should be. */
function sources(stands: (route: RouteObject) => boolean, identities: string[] = []): GatherSources {
  return {
    policy,
    cas: {identities: () => identities, unavailableSince: () => undefined, isCertain: () => true},
    edgeAddresses: {edge: {edgeAddresses: policy.edgeAddresses}, endpoints: []},
    startedAt: () => t0,
    domains: {by: () => []},
    firsts: {of: () => undefined},
    projects: {get: () => project()},
    ingressClasses: {
      get: (name) => ({
        apiVersion: 'networking.k8s.io/v1',
        kind: 'IngressClass',
        metadata: {name},
        spec: {controller: 'traefik.io/ingress-controller'},
      }),
    },
    plainHttp: {isOfItsOwn: () => true},
    claims: {of: () => undefined},
    ownedObjects: {
      certificate: () => undefined,
      routedSince: () => new Map(),
      since: (_, key) => (key.startsWith('acme/') ? t0 - seconds : undefined),
      stands: (_, route) => stands(route),
    },
    dns: {latest: () => undefined, recent: () => []},
    edge: {recent: () => []},
    edgeHealth: {state: undefined},
    issuance: {latest: () => undefined},
    orders: {orders: () => [], grant: () => undefined, expectedAt: () => 0},
    checks: {of: () => undefined},
  };
}

const moment = {
  now: t0,
  domain: domain(),
  tenant: tenantOn(enterprise),
  request: undefined,
  writes: {writeErrors: new Map(), claimErrors: new Map()},
};
const standing = (stands: (route: RouteObject) => boolean) =>
  gather(sources(stands), moment).facts.get('docs.example.com')?.standing;

describe('The routes of a hostname', () => {
  test('are whole when all of them are as they should be, and are of the use that they have', () => {
    expect(standing(() => true)).toEqual({serves: {since: t0 - seconds, isWhole: true}});
  });

  test.each(['acme', 'doorplate-system'])('are not whole when the one in the namespace %s is not', (namespace) => {
    expect(standing(({metadata}) => metadata.namespace !== namespace)?.serves?.isWhole).toBe(false);
  });
});

describe('A Certificate that rests', () => {
  const known = sources(() => true);
  const held = (by: string) => {
    const ownedObjects = {
      ...known.ownedObjects,
      certificate: ({tenant}: CertificatePlace) => tenant && certificate({name: 'of-before'}),
    };
    const claims = {of: (hostname: string) => heldClaim(hostname, by)};
    return gather({...known, ownedObjects, claims}, moment).facts.get('docs.example.com');
  };

  test('is known to who holds the hostname, with the name that it keeps', () => {
    expect(held('uid-domain')).toMatchObject({
      certificate: {name: 'of-before'},
      certificateNames: {serves: 'of-before', redirects: 'of-before'},
    });
  });

  test('is known with the key that it was taken over with', () => {
    const ownedObjects = {
      ...known.ownedObjects,
      certificate: () => certificate({name: 'of-before', privateKey: 'RSA 2048'}),
    };
    const facts = gather({...known, ownedObjects}, moment).facts.get('docs.example.com');
    expect(facts?.privateKeys).toEqual({serves: 'RSA 2048', redirects: 'RSA 2048'});
    expect(held('uid-domain')).not.toHaveProperty('privateKeys');
  });

  test('is not known while another holds it', () => {
    expect(held('another')?.certificate).toBeUndefined();
    expect(held('another')).not.toHaveProperty('certificateNames');
  });
});

describe('What was seen of the edge', () => {
  const [one, two] = [
    {address: '192.0.2.1', port: 443},
    {address: '192.0.2.2', port: 443},
  ];
  const looked = {result: [one, two].map((edge) => ({edge, leafSha256: 'leaf'})), at: t0};
  const seen = (...endpoints: (typeof one)[]) => {
    const known = sources(() => true);
    const edgeAddresses = {edge: {edgeAddresses: endpoints.map(({address}) => address)}, endpoints};
    return gather({...known, edgeAddresses, edge: {recent: () => [looked]}}, moment).facts.get('docs.example.com');
  };

  test('counts for the addresses that the edge has now', () => {
    expect(seen(one, two)).toMatchObject({edge: looked.result, edgeLookedAt: t0});
    expect(seen(two)?.edge).toEqual([looked.result[1]]);
  });

  test('is incomplete if the edge has got an address since', () => {
    const known = seen(one, {address: '192.0.2.3', port: 443});
    expect(known).toMatchObject({edge: [looked.result[0]], edgeIncomplete: true});
    expect(seen(one, two)).not.toHaveProperty('edgeIncomplete');
  });

  test('does not count if the edge has none of its addresses any more', () => {
    const known = seen({address: '192.0.2.3', port: 443});
    expect([known?.edge, known?.edgeLookedAt]).toEqual([undefined, undefined]);
  });
});

test("a decision is given the edge's addresses as they are known now", () => {
  const edgeAddresses = {edge: {edgeAddresses: ['192.0.2.9'], edgeHostname: 'lb.cloud.example'}, endpoints: []};
  expect(gather({...sources(() => true), edgeAddresses}, moment).policy).toMatchObject(edgeAddresses.edge);
});

test("a decision is given the CA's names as they are known now", () => {
  expect(
    gather(
      sources(() => true, ['ca.example']),
      moment,
    ).policy.issuers[0].caaIdentities,
  ).toEqual(['ca.example']);
});

/**
 * The facts about a hostname that passes to a CustomDomain of this account. `reason` and `phase`: the successor's published state, an hour
 * after it became the owner. `change`: of that state.
 */
const gathered = (
  account: string,
  reason = 'Issuing',
  phase: HostStatus['phase'] = 'Verified',
  change: Partial<HostStatus> = {},
) => {
  const known = sources(() => true);
  const entry = {hostname: 'docs.example.com', phase, reason, since: timestamp(t0), ...change} as HostStatus;
  const since = timestamp(t0 - hours);
  const successor = domain({name: 'second', uid: 'uid-second', status: {observedGeneration: 1, hosts: [entry]}});
  const asked: CertificatePlace[] = [];
  const {facts} = gather(
    {
      ...known,
      domains: {by: (index) => (index === 'hostname' ? [domain(), successor] : [successor])},
      tenants: {of: () => tenantOn(enterprise, {account})},
      claims: {of: (hostname) => heldClaim(hostname, 'uid-second', {since})},
      ownedObjects: {
        ...known.ownedObjects,
        routedSince: () => new Map([['uid-second', t0]]),
        certificate: (place) => void asked.push(place),
      },
    },
    moment,
  );
  return {facts: facts.get('docs.example.com'), siblings: asked[0]?.siblings};
};

describe('A hostname that passes to another CustomDomain', () => {
  test('is handed over within a tenant alone', () => {
    expect(gathered('acme').facts).toMatchObject({
      occupied: true,
      succeeds: true,
      successor: {routedSince: t0, isAnnounced: false, isBlocked: false},
    });
    expect(gathered('other').facts).toMatchObject({occupied: true});
    expect(gathered('other').facts).not.toHaveProperty('succeeds');
    expect(gathered('other').facts).not.toHaveProperty('successor');
  });

  test.each<[HostStatus['phase'], HostStatus['reason'], boolean]>([
    ['Verified', 'WriteRefused', true],
    ['Verified', 'NameTaken', true],
    ['NotAccepted', 'HostnameLimitReached', true],
    ['NotAccepted', 'ProjectHasDomains', false],
    ['NotAccepted', 'ProjectLimitReached', false],
    ['NotAccepted', 'TooManyWaiting', false],
    ['NotAccepted', 'ProjectNotFound', false],
    ['NotAccepted', 'NoSuccessfulDeploy', false],
    ['AwaitingVerification', 'VerificationExpired', true],
    ['Removing', 'Removing', true],
    ['AwaitingVerification', 'RecordMissing', false],
    ['Verified', 'WriteFailed', false],
    ['Verified', 'Issuing', false],
  ])('is served as before unless its successor can never write its routes: %s %s', (phase, reason, isBlocked) => {
    expect(gathered('acme', reason, phase).facts?.successor).toMatchObject({isBlocked});
  });

  test.each<[HostStatus['phase'], HostStatus['reason']]>([
    ['NotAccepted', 'NoSuccessfulDeploy'],
    ['NotAccepted', 'PlanUpgradeRequired'],
    ['AwaitingVerification', 'VerificationExpired'],
  ])(
    'is served as before while its successor has published nothing since it became the owner: %s %s',
    (phase, reason) => {
      const isBlocked = (since: number) =>
        gathered('acme', reason, phase, {since: timestamp(since)}).facts?.successor?.isBlocked;
      expect([t0 - days, t0 - hours].map(isBlocked)).toEqual([false, false]);
    },
  );

  test('does not wait for a successor that is being deleted, however old that answer is', () => {
    const removing = gathered('acme', 'Removing', 'Removing', {since: timestamp(t0 - days)});
    expect(removing.facts?.successor).toMatchObject({isBlocked: true});
  });

  test('may use the Certificate of its siblings there', () => {
    expect(gathered('acme').siblings).toEqual(new Set(['uid-second']));
    expect(gathered('other').siblings).toEqual(new Set());
  });
});

/** What is known of `owner`, a CustomDomain of this account that owns the hostname. */
const rivalIn = (owner: CustomDomain, account = 'acme') =>
  gather(
    {
      ...sources(() => true),
      domains: {by: () => [owner]},
      tenants: {of: () => tenantOn(enterprise, {account})},
      claims: {of: (hostname) => heldClaim(hostname, 'uid-second')},
    },
    moment,
  ).facts.get('docs.example.com')?.rival;
const isLetGo = (owner: CustomDomain, account?: string) => rivalIn(owner, account)?.isLetGo;

/** Refusals that pass without a change of the CustomDomain. */
const passing = ['ProjectNotFound', 'NoSuccessfulDeploy', 'ProjectHasDomains', 'ProjectLimitReached', 'TooManyWaiting'];

describe('A hostname that its owner does not name any more', () => {
  const named = domain({name: 'second', uid: 'uid-second'});
  const another = domain({name: 'second', uid: 'uid-second', primary: 'another.example.com'});
  test('is let go to the other CustomDomains of the tenant alone', () => {
    expect([isLetGo(another), isLetGo(named), isLetGo(another, 'other')]).toEqual([true, false, false]);
  });

  test('passes over when its owner is being deleted, which is known', () => {
    const deleted = domain({name: 'second', uid: 'uid-second'});
    deleted.metadata.deletionTimestamp = timestamp(t0);
    expect([rivalIn(deleted)?.isBeingDeleted, rivalIn(named)?.isBeingDeleted]).toEqual([true, undefined]);
  });

  test('is awaited by a CustomDomain that names it, until that is refused or its checks have ended', () => {
    const live = {
      hostname: 'former.example.com',
      role: 'Primary',
      phase: 'Live',
      reason: 'Serving',
      liveAt: timestamp(t0),
    } as HostStatus;
    const former = domain();
    former.status = {observedGeneration: 1, hosts: [live], conditions: []};
    const awaited = (
      entry: Partial<HostStatus> | undefined,
      {primary = 'former.example.com', ...metadata}: Partial<CustomDomain['metadata']> & {primary?: string} = {},
    ) => {
      const sibling = domain({name: 'second', uid: 'uid-second', primary});
      Object.assign(sibling.metadata, {generation: 1, ...metadata});
      const hosts = entry ? [{hostname: 'former.example.com', ...entry} as HostStatus] : [];
      sibling.status = {observedGeneration: entry ? 1 : 0, hosts, conditions: []};
      const {facts} = gather(
        {
          ...sources(() => true),
          domains: {by: () => [sibling]},
          tenants: {of: () => tenantOn(enterprise)},
          claims: {of: (hostname) => heldClaim(hostname)},
        },
        {...moment, domain: former},
      );
      return facts.get('former.example.com')?.isAwaited ?? false;
    };
    expect(
      [
        undefined,
        {phase: 'AwaitingVerification', reason: 'TargetMismatch'} as const,
        {phase: 'AwaitingVerification', reason: 'VerificationExpired'} as const,
        {phase: 'NotAccepted', reason: 'HostnameLimitReached'} as const,
      ].map((entry) => awaited(entry)),
    ).toEqual([true, true, false, false]);
    // The same commit creates its Project, or removes what is in its way. The wait ends with the grace period, whatever the reason was since.
    const ended = t0 - policy.graceTimeMs;
    for (const reason of passing) {
      const refused = {phase: 'NotAccepted', reason, since: timestamp(t0)} as const;
      former.status = {observedGeneration: 1, hosts: [live], conditions: []};
      // The wait begins with the hand-over, however long the other one was refused before.
      expect([awaited(refused), awaited({...refused, since: timestamp(t0 - 30 * days)})]).toEqual([true, true]);
      const since = [t0, ended + seconds, ended].map((at) => {
        const entry: HostStatus = {...live, role: 'FormerPrimary', reason: 'ServedUntilReplaced', since: timestamp(at)};
        former.status = {observedGeneration: 1, hosts: [entry], conditions: []};
        return awaited(refused);
      });
      expect(since).toEqual([true, true, false]);
    }
    former.status = {observedGeneration: 1, hosts: [live], conditions: []};
    expect(awaited(undefined, {primary: 'another.example.com'})).toBe(false);
    // What a former spec came to says nothing about the present one.
    expect(awaited({phase: 'NotAccepted', reason: 'HostnameNotAllowed'}, {generation: 2})).toBe(true);
    expect(awaited(undefined, {deletionTimestamp: timestamp(t0)})).toBe(false);
  });
});

/** Who writes what, by the demo's part of the API server's audit log; test/invariants.ts looks at the rest. */
import {beforeAll, describe, expect, test} from '@jest/globals';
import type {AuditEvent} from '../../cluster/cluster.ts';
import {audit, kubectl, writeVerbs} from '../../cluster/cluster.ts';
import {may} from '../support/rights.ts';

let writes: AuditEvent[];
beforeAll(async () => {
  writes = await audit(new Date(0), (e) => writeVerbs.has(e.verb) && (e.responseStatus?.code ?? 0) < 300);
});

const users = (events: readonly AuditEvent[]) => [...new Set(events.map((e) => e.user.username))].toSorted();
const statusOf = (group: string, resource?: string) =>
  writes.filter(
    (e) =>
      e.objectRef?.apiGroup === group &&
      e.objectRef.subresource === 'status' &&
      (resource === undefined || e.objectRef.resource === resource),
  );

describe('the audit log of the demo', () => {
  test("only Doorplate's ServiceAccounts wrote the status of Doorplate's kinds, that of ApiKeys the API's", () => {
    const events = statusOf('doorplate.dev').filter(
      (e) => e.objectRef?.namespace === 'acme' || e.objectRef?.name === 'acme',
    );
    const ofKeys = events.filter((e) => e.objectRef?.resource === 'apikeys');
    const others = events.filter((e) => e.objectRef?.resource !== 'apikeys');
    expect(new Set(others.map((e) => e.objectRef?.resource))).toEqual(
      new Set(['projects', 'customdomains', 'accounts']),
    );
    expect(others.some((e) => e.objectRef?.namespace === 'acme' && e.objectRef.name === 'docs')).toBe(true);
    expect(users(others)).toEqual(['system:serviceaccount:doorplate-system:doorplate-operator']);
    expect(users(ofKeys)).toEqual(['system:serviceaccount:doorplate-system:doorplate-api']);
  });

  test('only cert-manager wrote the status of Certificates', () => {
    const events = statusOf('cert-manager.io', 'certificates').filter((e) => e.objectRef?.namespace === 'acme');
    expect(events.length).toBeGreaterThan(0);
    expect(users(events)).toEqual(['system:serviceaccount:cert-manager:cert-manager']);
  });

  // The solvers' Ingresses are cert-manager's, made by generateName: their creation has no name in the log.
  test('nobody but the garbage collector and Doorplate changed an Ingress or a Certificate that Doorplate made in the demo', () => {
    const events = writes.filter(
      (e) =>
        e.objectRef?.namespace === 'acme' &&
        e.objectRef.subresource === undefined &&
        (e.objectRef.resource === 'certificates' ||
          (e.objectRef.resource === 'ingresses' &&
            e.objectRef.name !== undefined &&
            !e.objectRef.name.startsWith('cm-acme-http-solver'))),
    );
    expect(events.length).toBeGreaterThan(0);
    expect(users(events).filter((u) => u !== 'system:serviceaccount:kube-system:generic-garbage-collector')).toEqual([
      'system:serviceaccount:doorplate-system:doorplate-operator',
    ]);
  });
});

test('each role that writes names itself in its requests', () => {
  const account = 'system:serviceaccount:doorplate-system:doorplate-';
  const ours = writes.filter((e) => e.objectRef?.namespace === 'acme' && e.user.username.startsWith(account));
  const agents = new Set(ours.map((e) => `${e.user.username.slice(account.length)} ${e.userAgent}`));
  expect([...agents].toSorted()).toEqual(['api doorplate/api', 'operator doorplate/operator']);
});

describe("the rights of Doorplate's ServiceAccounts", () => {
  const verbs = ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete'];

  test.each(['operator', 'redirector', 'api'])('the %s has no verb on Secrets', async (role) => {
    const account = {namespace: 'doorplate-system', name: `doorplate-${role}`};
    expect(await may(account, 'watch', {group: 'doorplate.dev', resource: 'customdomains'})).toBe(true);
    const answers = await Promise.all(verbs.map((verb) => may(account, verb, {group: '', resource: 'secrets'})));
    expect(new Set(answers)).toEqual(new Set([false]));
  });

  test.each<[string, string, string]>([
    ['Secrets', '', 'secrets'],
    ['Ingresses', 'networking.k8s.io', 'ingresses'],
    ['Certificates', 'cert-manager.io', 'certificates'],
    ['CertificateRequests', 'cert-manager.io', 'certificaterequests'],
    ['DomainClaims', 'doorplate.dev', 'domainclaims'],
  ])('the API has no verb on %s', async (_, group, resource) => {
    const account = {namespace: 'doorplate-system', name: 'doorplate-api'};
    expect(await may(account, 'watch', {group: 'doorplate.dev', resource: 'apikeys'})).toBe(true);
    const answers = await Promise.all(verbs.map((verb) => may(account, verb, {group, resource})));
    expect(new Set(answers)).toEqual(new Set([false]));
  });

  test.each<[string, string, string | undefined, string[]]>([
    ['projects', 'projects', undefined, ['get', 'list', 'watch']],
    ['customdomains', 'customdomains', undefined, ['get', 'list', 'watch', 'create', 'patch', 'delete']],
    ['apikeys', 'apikeys', undefined, ['get', 'list', 'watch', 'create', 'patch', 'delete']],
    ['the status of projects', 'projects', 'status', []],
    ['the status of customdomains', 'customdomains', 'status', []],
    ['the status of apikeys', 'apikeys', 'status', ['patch']],
    ['plans', 'plans', undefined, ['get', 'list', 'watch']],
    ['accounts', 'accounts', undefined, ['get', 'list', 'watch']],
  ])('of %s the API has just the verbs it needs', async (_, resource, subresource, expected) => {
    const answers = await Promise.all(
      verbs.map((verb) =>
        may({namespace: 'doorplate-system', name: 'doorplate-api'}, verb, {
          group: 'doorplate.dev',
          resource,
          ...(subresource !== undefined && {subresource}),
        }),
      ),
    );
    expect(verbs.filter((_verb, i) => answers[i])).toEqual(expected);
  });

  test.each([
    ['TokenReviews', 'authentication.k8s.io', 'tokenreviews'],
    ['SubjectAccessReviews', 'authorization.k8s.io', 'subjectaccessreviews'],
  ])('of %s the API makes new ones, and nothing else', async (_, group, resource) => {
    const answers = await Promise.all(
      verbs.map((verb) => may({namespace: 'doorplate-system', name: 'doorplate-api'}, verb, {group, resource})),
    );
    expect(verbs.filter((_verb, i) => answers[i])).toEqual(['create']);
  });

  test.each(['operator', 'redirector'])('the %s writes no status of an ApiKey', async (role) => {
    expect(
      await may({namespace: 'doorplate-system', name: `doorplate-${role}`}, 'patch', {
        group: 'doorplate.dev',
        resource: 'apikeys',
        subresource: 'status',
      }),
    ).toBe(false);
  });

  test('no rule of theirs has a wildcard', async () => {
    const {items} = JSON.parse(
      // Of the release: the suite of the preflight makes those of another one for a while.
      await kubectl([
        'get',
        'clusterroles',
        '-l',
        'app.kubernetes.io/name=doorplate,app.kubernetes.io/instance=doorplate',
        '-o',
        'json',
      ]),
    ) as {items: {metadata: {name: string}; rules: Record<string, string[]>[]}[]};
    expect(items.map(({metadata}) => metadata.name.replace('doorplate-system-doorplate-', '')).toSorted()).toEqual([
      'api',
      'edit',
      'operator',
      'public',
      'redirector',
      'uninstall',
      'view',
    ]);
    expect(
      items.flatMap((i) => i.rules.flatMap((r) => Object.values(r).flat())).filter((v) => v.includes('*')),
    ).toEqual([]);
  });
});

/** Who writes what, by the API server's audit log since the cluster's start: the demo's part is always in it. */
import {beforeAll, describe, expect, test} from '@jest/globals';
import type {CustomDomainStatus} from '../../operator/api/custom-domain.ts';
import type {Certificate} from '../../operator/api/foreign.ts';
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
  test("only Doorplate's ServiceAccount wrote the status of Doorplate's kinds", () => {
    const events = statusOf('doorplate.dev');
    expect(new Set(events.map((e) => e.objectRef?.resource))).toEqual(
      new Set(['projects', 'customdomains', 'accounts']),
    );
    expect(events.some((e) => e.objectRef?.namespace === 'acme' && e.objectRef.name === 'docs')).toBe(true);
    expect(users(events)).toEqual(['system:serviceaccount:doorplate-system:doorplate-operator']);
  });

  test('only cert-manager wrote the status of Certificates', () => {
    const events = statusOf('cert-manager.io', 'certificates').filter((e) => e.objectRef?.namespace === 'acme');
    expect(events.length).toBeGreaterThan(0);
    expect(users(events)).toEqual(['system:serviceaccount:cert-manager:cert-manager']);
  });

  // Else the process that comes after a crash, which knows a proof by status alone, would remove the Certificate and order again.
  test("no Certificate of a CustomDomain's hostname was made before status said that it is proven", () => {
    const [ofDomains, proven] = [new Set<string>(), new Set<string>()];
    const made: {hostname: string; early: boolean}[] = [];
    for (const {objectRef: ref, responseStatus, requestObject} of writes) {
      if (ref?.resource === 'customdomains' && ref.subresource === 'status') {
        const status = (requestObject as {path: string; value: CustomDomainStatus}[]).find(
          (o) => o.path === '/status',
        )?.value;
        for (const {hostname, verifiedAt} of status?.hosts ?? []) {
          ofDomains.add(hostname);
          if (verifiedAt !== undefined) proven.add(hostname);
        }
      } else if (ref?.resource === 'certificates' && responseStatus?.code === 201) {
        made.push(
          ...(requestObject as Certificate).spec.dnsNames.map((hostname) => ({hostname, early: !proven.has(hostname)})),
        );
      }
    }
    const ours = made.filter((m) => ofDomains.has(m.hostname));
    expect(ours.length).toBeGreaterThanOrEqual(2);
    expect(ours.filter((m) => m.early)).toEqual([]);
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

describe("the rights of Doorplate's ServiceAccounts", () => {
  test.each(['operator', 'redirector'])('the %s has no verb on Secrets', async (role) => {
    const account = {namespace: 'doorplate-system', name: `doorplate-${role}`};
    expect(await may(account, 'watch', {group: 'doorplate.dev', resource: 'customdomains'})).toBe(true);
    const answers = await Promise.all(
      ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete'].map((verb) =>
        may(account, verb, {group: '', resource: 'secrets'}),
      ),
    );
    expect(new Set(answers)).toEqual(new Set([false]));
  });

  test('no rule of theirs has a wildcard', async () => {
    const {items} = JSON.parse(
      await kubectl(['get', 'clusterroles', '-l', 'app.kubernetes.io/name=doorplate', '-o', 'json']),
    ) as {items: {rules: Record<string, string[]>[]}[]};
    expect(items).toHaveLength(4);
    expect(
      items.flatMap((i) => i.rules.flatMap((r) => Object.values(r).flat())).filter((v) => v.includes('*')),
    ).toEqual([]);
  });
});

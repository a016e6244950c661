/** Rule 6, on a platform whose edge has two addresses: Live means that every one of them was seen to serve. */
import {isDeepStrictEqual} from 'node:util';
import {afterAll, beforeAll, describe, expect, test} from '@jest/globals';
import {acmeRoot, apply, eventually, fetchEdge, kubectl} from '../../../cluster/cluster.ts';
import {secondEdge, withTwoEdges} from '../../support/edges.ts';
import {Tenant} from '../../support/tenant.ts';

const labels = {app: 'second-edge'};
const second = {
  service: {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: {name: 'second-edge', namespace: 'traefik'},
    spec: {clusterIP: secondEdge, selector: labels, ports: [{name: 'https', port: 443}]},
  },
  /** A second Traefik beside the cluster's own; of another ingress class it serves nothing but its own certificate. */
  deployment: async (ingressClass: string, replicas: number) => {
    const first = JSON.parse(await kubectl(['get', 'deployment', 'traefik', '-n', 'traefik', '-o', 'json'])) as {
      spec: {
        template: {
          spec: {
            serviceAccountName: string;
            volumes: object[];
            containers: {image: string; args: string[]; volumeMounts: object[]}[];
          };
        };
      };
    };
    const {
      serviceAccountName,
      volumes,
      containers: [container],
    } = first.spec.template.spec;
    return {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: {name: 'second-edge', namespace: 'traefik'},
      spec: {
        replicas,
        selector: {matchLabels: labels},
        strategy: {type: 'Recreate'},
        template: {
          metadata: {labels},
          spec: {
            serviceAccountName,
            volumes,
            terminationGracePeriodSeconds: 1,
            containers: [
              {
                name: 'traefik',
                image: container?.image,
                volumeMounts: container?.volumeMounts,
                args: [
                  ...(container?.args.filter((a) => !a.includes('ingressclass')) ?? []),
                  `--providers.kubernetesingress.ingressclass=${ingressClass}`,
                ],
                readinessProbe: {httpGet: {path: '/ping', port: 8080}, periodSeconds: 1, timeoutSeconds: 10},
              },
            ],
          },
        },
      },
    };
  },
};

let tenant: Tenant;
beforeAll(async () => {
  await withTwoEdges();
  await apply([second.service, await second.deployment('another', 1)]);
  await kubectl(['rollout', 'status', 'deployment/second-edge', '-n', 'traefik']);
  tenant = await Tenant.create('edge');
});
afterAll(async () => {
  await tenant?.remove();
  await kubectl(['delete', 'deployment,service', 'second-edge', '-n', 'traefik', '--ignore-not-found']);
});

/** The host, seen twice some seconds apart: a state that lasts. */
function stays(reason: string) {
  return eventually(`${reason} lasts`, async () => {
    const domain = await tenant.reason('site', reason);
    await new Promise((resolve) => {
      setTimeout(resolve, 4000);
    });
    const later = await tenant.get('site');
    return isDeepStrictEqual(later?.status?.hosts?.[0], domain.status?.hosts?.[0]) && later!;
  });
}

describe('an edge of two addresses', () => {
  test('while one presents another certificate, the host stays Verified with EdgeNotServing', async () => {
    await tenant.record('www', tenant.proof);
    await tenant.attach('site', tenant.host('www'));
    const {status} = await stays('EdgeNotServing');
    expect(status?.hosts?.[0]).toMatchObject({phase: 'Verified', waitingFor: 'Platform'});
    expect(status?.hosts?.[0]?.message).toContain('presents another certificate');
    expect(status?.conditions?.find((c) => c.type === 'CertificateReady')?.status).toBe('True');
    expect(status?.conditions?.find((c) => c.type === 'Live')).toMatchObject({
      status: 'False',
      reason: 'EdgeNotServing',
    });
    expect(status?.conditions?.find((c) => c.type === 'Reconciling')?.status).toBe('True');
  });

  test('while one is scaled to 0, it stays Verified with EdgeUnreachable', async () => {
    await kubectl(['scale', 'deployment/second-edge', '-n', 'traefik', '--replicas=0']);
    const {status} = await stays('EdgeUnreachable');
    expect(status?.hosts?.[0]).toMatchObject({phase: 'Verified', waitingFor: 'Platform'});
    expect(status?.hosts?.[0]?.message).toContain('does not answer');
  });

  test('when both serve, it goes Live', async () => {
    await apply([await second.deployment('traefik', 1)]);
    await tenant.wait('site', 'Live');
    expect((await tenant.get('site'))?.status?.hosts?.[0]).toMatchObject({phase: 'Live', reason: 'Serving'});
  });

  test('the whole edge scaled to 0 makes no host that was seen Live anything else, not even for a process that has not seen it', async () => {
    const before = (await tenant.get('site'))!;
    const url = `https://${tenant.host('www')}/`;
    try {
      await kubectl(['scale', 'deployment/traefik', 'deployment/second-edge', '-n', 'traefik', '--replicas=0']);
      await eventually('nothing answers', () =>
        fetchEdge(url).then(
          () => false,
          () => true,
        ),
      );
      await kubectl(['rollout', 'restart', 'deployment/doorplate-operator', '-n', 'doorplate-system']);
      await kubectl(['rollout', 'status', 'deployment/doorplate-operator', '-n', 'doorplate-system']);
      // Whoever asks has it decided by the new process, which has looked at its DNS and cannot look at the edge.
      await tenant.verify('site');
      const after = await eventually('the check is answered', async () => {
        const now = await tenant.get('site');
        return now?.status?.lastHandledReconcileAt !== before.status?.lastHandledReconcileAt && now;
      });
      expect({...after!.status, lastHandledReconcileAt: ''}).toEqual({...before.status, lastHandledReconcileAt: ''});
      expect(
        await fetchEdge(url).then(
          () => 'answers',
          () => 'does not answer',
        ),
      ).toBe('does not answer');
    } finally {
      await kubectl(['scale', 'deployment/traefik', 'deployment/second-edge', '-n', 'traefik', '--replicas=1']);
      for (const name of ['traefik', 'second-edge'])
        await kubectl(['rollout', 'status', `deployment/${name}`, '-n', 'traefik']);
    }
    expect(
      (
        await eventually('it is served again', async () => {
          const r = await fetchEdge(url, {ca: await acmeRoot()});
          return r.status === 200 && r;
        })
      ).body,
    ).toContain('hello from');
  });
});

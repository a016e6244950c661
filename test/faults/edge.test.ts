/** Rule 6, on a platform whose edge has two addresses: Live means that every one of them was seen to serve. */
import {isDeepStrictEqual} from 'node:util';
import {afterAll, beforeAll, describe, expect, test} from '@jest/globals';
import {apply, env, eventually, install, kubectl} from '../../cluster/cluster.ts';
import {Tenant} from '../support/tenant.ts';

const labels = {app: 'second-edge'};
const second = {
  service: {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: {name: 'second-edge', namespace: 'traefik'},
    spec: {selector: labels, ports: [{name: 'https', port: 443}]},
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
  await apply([second.service, await second.deployment('another', 1)]);
  const ip = (
    await kubectl(['get', 'service', 'second-edge', '-n', 'traefik', '-o', 'jsonpath={.spec.clusterIP}'])
  ).trim();
  await install([`edge.probe={${env().nodeIp},${ip}}`]);
  await kubectl(['rollout', 'status', 'deployment/second-edge', '-n', 'traefik']);
  tenant = await Tenant.create('edge');
});
afterAll(async () => {
  await tenant?.remove();
  await kubectl(['delete', 'deployment,service', 'second-edge', '-n', 'traefik', '--wait=false']);
  await install();
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

  test('the whole edge scaled to 0 and back makes no host that was seen Live anything else, and nothing is written', async () => {
    const before = await tenant.get('site');
    await kubectl(['scale', 'deployment/traefik', '-n', 'traefik', '--replicas=0']);
    await new Promise((resolve) => {
      setTimeout(resolve, 3000);
    });
    await kubectl(['scale', 'deployment/traefik', '-n', 'traefik', '--replicas=1']);
    await kubectl(['rollout', 'status', 'deployment/traefik', '-n', 'traefik']);
    expect((await tenant.get('site'))?.metadata.resourceVersion).toBe(before?.metadata.resourceVersion);
  });
});

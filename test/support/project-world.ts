/** A world in which a Project is decided, whole, with as little to write as a test needs; all is well unless told. */
import type {CustomDomain, Project, Service} from '../../operator/api/foreign.ts';
import type {OrderGrant} from '../../operator/domain/certificates/budget.ts';
import type {CertificateFacts} from '../../operator/domain/certificates/certificate.ts';
import {projectHost} from '../../operator/domain/hostnames/hostname.ts';
import {decide} from '../../operator/domain/lifecycle.ts';
import type {ProjectWorld} from '../../operator/domain/project/world.ts';
import type {Use} from '../../operator/domain/routes/routes.ts';
import {
  certificate,
  days,
  domain,
  enterprise,
  heldClaim,
  policy,
  proven,
  served,
  settled,
  t0,
  tenantOn,
  world,
} from './world.ts';

export const host = projectHost({
  installation: policy.installation,
  zone: policy.zone,
  namespace: 'acme',
  name: 'docs',
  tenant: {account: 'acme'},
});
export const web: Service = {
  apiVersion: 'v1',
  kind: 'Service',
  metadata: {name: 'web', namespace: 'acme'},
  spec: {
    ports: [
      {name: 'http', port: 80},
      {name: 'admin', port: 9000},
    ],
  },
};
export const ready = [{endpoints: [{conditions: {ready: true}}]}];

export interface Input extends Partial<Omit<ProjectWorld, 'project' | 'policy' | 'facts'>> {
  defaultHost?: Project['spec']['defaultHost'];
  port?: number | string;
  status?: Project['status'];
  tls?: 'Wildcard' | 'PerProject';
  /** For which use of the default host there is a certificate, and which; a good one unless told. */
  certified?: readonly Use[];
  certificate?: CertificateFacts;
  grant?: OrderGrant;
  /** Since when its routes stand, ms since the epoch, where they stand by another use than the one that is asked for. */
  standing?: Partial<Record<Use, number>>;
  /** Whether the routes that are asked for stand as they should: they do unless told. */
  routed?: boolean;
}

export function projectWorld({
  defaultHost = 'Serve',
  port = 80,
  status,
  tls = 'Wildcard',
  certificate: own,
  certified = own ? ['serves', 'redirects'] : [],
  grant = {kind: 'Granted'},
  standing,
  routed = true,
  ...rest
}: Input = {}): ProjectWorld {
  const use = defaultHost === 'RedirectToPrimary' && rest.domains?.includes(primaryLive) ? 'redirects' : 'serves';
  const factsOf = (of: Use): ProjectWorld['facts'][Use] => ({
    ...(certified.includes(of) && {certificate: own ?? certificate()}),
    grant,
    ...(standing?.[of] !== undefined && {standing: {since: standing[of], isWhole: true}}),
    ...(of === use && !standing?.[of] && {standing: {since: t0 - days, isWhole: routed}}),
  });
  return {
    now: t0,
    project: {
      apiVersion: 'doorplate.dev/v1alpha1',
      kind: 'Project',
      metadata: {name: 'docs', namespace: 'acme', uid: 'uid-project', generation: 3},
      spec: {serviceRef: {name: 'web', port}, defaultHost},
      ...(status && {status}),
    },
    service: web,
    slices: ready,
    domains: [],
    facts: {serves: factsOf('serves'), redirects: factsOf('redirects')},
    orders: [],
    tenant: tenantOn(enterprise),
    ahead: 0,
    host,
    claim: {
      ...heldClaim(host, 'uid-project'),
      status: {holder: {kind: 'Project', namespace: 'acme', name: 'docs', uid: 'uid-project'}, generation: 0},
    },
    policy: {...policy, tls},
    ...rest,
  };
}

const withStatus = (hosts: Record<string, ReturnType<typeof served>>): CustomDomain => ({
  ...domain(),
  status: decide(settled(world({facts: hosts}))).status,
});
export const primaryLive = withStatus({'docs.example.com': served()});
export const primaryVerified = withStatus({'docs.example.com': proven()});

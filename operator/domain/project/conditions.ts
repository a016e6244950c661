/** The conditions of a Project. */

import type {Project, Service} from '../../api/foreign.ts';
import type {DefaultHost} from './default-hostname.ts';
import {notReady} from '../status/health.ts';
import {tell} from '../status/write-error.ts';
import type {ProjectAllowance} from './limit.ts';
import type {ProjectWorld} from './world.ts';
import type {ReasonName} from '../reasons/reasons.ts';
import {reasons} from '../reasons/reasons.ts';
import type {TimelessCondition} from '../times.ts';
import {minuteOf} from '../times.ts';

/** Why the Service that a Project names cannot serve it, even after a deploy. */
function wrongService({spec: {serviceRef}}: Project, service: Service | undefined): [ReasonName, string] | undefined {
  const name = `Service ${serviceRef.name}`;
  if (service === undefined)
    return ['ServiceNotFound', `The namespace has no ${name}. Create it, or correct spec.serviceRef.`];
  if (!hasPort(service, serviceRef.port)) {
    const ports = (service.spec.ports ?? [])
      .slice(0, 8)
      .map((p) => p.port)
      .join(', ');
    return [
      'ServicePortNotFound',
      `The ${name} has no port ${serviceRef.port}${ports === '' ? '' : ` (it has ${ports})`}. Correct spec.serviceRef.port.`,
    ];
  }
  if (service.spec.type !== 'ExternalName') return undefined;
  return [
    'NoReadyEndpoint',
    `The ${name} is of type ExternalName, which has no endpoints and cannot serve the project. ` +
      "In spec.serviceRef, name a Service that selects the project's Pods.",
  ];
}

export const hasPort = ({spec: {ports = []}}: Service, port: number | string) =>
  ports.some((p) => p.port === port || p.name === port);

const claim = (
  type: string,
  holds: boolean,
  yes: [ReasonName, string],
  no: [ReasonName, string],
): TimelessCondition => {
  const [reason, message] = holds ? yes : no;
  return {type, status: holds ? 'True' : 'False', reason, message};
};

/** The decisions that the conditions report. `deployed`: the Project was deployed at some time. */
interface Decided {
  place: ProjectAllowance;
  deployed: boolean;
  defaultHost: DefaultHost;
}

/** All conditions of a Project, without their times. */
export function conditionsOfProject(world: ProjectWorld, {place, ...decided}: Decided): TimelessCondition[] {
  const claims = conditionsOfAllowed(world, {place, ...decided});
  const {refusal, isServed, servedUntil = ''} = place;
  if (!refusal) return claims;
  const refused = (type: string, status: TimelessCondition['status']): TimelessCondition => ({
    type,
    status,
    ...refusal,
  });
  const ending = {
    ...refused('Ready', 'True'),
    message: `${refusal.message} It is served until ${minuteOf(servedUntil)}.`,
  };
  const told = claims.flatMap((c): TimelessCondition[] => {
    if (isServed) return [c.type === 'Ready' && c.status === 'True' ? ending : c];
    if (c.type === 'Deployed' && c.status === 'True') return [c];
    return ['Deployed', 'RoutesReady'].includes(c.type) ? [refused(c.type, 'False')] : [];
  });
  const readiness = isServed ? [] : notReady(reasons[refusal.reason].health, refusal);
  return [...told, ...readiness, refused('Accepted', 'False')];
}

function conditionsOfAllowed(world: ProjectWorld, {deployed, defaultHost}: Decided): TimelessCondition[] {
  const {project, service, host} = world;
  const {serviceRef} = project.spec;
  const wrong = wrongService(project, service);
  const undeployed = wrong ?? neverReady(serviceRef.name);
  const {routed, certified, step, redirect} = defaultHost;
  const off: [ReasonName, string] | undefined =
    project.spec.defaultHost === 'Disabled' ? ['DefaultHostDisabled', 'The default hostname is disabled.'] : undefined;
  const writeError = world.writeError && tell(world.writeError);
  const unwritten: [ReasonName, string] | undefined = writeError && [writeError.reason, writeError.message];
  const notRouted: [ReasonName, string] = deployed
    ? (unwritten ?? ['RoutesPending', 'The ingress rules of the default hostname are being written.'])
    : undeployed;
  const serving: [ReasonName, string] = redirect
    ? ['Redirecting', `${host} redirects to ${redirect.to}.`]
    : ['Serving', `The project is served at https://${host}.`];
  const uncertified: [ReasonName, string] = step
    ? [step.reason, step.message]
    : ['Issuing', `The certificate of ${host} is being issued.`];
  const isRouted = deployed && routed;
  const ready = isRouted && certified && wrong === undefined;
  const [reason, message] = isRouted ? (wrong ?? unwritten ?? uncertified) : notRouted;
  const claims: TimelessCondition[] = [
    claim('Deployed', deployed, ['Deployed', `The Service ${serviceRef.name} has had a ready endpoint.`], undeployed),
    claim('RoutesReady', isRouted, off ?? ['Routed', `The ingress rules of ${host} are written.`], notRouted),
  ];
  return ready
    ? [...claims, claim('Ready', ready, off ?? serving, notRouted)]
    : [...claims, ...notReady(reasons[reason].health, {reason, message})];
}

const neverReady = (service: string): [ReasonName, string] => [
  'NoReadyEndpoint',
  `The Service ${service} has never had a ready endpoint. Deploy the project.`,
];

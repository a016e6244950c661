/** The operator's reports when plain HTTP through the shared Ingress may not work. */
import type {EventRecord} from '../kube/writes/events.ts';

type PlainHttpEvent = Omit<EventRecord, 'regarding'>;

const eachOfItsOwn = 'set plainHttp.shared to false, so that each hostname has an Ingress of its own';

/** Somebody's own Ingress without a host may answer in place of the shared one. Both `namespace/name`. */
export const eventOfRival = (other: string, shared: string): PlainHttpEvent => ({
  type: 'Warning',
  reason: 'PlainHttpContested',
  action: 'Watch',
  note:
    `Ingress ${other} has no host, so that it may answer plain HTTP of every hostname in place of ${shared}. ` +
    `Give it a host or delete it, or ${eachOfItsOwn}.`,
});

/** Only Traefik binds an Ingress to a listener: with another controller the shared one answers HTTPS of unknown names, too. */
export const eventOfClass = (ingressClassName: string): PlainHttpEvent => ({
  type: 'Warning',
  reason: 'PlainHttpNotShared',
  action: 'Start',
  note:
    `plainHttp.shared is for Traefik alone, and the controller of IngressClass ${ingressClassName} is another. ` +
    "Set it to false, and use that controller's own switch for HTTP to HTTPS: docs/ingress-classes.md.",
});

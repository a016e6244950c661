/** The operator's reports when plain HTTP through the shared Ingress may not work. */
import type {EventRecord} from '../kube/writes/events.ts';

type PlainHttpEvent = Omit<EventRecord, 'regarding'>;

const eachOfItsOwn = 'set plainHttp.shared to false, so that each hostname has its own Ingress';

/** Somebody's own Ingress without a host may answer in place of the shared one. Both `namespace/name`. */
export const eventOfRival = (other: string, shared: string): PlainHttpEvent => ({
  type: 'Warning',
  reason: 'PlainHttpContested',
  action: 'Watch',
  note:
    `Ingress ${other} has no host, so it may answer plain HTTP of every hostname in place of ${shared}. ` +
    `Give it a host or delete it, or ${eachOfItsOwn}.`,
});

/** `plainHttp.shared` is true, and the class belongs to another controller than Traefik. */
export const eventOfClass = (ingressClassName: string): PlainHttpEvent => ({
  type: 'Warning',
  reason: 'PlainHttpNotShared',
  action: 'Write',
  note:
    `plainHttp.shared is true, which is for Traefik only. IngressClass ${ingressClassName} belongs to another ` +
    'controller. Doorplate therefore has no Ingress without a host. Set plainHttp.shared to auto, and use the ' +
    "controller's own switch for HTTP to HTTPS: docs/how-to/ingress-classes.md.",
});

/** Another owner's Ingress has the name of the shared one. `namespace/name`. */
export const eventOfTakenName = (shared: string): PlainHttpEvent => ({
  type: 'Warning',
  reason: 'PlainHttpNotShared',
  action: 'Write',
  note:
    `Ingress ${shared} has the name of Doorplate's Ingress for plain HTTP, but not its labels. Doorplate leaves it ` +
    `unchanged, and creates its own Ingress after the deletion of the other one. Delete it, or ${eachOfItsOwn}.`,
});

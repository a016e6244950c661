/** Accounts, API keys and Projects. */
import type {Reason} from './reason.ts';

export const otherReasons = {
  // Accounts.
  PlanFound: {
    means: 'The Plan of the Account exists.',
    remedy: 'Nothing.',
    waitingFor: 'Nobody',
    health: 'done',
  },
  // API keys.
  KeyUsable: {
    means: 'The API key is accepted.',
    remedy: 'Nothing.',
    waitingFor: 'Nobody',
    health: 'done',
  },
  KeyExpired: {
    means: 'The API key is refused, because its expireTime or that of each of its tokens has passed.',
    remedy: 'Set a later expireTime, or create a new key and delete this one.',
    waitingFor: 'Customer',
    health: 'stalled',
  },
  KeyBanned: {
    means:
      'The API key sent requests before Retry-After had passed, so it is refused for some time. The ban applies to ' +
      'the token: creating the ApiKey again does not lift it.',
    remedy:
      'Change the client so that it waits as Retry-After says. The ban ends automatically. Only the platform ' +
      'administrator can lift it sooner.',
    waitingFor: 'Customer',
    health: 'stalled',
  },
  // Projects.
  ServiceNotFound: {
    means: 'The Service that serviceRef names does not exist.',
    remedy: 'Create the Service, or correct serviceRef.',
    waitingFor: 'Customer',
    health: 'pending',
  },
  ServicePortNotFound: {
    means: 'The Service does not have the port that serviceRef.port names.',
    remedy: 'Correct serviceRef.port.',
    waitingFor: 'Customer',
    health: 'pending',
  },
  NoReadyEndpoint: {
    means: 'The Service has never had a ready endpoint, or is of type ExternalName, which has no endpoints.',
    remedy: "Deploy the project. serviceRef must name a Service that selects the project's Pods.",
    waitingFor: 'Customer',
    health: 'pending',
  },
  Deployed: {
    means: 'The Service has had a ready endpoint.',
    remedy: 'Nothing.',
    waitingFor: 'Nobody',
    health: 'done',
  },
  DefaultHostDisabled: {
    means: 'The default hostname is switched off with defaultHost: Disabled.',
    remedy: 'Nothing.',
    waitingFor: 'Nobody',
    health: 'done',
  },
} as const satisfies Record<string, Reason>;

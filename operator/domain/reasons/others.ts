/** Accounts, API keys and Projects. */
import type {ReasonRow} from './reason.ts';

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
    means: 'The API key is refused because its expireTime, or that of each of its tokens, is over.',
    remedy: 'Write a later expireTime, or make a new key and delete this one.',
    waitingFor: 'Customer',
    health: 'stalled',
  },
  KeyBanned: {
    means:
      'The API key went on sending requests after it had been told to wait, and is refused for a while. ' +
      'The ban is of the token: creating the ApiKey again does not lift it.',
    remedy: 'Have the client wait as Retry-After says; the ban ends by itself. Only the platform lifts it sooner.',
    waitingFor: 'Customer',
    health: 'stalled',
  },
  // Projects.
  ServiceNotFound: {
    means: 'The Service that serviceRef names does not exist.',
    remedy: 'Create it, or correct serviceRef.',
    waitingFor: 'Customer',
    health: 'pending',
  },
  ServicePortNotFound: {
    means: 'The Service has no such port.',
    remedy: 'Correct serviceRef.port.',
    waitingFor: 'Customer',
    health: 'pending',
  },
  NoReadyEndpoint: {
    means: 'The Service has never had a ready endpoint, or is of type ExternalName, which has none.',
    remedy: "Deploy the project; name a Service that selects the project's Pods.",
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
    means: 'The default host is switched off by defaultHost: Disabled.',
    remedy: 'Nothing.',
    waitingFor: 'Nobody',
    health: 'done',
  },
} as const satisfies Record<string, ReasonRow>;

/** Accounts, API keys and Projects. */
import type {Reason} from './reason.ts';
import {message, nothingToDo, takesEffectSoon} from './reason.ts';

export const otherReasons = {
  // Accounts.
  PlanFound: {
    means: 'The Plan of the Account exists.',
    remedy: 'Nothing.',
    waitingFor: 'Nobody',
    health: 'done',
    customer: {title: 'Plan is active', body: 'Your account has a plan.', next: nothingToDo, howLong: ''},
  },
  // API keys.
  KeyUsable: {
    means: 'The API key is accepted.',
    remedy: 'Nothing.',
    waitingFor: 'Nobody',
    health: 'done',
    customer: {title: 'Key works', body: message, next: nothingToDo, howLong: ''},
  },
  KeyExpired: {
    means: 'The API key is refused because its expireTime, or that of each of its tokens, is over.',
    remedy: 'Write a later expireTime, or make a new key and delete this one.',
    waitingFor: 'Customer',
    health: 'stalled',
    customer: {
      title: 'Key has expired',
      body: 'Requests with this key are refused.',
      next: 'Create a new key, use it in place of this one, and revoke this one.',
      howLong: '',
    },
  },
  KeyBanned: {
    means:
      'The API key went on sending requests after it had been told to wait, and is refused for a while. ' +
      'The ban is of the token: creating the ApiKey again does not lift it.',
    remedy: 'Have the client wait as Retry-After says; the ban ends by itself. Only the platform lifts it sooner.',
    waitingFor: 'Customer',
    health: 'stalled',
    customer: {
      title: 'Key is blocked for a while',
      body: 'Requests with this key are refused, because too many were sent after it was told to wait.',
      next: 'Change your program so that it waits when an answer asks for it.',
      howLong: 'The block ends by itself.',
    },
  },
  // Projects.
  ServiceNotFound: {
    means: 'The Service that serviceRef names does not exist.',
    remedy: 'Create it, or correct serviceRef.',
    waitingFor: 'Customer',
    health: 'pending',
    customer: {
      title: 'Project is not running',
      body: 'This platform cannot find the program of your project.',
      next: 'Deploy your project again, or contact support.',
      howLong: takesEffectSoon,
    },
  },
  ServicePortNotFound: {
    means: 'The Service has no such port.',
    remedy: 'Correct serviceRef.port.',
    waitingFor: 'Customer',
    health: 'pending',
    customer: {
      title: 'Project settings do not match',
      body: 'The settings of your project name a port that its program does not have.',
      next: 'Correct the port in the settings of your project.',
      howLong: takesEffectSoon,
    },
  },
  NoReadyEndpoint: {
    means: 'The Service has never had a ready endpoint, or is of type ExternalName, which has none.',
    remedy: "Deploy the project; name a Service that selects the project's Pods.",
    waitingFor: 'Customer',
    health: 'pending',
    customer: {
      title: 'Project is not reachable',
      body: 'This platform has not found a running version of your project.',
      next: 'Deploy your project, or contact support.',
      howLong: takesEffectSoon,
    },
  },
  Deployed: {
    means: 'The Service has had a ready endpoint.',
    remedy: 'Nothing.',
    waitingFor: 'Nobody',
    health: 'done',
    customer: {
      title: 'Project is deployed',
      body: 'Your project has had a successful deploy.',
      next: nothingToDo,
      howLong: '',
    },
  },
  DefaultHostDisabled: {
    means: 'The default host is switched off by defaultHost: Disabled.',
    remedy: 'Nothing.',
    waitingFor: 'Nobody',
    health: 'done',
    customer: {
      title: 'Project address is switched off',
      body: "The project's own address is switched off in its settings. Your domains are not affected.",
      next: nothingToDo,
      howLong: '',
    },
  },
} as const satisfies Record<string, Reason>;

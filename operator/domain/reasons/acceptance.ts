/** Whether a hostname may be attached, in the order in which it is checked. */
import type {Reason} from './reason.ts';
import {contactSupport, message, takesEffectSoon} from './reason.ts';

export const acceptanceReasons = {
  ProjectNotFound: {
    means: 'The Project that projectRef names does not exist in this namespace.',
    remedy: 'Create the Project, or correct the name in a new CustomDomain (projectRef is immutable).',
    waitingFor: 'Customer',
    health: 'pending',
    customer: {
      title: 'Project is not ready',
      body: 'The project of this domain does not exist, or does not have an address yet.',
      next: 'Create the project if it does not exist. Contact support if this lasts.',
      howLong: 'A new project usually gets its address within a minute.',
    },
  },
  ProjectHasDomains: {
    means: 'Another, older CustomDomain already belongs to this Project.',
    remedy: 'Put these hostnames into the older CustomDomain, or delete it.',
    waitingFor: 'Customer',
    health: 'stalled',
    customer: {
      title: 'Project already has domains',
      body: message,
      next: 'Add this domain to the list of domains that your project already has.',
      howLong: takesEffectSoon,
    },
  },
  ProjectLimitReached: {
    means:
      'The plan allows fewer projects (maxProjects); the newest are refused, and so are their hostnames. ' +
      'What was deployed before is served on for the grace time (graceTime).',
    remedy: 'Delete a project, or upgrade the plan.',
    waitingFor: 'Customer',
    health: 'stalled',
    sparesVerified: 'ForGraceTime',
    customer: {
      title: 'Project limit reached',
      body: message,
      next: 'Delete a project, or upgrade your plan.',
      howLong: takesEffectSoon,
    },
  },
  HostnameNotAllowed: {
    means:
      'The hostname can never be attached: a public suffix, a reserved name, a name of the platform, a denied ' +
      'name, or no valid internationalised name.',
    remedy: 'Choose another hostname.',
    waitingFor: 'Customer',
    health: 'stalled',
    customer: {
      title: 'Domain is not allowed',
      body: message,
      next: 'Remove this domain and choose another one.',
      howLong: '',
    },
  },
  DuplicateHostname: {
    means: 'The same hostname is given twice, in two spellings.',
    remedy: 'Remove one of the two.',
    waitingFor: 'Customer',
    health: 'stalled',
    customer: {
      title: 'Domain is listed twice',
      body: message,
      next: 'Remove one of the two spellings.',
      howLong: takesEffectSoon,
    },
  },
  PlanUpgradeRequired: {
    means:
      'The plan does not allow custom domains. What was proven before is served on for the grace time (graceTime).',
    remedy: 'Upgrade the plan.',
    waitingFor: 'Customer',
    health: 'stalled',
    sparesVerified: 'ForGraceTime',
    customer: {
      title: 'Plan has no custom domains',
      body: message,
      next: 'Upgrade your plan to use your own domains.',
      howLong: takesEffectSoon,
    },
  },
  PlanNotFound: {
    means:
      'The Account that the namespace names, or the Plan that it is on, does not exist. ' +
      'Nothing that was proven before is taken away by that.',
    remedy: 'The platform: create it, or correct the name.',
    waitingFor: 'Platform',
    health: 'stalled',
    sparesVerified: 'Always',
    customer: {
      title: 'Plan is missing',
      body: 'The plan of your account cannot be found. New domains cannot be connected. Domains that already work stay connected.',
      next: contactSupport,
      howLong: '',
    },
  },
  NoSuccessfulDeploy: {
    means: 'The Project has not had a successful deploy: its Service has never had a ready endpoint.',
    remedy: 'Deploy the project.',
    waitingFor: 'Customer',
    health: 'pending',
    customer: {
      title: 'Project is not deployed yet',
      body: 'A domain can be connected after the first successful deploy of your project.',
      next: 'Deploy your project.',
      howLong: takesEffectSoon,
    },
  },
  HostnameLimitReached: {
    means:
      'The plan allows fewer hostnames a project; the newest are refused. ' +
      'What was proven before is served on for the grace time (graceTime).',
    remedy: 'Remove a hostname, or upgrade the plan.',
    waitingFor: 'Customer',
    health: 'stalled',
    sparesVerified: 'ForGraceTime',
    customer: {
      title: 'Domain limit reached',
      body: message,
      next: 'Remove another domain, or upgrade your plan.',
      howLong: takesEffectSoon,
    },
  },
  TooManyWaiting: {
    means:
      'As many hostnames of the account, or of a namespace without one, wait for verification as may at a time ' +
      '(maxWaitingHostnames). The newest are refused. Verified hostnames are not affected.',
    remedy: 'Verify or remove hostnames that wait. This one follows by itself, the oldest first.',
    waitingFor: 'Customer',
    health: 'stalled',
    customer: {
      title: 'Too many domains wait',
      body: message,
      next: 'Create the DNS records of your other domains that wait, or remove those domains.',
      howLong: takesEffectSoon,
    },
  },
} as const satisfies Record<string, Reason>;

/** Whether a hostname may be attached, in the order in which it is checked. */
import type {Reason} from './reason.ts';

export const acceptanceReasons = {
  ProjectNotFound: {
    means: 'The Project that projectRef names does not exist in this namespace, or has no default hostname yet.',
    remedy:
      'Create the Project. If the name is wrong, create a new CustomDomain with the right name: projectRef is ' +
      'immutable.',
    waitingFor: 'Customer',
    health: 'pending',
  },
  ProjectHasDomains: {
    means: 'Another, older CustomDomain already belongs to this Project.',
    remedy: 'Put these hostnames into the older CustomDomain, or delete the older CustomDomain.',
    waitingFor: 'Customer',
    health: 'stalled',
  },
  ProjectLimitReached: {
    means:
      'The plan allows fewer projects (maxProjects). The newest projects and their hostnames are refused. Projects ' +
      'that were deployed before continue to work for the grace period (graceTime).',
    remedy: 'Delete a project, or upgrade the plan.',
    waitingFor: 'Customer',
    health: 'stalled',
    sparesVerified: 'ForGraceTime',
  },
  HostnameNotAllowed: {
    means:
      "The hostname can never be attached. It is a public suffix, a reserved name, a name in the platform's zone, a " +
      'denied name, or not a valid internationalized name.',
    remedy: 'Choose another hostname.',
    waitingFor: 'Customer',
    health: 'stalled',
  },
  DuplicateHostname: {
    means: 'The CustomDomain lists the same hostname twice, in two spellings.',
    remedy: 'Remove one of the two spellings.',
    waitingFor: 'Customer',
    health: 'stalled',
  },
  PlanUpgradeRequired: {
    means:
      'The plan does not allow custom domains. Hostnames that were verified before continue to work for the grace ' +
      'period (graceTime).',
    remedy: 'Upgrade the plan.',
    waitingFor: 'Customer',
    health: 'stalled',
    sparesVerified: 'ForGraceTime',
  },
  PlanNotFound: {
    means:
      'The Account that the namespace names does not exist, or its Plan does not exist. Verified hostnames keep their ' +
      'state.',
    remedy: 'The platform administrator must create the Account or Plan, or correct the name.',
    waitingFor: 'Platform',
    health: 'stalled',
    sparesVerified: 'Always',
  },
  NoSuccessfulDeploy: {
    means: 'The Project has not had a successful deploy: its Service has never had a ready endpoint.',
    remedy: 'Deploy the project.',
    waitingFor: 'Customer',
    health: 'pending',
  },
  HostnameLimitReached: {
    means:
      'The plan allows fewer hostnames for each project. The newest hostnames are refused. Hostnames that were verified ' +
      'before continue to work for the grace period (graceTime).',
    remedy: 'Remove a hostname, or upgrade the plan.',
    waitingFor: 'Customer',
    health: 'stalled',
    sparesVerified: 'ForGraceTime',
  },
  TooManyWaiting: {
    means:
      'The tenant already has the maximum number of hostnames that wait for verification (maxWaitingHostnames). The ' +
      'newest hostnames are refused. Verified hostnames are not affected.',
    remedy: 'Verify or remove hostnames that wait. This hostname then follows automatically, the oldest first.',
    waitingFor: 'Customer',
    health: 'stalled',
  },
} as const satisfies Record<string, Reason>;

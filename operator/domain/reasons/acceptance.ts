/** Whether a hostname may be attached, in the order in which it is checked. */
import type {ReasonRow} from './reason.ts';

export const acceptanceReasons = {
  ProjectNotFound: {
    means: 'The Project that projectRef names does not exist in this namespace.',
    remedy: 'Create the Project, or correct the name in a new CustomDomain (projectRef is immutable).',
    waitingFor: 'Customer',
    health: 'pending',
  },
  ProjectHasDomains: {
    means: 'Another, older CustomDomain already belongs to this Project.',
    remedy: 'Put these hostnames into the older CustomDomain, or delete it.',
    waitingFor: 'Customer',
    health: 'stalled',
  },
  ProjectLimitReached: {
    means:
      'The plan allows fewer projects (maxProjects); the newest are refused, and so are their hostnames. ' +
      'What was deployed before is served on for the grace time (graceTime).',
    remedy: 'Delete a project, or upgrade the plan.',
    waitingFor: 'Customer',
    health: 'stalled',
    sparesVerified: 'ForGraceTime',
  },
  HostnameNotAllowed: {
    means:
      'The hostname can never be attached: a public suffix, a reserved name, a name of the platform, a denied ' +
      'name, or no valid internationalised name.',
    remedy: 'Choose another hostname.',
    waitingFor: 'Customer',
    health: 'stalled',
  },
  DuplicateHostname: {
    means: 'The same hostname is given twice, in two spellings.',
    remedy: 'Remove one of the two.',
    waitingFor: 'Customer',
    health: 'stalled',
  },
  PlanUpgradeRequired: {
    means:
      'The plan does not allow custom domains. What was proven before is served on for the grace time (graceTime).',
    remedy: 'Upgrade the plan.',
    waitingFor: 'Customer',
    health: 'stalled',
    sparesVerified: 'ForGraceTime',
  },
  PlanNotFound: {
    means:
      'The Account that the namespace names, or the Plan that it is on, does not exist. ' +
      'Nothing that was proven before is taken away by that.',
    remedy: 'The platform: create it, or correct the name.',
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
      'The plan allows fewer hostnames a project; the newest are refused. ' +
      'What was proven before is served on for the grace time (graceTime).',
    remedy: 'Remove a hostname, or upgrade the plan.',
    waitingFor: 'Customer',
    health: 'stalled',
    sparesVerified: 'ForGraceTime',
  },
  TooManyWaiting: {
    means:
      'As many hostnames of the account, or of a namespace without one, wait for verification as may at a time ' +
      '(maxWaitingHostnames). The newest are refused. Verified hostnames are not affected.',
    remedy: 'Verify or remove hostnames that wait. This one follows by itself, the oldest first.',
    waitingFor: 'Customer',
    health: 'stalled',
  },
} as const satisfies Record<string, ReasonRow>;

import type {acceptanceReasons} from '../../acceptance.ts';
import type {CustomerTexts} from '../../reason.ts';
import {contactSupport, takesEffectSoon} from './shared.ts';

export const acceptance: Record<keyof typeof acceptanceReasons, CustomerTexts> = {
  ProjectNotFound: {
    title: 'Project is not ready',
    body: 'The project of this domain does not exist or has no address yet.',
    next: 'Create the project if it does not exist. Contact support if this lasts.',
    howLong: 'A new project usually gets its address within a minute.',
  },
  ProjectHasDomains: {
    title: 'Project already has domains',
    body: 'Your project already has a list of domains. A second list cannot be used.',
    next: 'Add {hostname} to the list of domains that your project already has.',
    howLong: takesEffectSoon,
  },
  ProjectLimitReached: {
    title: 'Project limit reached',
    body: 'Your plan allows fewer projects than you have. The newest projects cannot be used.[ {hostname} works until {until}.]',
    next: 'Delete a project, or upgrade your plan.',
    howLong: takesEffectSoon,
  },
  HostnameNotAllowed: {
    title: 'Domain is not allowed',
    body:
      '{hostname} cannot be connected. ' +
      '[{cause=Invalid}It is not a valid domain name.|' +
      '{cause=Reserved}It is a reserved name, which cannot be used on the internet.|' +
      '{cause=PublicSuffix}Many people register their domains under this name.|' +
      '{cause=Platform}It belongs to this platform.|' +
      '{cause=Denied}This platform does not allow this name.|' +
      'It is not a valid domain name, or this platform does not allow it.]',
    next: 'Remove this domain and choose another one.',
    howLong: '',
  },
  DuplicateHostname: {
    title: 'Domain is listed twice',
    body: 'Your project has this domain twice, in two spellings.',
    next: 'Remove one of the two spellings.',
    howLong: takesEffectSoon,
  },
  PlanUpgradeRequired: {
    title: 'Plan does not include your own domains',
    body: 'Your plan does not include your own domains.[ {hostname} works until {until}.]',
    next: 'Upgrade your plan to use your own domains.',
    howLong: takesEffectSoon,
  },
  PlanNotFound: {
    title: 'Plan is missing',
    body: 'The plan of your account cannot be found. New domains cannot be connected. Domains that already work stay connected.',
    next: contactSupport,
    howLong: '',
  },
  NoSuccessfulDeploy: {
    title: 'Project is not deployed yet',
    body: 'A domain can be connected after the first successful deploy of your project.',
    next: 'Deploy your project.',
    howLong: takesEffectSoon,
  },
  HostnameLimitReached: {
    title: 'Domain limit reached',
    body: 'Your plan [allows {limit} domains for each project|allows fewer domains for each project].[ {hostname} works until {until}.]',
    next: 'Remove another domain, or upgrade your plan.',
    howLong: takesEffectSoon,
  },
  TooManyWaiting: {
    title: 'Too many domains are waiting',
    body:
      'Too many domains of your account are waiting for their DNS records.[ At most {limit} can wait at a time.] ' +
      'This domain follows automatically.',
    next: 'Create the DNS records of your other waiting domains, or remove those domains.',
    howLong: takesEffectSoon,
  },
};

/** The page's own texts in English. Texts about the state of a domain are in operator/domain/reasons/texts. */
import type {Party, Phase} from '../../../operator/api/custom-domain.ts';
import type {verificationMethods} from '../../../operator/api/domain-claim.ts';
import {causes} from './en/causes.ts';
import {pluralsOf} from './plural.ts';

export {english} from '../../../operator/domain/reasons/texts/en.ts';

const plural = pluralsOf('en');

export const en = {
  language: 'Language',
  loading: 'Loading',
  skip: 'Skip to content',
  pages: 'Pages',
  domains: 'Domains',
  projects: 'Projects',
  settings: 'Settings',
  keys: 'API keys',
  usage: 'Plan and usage',
  account: 'Account',
  area: 'Area of the account',
  project: 'Project',
  user: 'User',
  key: 'API key',
  none: 'none',
  signIn: 'Sign in',
  signOut: 'Sign out',
  back: (platform: string) => (platform === '' ? 'Back' : `Back to ${platform}`),
  support: 'Support',
  apiReference: 'API reference',
  cancel: 'Cancel',
  done: 'Done',
  oneMoment: 'One moment …',
  missingPage: 'This page does not exist',
  toStart: 'Go to the start page',

  copy: {
    label: (what: string) => `Copy ${what}`,
    copied: 'Copied',
    failed: 'Not copied. The text is selected now. Copy it by hand.',
  },
  connection: {
    offline: 'You are offline. This page may show old data. It updates automatically when you are online again.',
    lost: 'The connection was lost. This page may show old data. Connecting again …',
    overQuota: 'Too many requests this minute. This page may show old data until the next minute.',
  },
  failure: {
    title: 'Load this page again',
    text: 'A part of this page could not be loaded or shown. Your domains are not affected.',
    reload: 'Reload',
  },
  errors: {
    unreachable: 'The server cannot be reached.',
    offline: 'You are offline.',
    tryAgain: 'Try again.',
    tryingAgain: 'This page tries again automatically.',
    notBefore: (time: string) => `You can try again at ${time}.`,
    inSeconds: (n: number) => plural(n, {one: 'Try again in 1 second.', other: `Try again in ${n} seconds.`}),
  },
  /** Keys: the last part of a problem's type (operator/http/problems.ts). */
  problems: {
    'invalid-input': 'This is not valid. Check the spelling.',
    'credentials-missing': 'Sign in first.',
    'credentials-wrong': 'The API key is not valid. Check the spelling, or create a new key.',
    'key-expired': 'The API key has expired. Use a newer key.',
    'link-used': 'This link was used before, or is older than five minutes. Go back and follow the link again.',
    'session-ended': 'Your session has ended. Sign in again.',
    'cross-site': 'This request came from another page. Reload this page and try again.',
    'account-missing': 'You have no account yet. Contact support.',
    'scope-missing': 'Your link or API key does not allow this.',
    'exceeds-caller': 'You can create and change only keys with permissions that you have yourself.',
    'quota-reached': 'You have reached the limit. Delete one that you do not need, or contact support.',
    'not-found': 'This no longer exists.',
    'hostname-exists': 'Your project already has this domain.',
    'primary-has-redirects':
      'Other domains of the project depend on this one. Make another domain the main domain, or remove the other domains first.',
    'managed-elsewhere': 'This is managed in a configuration outside this page. Change it there, or contact support.',
    'key-exists': 'You already have a different key with this name. Choose another name.',
    'rotation-under-way': 'This key was replaced a short time ago. Reload this page and try again.',
    'changed-meanwhile': 'Someone else changed this at the same time. This page now shows the change. Try again.',
    refused: 'A rule of this platform does not allow this. Contact support.',
    'rate-limited': 'Too many requests.',
    'key-banned': 'This API key is blocked for a while, because too many requests were sent with it.',
    'too-many-streams': 'This page is open too often. Close some of its tabs.',
    'request-timeout': 'The request took too long. Try again.',
    'internal-error': 'Something went wrong on our side. Try again later, or contact support.',
    'kubernetes-failed': 'Something went wrong on our side.',
    unavailable: 'The service is currently unavailable.',
  },
  causes,
  /** In the order of `hostnameRules` (operator/api/hostname-rules.ts). */
  hostnameRules: [
    'Enter a domain such as docs.example.com: letters, digits and hyphens between dots. Leave out https://, paths, spaces, underscores and *.',
    'The part between two dots can have at most 63 characters.',
    'Enter a domain with at most 253 characters.',
    'Enter a domain, not an IP address.',
    'Domains that end in localhost, local, arpa or onion do not work on the internet.',
  ],

  phases: {
    NotAccepted: 'Not accepted',
    AwaitingVerification: 'Awaiting verification',
    Verified: 'Verified',
    Live: 'Live',
    Removing: 'Removing',
  } satisfies Record<Phase, string>,
  waitingFor: {
    Customer: 'Waiting for you',
    Platform: 'Waiting for us',
    CertificateAuthority: 'Waiting for the certificate authority (CA)',
    Nobody: '',
  } satisfies Record<Party, string>,
  roles: {
    main: 'Main domain',
    formerMain: 'Former main domain',
    redirects: (to: string, isPermanent: boolean) => `Redirects to ${to}${isPermanent ? '' : ' (temporarily)'}`,
    willRedirect: (to: string | null) => (to === null ? 'Will redirect' : `Will redirect to ${to}`),
  },
  host: {
    next: 'Next step',
    howLong: 'How long it takes',
    worksUntil: 'Works until',
    verify: 'Verify',
    verifyAgain: 'Re-verify',
    checking: 'Checking …',
    makeMain: 'Make main domain',
    remove: 'Remove',
    isMain: (domain: string) => `${domain} is the main domain.`,
    removed: (domain: string) => `${domain} was removed.`,
  },
  timeline: {
    label: (domain: string) => `History of ${domain}`,
    added: 'Added',
    verified: 'Verified',
    live: 'Live',
    notYet: 'not yet',
    after: (span: string) => `after ${span}`,
    under: 'under 1 sec',
    by: {
      CNAME: 'with its CNAME record',
      TXT: 'with its TXT record',
      Addresses: 'with its address records',
    } satisfies Record<(typeof verificationMethods)[number], string>,
  },
  records: {
    title: 'DNS records',
    label: (domain: string) => `DNS records of ${domain}`,
    create: (n: number, zone: string, place: string) =>
      plural(n, {
        one: `Create this record in the DNS settings of ${zone}, at ${place}.`,
        other: `Create these records in the DNS settings of ${zone}, at ${place}.`,
      }),
    keep: (n: number, zone: string, place: string) =>
      plural(n, {
        one: `Keep this record in the DNS settings of ${zone}, at ${place}.`,
        other: `Keep these records in the DNS settings of ${zone}, at ${place}.`,
      }),
    yourProvider: 'your DNS provider',
    yourProviderWith: (servers: string, more: number) =>
      `your DNS provider (name servers ${servers}${more > 0 ? ` and ${more} more` : ''})`,
    record: (type: string, domain: string) => `${type} record of ${domain}`,
    field: (field: string, record: string) => `${field} of the ${record}`,
    foundNow: 'Found now',
    correct: 'Correct',
    nothing: 'Nothing',
    notChecked: 'Not checked yet',
    foundAt: (name: string) => `Found at ${name}`,
    flattened: (provider: string) => `${provider} accepts this type here.`,
    addresses: (provider: string) => `${provider} has no type that leads to a name here, so use addresses.`,
  },
  instructions: {
    send: 'Send these instructions',
    copy: 'Copy instructions',
    copied: 'Instructions copied',
    failed: 'Not copied. Use "Send these instructions".',
    help: (provider: string) => `How to add records at ${provider}`,
  },
  removal: {
    title: (domain: string) => `Remove ${domain}?`,
    stops: (domain: string) => `Visitors who open ${domain} get an error as soon as you remove it.`,
    notLive: (domain: string) => `${domain} is not live, so no visitors are affected.`,
    kept: 'We reserve the domain for your account for a while. You can add it again without a new check if its DNS records stay as they are.',
    notKept: 'To add it again later, you must confirm it with DNS records again.',
    records: (n: number, place: string) =>
      plural(n, {
        one: `Afterwards, delete this DNS record at ${place}:`,
        other: `Afterwards, delete these DNS records at ${place}:`,
      }),
  },
  certificates: {
    get: 'Get a new certificate',
    getting: 'Getting new certificates …',
    title: 'Get new certificates?',
    does: 'Get new certificates',
    started: 'New certificates are on their way.',
    text: 'All domains of this project get a new certificate with a new key. Do this if a key was stolen, or if support asks you to.',
    note: 'Visitors notice nothing. It usually takes a few minutes. A domain can get only a few certificates a week.',
  },
  add: {
    title: 'Add a domain',
    domain: 'Domain',
    redirect: 'Redirect to the main domain',
    statuses: {
      301: 'Permanent (301)',
      302: 'Temporary (302)',
      307: 'Temporary, also for forms (307)',
      308: 'Permanent, also for forms (308)',
    },
    add: 'Add domain',
    adding: 'Adding …',
    added: (domain: string) => `${domain} was added.`,
    possible: (domain: string) => `${domain} can be added.`,
    shownAs: (domain: string) => `Most browsers show it as ${domain}.`,
    becomesMain: 'It becomes the main domain.',
    first: 'Your first domain becomes the main domain of the project.',
    next: (main: string) => `The new domain redirects visitors to ${main}.`,
    invalid: 'This is not a valid domain. Check the spelling.',
  },
  view: {
    alwaysAt: 'Your project also has its own address:',
    missing: 'This project does not exist',
    toProjects: 'Go to your projects',
    managed:
      'These domains are managed in a configuration outside this page. Change them there, or contact support. The Verify button still works here.',
    viewOnly: 'You can view these domains, but you cannot change them. Your link or API key does not allow changes.',
    notDeployed: 'You can connect your own domains after the first successful deploy of this project.',
    empty: 'No domain yet',
    emptyNone: 'No domain has been added to this project.',
    emptyAdd: 'Add a domain above. This page then shows the DNS records that you need.',
  },
  plan: {
    missing:
      'The plan of your account cannot be found. You cannot add domains until this is fixed. Contact support. Domains that already work stay connected.',
    used: (used: string, most: string, plan: string) => `${used} of ${most} domains used (plan ${plan}).`,
    full: (most: string, n: number, plan: string) =>
      plural(n, {
        one: `The plan ${plan} allows 1 domain for each project, and it is used.`,
        other: `All ${most} domains that the plan ${plan} allows for each project are used.`,
      }),
    noDomains: (plan: string) => `The plan ${plan} does not include your own domains.`,
    larger: (plan: string, count: string, n: number) =>
      plural(n, {
        one: `The plan ${plan} includes 1 domain for each project.`,
        other: `The plan ${plan} includes ${count} domains for each project.`,
      }),
  },
  projectList: {
    lead: 'Choose a project to see and change its domains.',
    noDomain: 'No domain yet',
    notDeployed: 'Not deployed',
    live: (live: string, total: string) => `${live} of ${total} live`,
    empty: 'No project yet',
    emptyText: 'A project appears here as soon as it is published.',
  },
  keyList: {
    lead: 'Programs use API keys to manage domains, or to use other APIs of this platform.',
    form: 'Create a key',
    name: 'Name',
    nameRule: 'lower-case letters, digits, hyphens and dots',
    expires: 'Expires',
    expiries: {'': 'Never', 30: 'In 30 days', 90: 'In 90 days', 365: 'In a year'},
    may: 'The key may',
    permissions: {
      'domains:read': 'view domains',
      'domains:write': 'change domains',
      'usage:read': 'view usage',
      'keys:write': 'manage keys',
      'audit:read': 'view the history',
    } as Readonly<Record<string, string>>,
    create: 'Create key',
    exists: (name: string) => `You already have the key ${name}. Replace it to get a new one.`,
    empty: 'No key yet',
    emptyText: 'Create one above.',
    shown: (name: string) => `The key ${name}`,
    shownText: 'Copy the key now. It is shown only once.',
    dates: (lastUsed: string | null, expires: string | null) =>
      `Last used: ${lastUsed ?? 'never'}. Expires: ${expires ?? 'never'}.`,
    rotate: 'Replace',
    rotateTitle: (name: string) => `Replace ${name}?`,
    rotateText: 'The key gets a new value, which is shown only once.',
    rotateAgain: (until: string) =>
      `This key was already replaced. Its earlier value works until ${until}, or until you replace the key again.`,
    overlap: 'The old value works',
    overlaps: {86_400: 'for one more day', 3600: 'for one more hour', 0: 'no longer'},
    revoke: 'Revoke',
    revokeTitle: (name: string) => `Revoke ${name}?`,
    revokeText: 'Programs that use this key are refused immediately. You cannot undo this.',
  },
  signingIn: {
    title: 'Signing in …',
    lead: (platform: string) =>
      platform === ''
        ? 'Follow the link on the pages of your platform, or sign in with an API key.'
        : `Follow the link on the pages of ${platform}, or sign in with an API key.`,
    keyNote: 'The key is sent to this server once. Your browser does not keep it.',
    continueAs: (account: string) => `Continue as ${account}`,
  },
  confirm: {
    asOther: 'Sign in as someone else?',
    to: (account: string) => `Sign in to ${account}?`,
    lead: 'Continue only if this is your account. Otherwise, its owner gets the domains that you add.',
    next: 'New sign-in',
    current: 'Current sign-in',
    noUser: 'not named',
    stay: (account: string) => `Stay in ${account}`,
    does: (account: string) => `Sign in to ${account}`,
  },
  quota: {
    noPlan: 'No plan',
    plan: (plan: string) => `Plan ${plan}`,
    account: (account: string) => `Account ${account}.`,
    upTo: (count: string, n: number) =>
      plural(n, {
        one: 'You can connect 1 domain of your own to each project.',
        other: `You can connect ${count} domains of your own to each project.`,
      }),
    noDomains: 'This plan does not include your own domains.',
    requests: 'Requests to the API',
    shared:
      'All keys of the account share these requests. This page first uses 60 requests of its own per minute, at most 500 per day.',
    minute: 'This minute',
    day: 'Today (UTC)',
    again: (time: string) => `Starts again at ${time}`,
    of: (used: string, limit: string) => `${used} of ${limit}`,
    used: (label: string, used: string, limit: string) => `${label}: ${used} of ${limit} used`,
    plans: 'Plans',
    columns: ['Plan', 'Domains for each project', 'Requests per minute', 'Requests per day'],
    yours: (plan: string) => `${plan} (yours)`,
    byKey: 'Requests by key',
    since: (day: string) =>
      `Since ${day} (days in UTC). Requests of this page are not counted. The counts can be half a minute old.`,
    noRequests: 'No key has sent a request since then.',
    keyColumns: ['Key', 'Today', 'Total'],
    download: 'Download by day and permission (CSV)',
  },
};

export type Texts = typeof en;

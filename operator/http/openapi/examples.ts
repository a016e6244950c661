/** Examples of the named schemas, for openapi.json: one story of the project `docs`, whose hostname waits for its DNS record. */
import type {z} from 'zod';
import {problemBase, problems, type problemSchema} from '../problems.ts';
import type * as schemas from '../schemas.ts';

const record: z.output<typeof schemas.record> = {
  type: 'CNAME',
  name: 'www',
  zone: 'example.com',
  value: 'docs-acme-k5t2x9qf7m3ab.apps.example.net',
  ttl: 300,
  state: 'Missing',
  observed: [],
};

const host: z.output<typeof schemas.host> = {
  hostname: 'www.example.com',
  role: 'Primary',
  phase: 'AwaitingVerification',
  reason: 'RecordMissing',
  message: 'www.example.com has no CNAME record. Create the record below.',
  customer: {
    id: 'RecordMissing',
    language: 'en',
    title: 'DNS record is missing',
    body: 'www.example.com does not have the DNS record that connects it to your project.',
    next: 'Create the records below at your DNS provider. If your provider adds example.com to names, enter only www as the name.',
    howLong: 'Saved records are usually found within a few minutes.',
    parameters: {
      waitingFor: 'Customer',
      hostname: 'www.example.com',
      record: 'CNAME',
      name: 'www',
      expected: record.value,
      zone: 'example.com',
    },
  },
  waitingFor: 'Customer',
  since: '2026-11-26T08:00:00Z',
  addedAt: '2026-11-26T08:00:00Z',
  zone: {name: 'example.com', nameServers: ['ns1.example.com', 'ns2.example.com']},
  records: [record],
};

const domains: z.output<typeof schemas.domains> = {
  project: 'docs',
  domains: {
    primary: 'www.example.com',
    redirects: [{from: 'example.com', to: 'www.example.com', status: 301}],
  },
  hosts: [host],
  checkedFor: null,
  reissuedFor: null,
  managedBy: null,
  version: '6b1f0d52-5a0e-4a55-9b0c-2f8f3f0c1c8a.48211',
};

const project: z.output<typeof schemas.project> = {
  name: 'docs',
  host: 'docs-acme-k5t2x9qf7m3ab.apps.example.net',
  url: 'https://docs-acme-k5t2x9qf7m3ab.apps.example.net',
  deployed: true,
  firstDeployTime: '2026-11-01T08:00:00Z',
  ready: true,
  reason: 'Ready',
  message: 'The project is served.',
  domains: {primary: 'www.example.com', live: 0, total: 1},
};

const rateLimit = {requestsPerMinute: 300, requestsPerDay: 10_000};
const account: z.output<typeof schemas.account> = {
  account: 'acme',
  namespace: 'acme',
  plan: 'pro',
  rateLimit,
  usage: {
    minute: {limit: 300, used: 1, remaining: 299, reset: 1_795_348_861},
    day: {limit: 10_000, used: 129, remaining: 9871, reset: 1_795_392_000},
  },
  customDomains: {allowed: true, maxHostnamesPerProject: 10},
  key: {name: 'deploy', scopes: ['domains:read', 'domains:write'], expires: null},
  offeredPlans: [{name: 'pro', rateLimit, customDomains: {allowed: true, maxHostnamesPerProject: 10}}],
};

const key: z.output<typeof schemas.key> = {
  name: 'deploy',
  scopes: ['domains:read', 'domains:write'],
  expires: '2027-11-26T08:00:00Z',
  rateLimit: null,
  previousTokenExpires: null,
  madeBy: 'ApiKey ci',
  lastUsed: '2026-11-26T08:00:00Z',
  ready: true,
  reason: 'Ready',
};

const problem: z.output<typeof problemSchema> = {
  type: `${problemBase}rate-limited`,
  title: problems['rate-limited'].title,
  status: problems['rate-limited'].status,
  detail: 'All 300 requests of this minute are used. Try again in 41 s.',
};

/** Examples by the name of the schema. */
export const examples = {
  DnsRecord: record,
  Hostname: host,
  Domains: domains,
  Project: project,
  Account: account,
  ApiKey: key,
  ApiKeyWithToken: {...key, token: 'dp_acme.deploy_...'} satisfies z.output<typeof schemas.keyWithToken>,
  Problem: problem,
  NewHostname: {hostname: 'www.example.com'} satisfies z.input<typeof schemas.newDomain>,
};

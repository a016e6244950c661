import {z} from 'zod';
import type {CustomKind} from './crd.ts';
import {checked, conditions, observedGeneration, serviceName, text, time, withDefault} from './rules.ts';

/** Conditions that a Project's status always has, in this order. Reconciling or Stalled follow while true. */
export const projectConditions = ['Deployed', 'RoutesReady', 'Ready'] as const;

/** Port names that an Ingress accepts (RFC 6335, 5.1). */
const portName = '^[a-z0-9]([-a-z0-9]{0,13}[a-z0-9])?$';

const port = checked(
  z.union([z.int32(), z.string()]).meta({'x-kubernetes-int-or-string': true, type: undefined, anyOf: undefined}),
  [
    {
      cel: `type(self) == int ? self >= 1 && self <= 65535 : self.matches('${portName}') && self.matches('[a-z]') && !self.contains('--')`,
      holds: (p) =>
        typeof p === 'number'
          ? p >= 1 && p <= 65_535
          : new RegExp(portName).test(p) && /[a-z]/.test(p) && !p.includes('--'),
      message:
        "must be a port number from 1 to 65535 (without quotation marks), or the name of one of the Service's ports",
    },
  ],
);

const spec = z
  .object({
    serviceRef: z
      .object({
        name: serviceName('Name of a Service in the same namespace.'),
        port: port.describe('Port of the Service: its number or its name.'),
      })
      .describe('The Service of the project.'),
    defaultHost: withDefault(z.enum(['Serve', 'RedirectToPrimary', 'Disabled']), 'Serve').describe(
      'Use of the default hostname. Serve: serves the project. RedirectToPrimary: redirects to the primary with status 307 ' +
        '(same path and query) when the primary is Live, and serves the project until then. Disabled: has no route, and ' +
        'stays valid as a CNAME target.',
    ),
  })
  .describe('The Service and the default hostname of the project.');

const status = z
  .object({
    observedGeneration,
    host: text(
      253,
      'The default hostname: a subdomain of the platform, and the exact value of CNAME records. It never changes.',
    ).optional(),
    url: text(300, 'URL of the default hostname.').optional(),
    firstDeployTime: time(
      'Time of the first ready endpoint of the Service. A later outage does not change it.',
    ).optional(),
    servedUntil: time(
      "End of the service of a project that the tenant's plan no longer allows (ProjectLimitReached).",
    ).optional(),
    redirect: z
      .object({
        to: text(253, 'Target of the redirect.'),
        status: z.int32().describe('HTTP status of the redirect.'),
      })
      .optional()
      .describe('The active redirect of the default hostname.'),
    conditions: conditions([...projectConditions, 'Reconciling', 'Stalled'], 'The state of the project.').optional(),
  })
  .describe('The state of the project. Only Doorplate writes it.');

export type ProjectSpec = z.output<typeof spec>;
export type ProjectStatus = z.output<typeof status>;

export const projectKind = {
  kind: 'Project',
  plural: 'projects',
  singular: 'project',
  shortNames: ['dpproj'],
  description: 'A published unit: a Service with a default hostname.',
  columns: [
    {name: 'HOST', jsonPath: '.status.host'},
    {name: 'DEPLOYED', jsonPath: '.status.conditions[?(@.type=="Deployed")].status'},
    {name: 'READY', jsonPath: '.status.conditions[?(@.type=="Ready")].status'},
    {name: 'REASON', jsonPath: '.status.conditions[?(@.type=="Ready")].reason'},
    {name: 'AGE', jsonPath: '.metadata.creationTimestamp', type: 'date'},
    {name: 'URL', jsonPath: '.status.url', wide: true},
    {name: 'MESSAGE', jsonPath: '.status.conditions[?(@.type=="Ready")].message', wide: true},
  ],
  spec,
  status,
  examples: ['spec: {serviceRef: {name: docs, port: 80}}'],
} satisfies CustomKind;

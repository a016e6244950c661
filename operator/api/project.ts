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
        name: serviceName('Name of a Service in the same namespace that serves the project.'),
        port: port.describe('Port of the Service: its number or its name.'),
      })
      .describe('The Service that serves the project.'),
    defaultHost: withDefault(z.enum(['Serve', 'RedirectToPrimary', 'Disabled']), 'Serve').describe(
      'What the default host does. Serve: it serves the project. RedirectToPrimary: it redirects to the primary custom domain ' +
        '(307, path and query kept) once that is Live, and serves until then. Disabled: it is not routed; it ' +
        'stays valid as a CNAME target.',
    ),
  })
  .describe('What the project is.');

const status = z
  .object({
    observedGeneration,
    host: text(
      253,
      'The default host: a subdomain of the platform, and the exact value of the CNAME records of custom domains. It never changes.',
    ).optional(),
    url: text(300, 'Where the project is served by default.').optional(),
    firstDeployTime: time(
      'When the Service first had a ready endpoint. Kept for ever: a later outage does not take it back.',
    ).optional(),
    servedUntil: time(
      "Until when the project is served although the tenant's plan no longer allows it (ProjectLimitReached).",
    ).optional(),
    redirect: z
      .object({
        to: text(253, 'Where the default host redirects to.'),
        status: z.int32().describe('HTTP status of the redirect.'),
      })
      .optional()
      .describe('The redirect of the default host that is in effect.'),
    conditions: conditions([...projectConditions, 'Reconciling', 'Stalled'], 'Where the project stands.').optional(),
  })
  .describe('Where the project stands; written by Doorplate only.');

export type ProjectSpec = z.output<typeof spec>;
export type ProjectStatus = z.output<typeof status>;

export const projectKind = {
  kind: 'Project',
  plural: 'projects',
  singular: 'project',
  shortNames: ['dpproj'],
  description: 'A unit that is published: a Service and the default subdomain at which it is served.',
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

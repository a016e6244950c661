import {z} from 'zod';
import {type CountedWindow, perSetting, type PlanSettings, settingOf, type WindowLimits, windows} from './windows.ts';
import type {CustomKind} from './crd.ts';
import type {Rule} from './hostname-rules.ts';
import {namedValues, takeOver} from './named.ts';
import {checked, optional} from './rules.ts';

/** Most hostnames that a CustomDomain can name: its primary and 500 redirects. */
const mostHostnames = 501;

/** A schema for each limit. */
export const limitSettings = <S extends z.ZodType>(schema: (window: CountedWindow) => S) =>
  perSetting((window) => (window.inPlans === 'Optional' ? schema(window).optional() : schema(window))) as PlanSettings<
    S,
    z.ZodOptional<S>
  >;

/**
 * Requests to the platform's API, of a Plan, as agreed on an Account, or of an ApiKey. `named`: a refusal names the values and other field
 * managers. The API passes refusals of an ApiKey on to customers, who know no field managers.
 */
export const rateLimit = (description: string, {named}: {named: boolean}) =>
  checked(
    z.object(limitSettings(({text}) => z.int32().min(1).describe(`Requests in ${text}.`))),
    windows.flatMap((longer, i) => windows.slice(0, i).map((shorter) => atLeast(longer, shorter, named))),
  ).describe(description);

/** A longer window admits at least as many requests as a shorter one. */
function atLeast(longer: CountedWindow, shorter: CountedWindow, named: boolean): Rule<WindowLimits> {
  const [more, fewer] = [settingOf(longer.name), settingOf(shorter.name)];
  const absent = [longer, shorter].flatMap(({name, inPlans}) =>
    inPlans === 'Optional' ? `!has(self.${settingOf(name)}) || ` : [],
  );
  return {
    cel: `${absent.join('')}self.${more} >= self.${fewer}`,
    holds: (limits) => !(limits[more]! < limits[fewer]!),
    message: `${more} must be at least ${fewer}: a lower limit would be used up within ${shorter.text}`,
    ...(named && {
      named: namedValues([
        `${more} (`,
        {cel: `self.${more}`, of: (limits) => limits[more]!},
        `) must be at least ${fewer} (`,
        {cel: `self.${fewer}`, of: (limits) => limits[fewer]!},
        `): a lower limit would be used up within ${shorter.text}`,
        takeOver('one of them'),
      ]),
    }),
  };
}

/** The columns of `kubectl get` for the limits. */
export const limitColumns = windows.map(({name}) => ({
  name: `PER-${name.toUpperCase()}`,
  jsonPath: `.spec.rateLimit.${settingOf(name)}`,
  type: 'integer' as const,
}));

const customDomains = checked(
  z.object({
    allowed: z.boolean().describe('Whether projects may have custom domains.'),
    maxHostnamesPerProject: z
      .int32()
      .min(0)
      .max(mostHostnames)
      .describe(
        'Maximum number of hostnames of a project, including the primary. 0 if custom domains are not allowed.',
      ),
  }),
  [
    {
      cel: 'self.allowed == (self.maxHostnamesPerProject > 0)',
      holds: (c) => c.allowed === c.maxHostnamesPerProject > 0,
      message: 'maxHostnamesPerProject must be at least 1 if custom domains are allowed, and 0 otherwise',
      named: namedValues([
        'maxHostnamesPerProject (',
        {cel: 'self.maxHostnamesPerProject', of: (c) => c.maxHostnamesPerProject},
        ') must be at least 1 if custom domains are allowed, and 0 otherwise, and allowed is ',
        {cel: 'self.allowed', of: (c) => c.allowed},
        takeOver('one of them'),
      ]),
    },
  ],
).describe('Custom domains of projects.');

const spec = z
  .object({
    rateLimit: rateLimit("Requests of each account on this plan to the platform's API.", {named: true}),
    customDomains,
    maxProjects: optional(z.int32().min(0).max(1_000_000)).describe(
      'Maximum number of Projects of an account on this plan, in all its namespaces. The oldest are within. Default: no limit.',
    ),
  })
  .describe('The limits of an account on this plan.');

export type PlanSpec = z.output<typeof spec>;
export type RateLimit = PlanSpec['rateLimit'];

export const planKind = {
  kind: 'Plan',
  plural: 'plans',
  singular: 'plan',
  shortNames: ['dpplan'],
  scope: 'Cluster',
  description: 'The limits of a plan. The platform writes it, and Accounts name it.',
  columns: [
    {name: 'DOMAINS', jsonPath: '.spec.customDomains.allowed', type: 'boolean'},
    {name: 'HOSTNAMES', jsonPath: '.spec.customDomains.maxHostnamesPerProject', type: 'integer'},
    {name: 'PROJECTS', jsonPath: '.spec.maxProjects', type: 'integer'},
    ...limitColumns,
    {name: 'AGE', jsonPath: '.metadata.creationTimestamp', type: 'date'},
  ],
  spec,
  examples: [
    'spec: {rateLimit: {requestsPerMinute: 300, requestsPerDay: 10000}, customDomains: {allowed: true, maxHostnamesPerProject: 10}}',
  ],
} satisfies CustomKind;

import {z} from 'zod';
import type {CustomKind} from './crd.ts';
import {limitColumns, rateLimit} from './plan.ts';
import {conditions, objectName, observedGeneration, optional} from './rules.ts';

/** On a Namespace: the Account to which it belongs. Only the platform sets it. */
export const accountLabel = 'doorplate.dev/account';

const spec = z
  .object({
    planRef: z.object({name: objectName('Name of a Plan.')}).describe('The plan of the account.'),
    rateLimit: optional(rateLimit('Agreed requests, which replace the requests of the plan.', {named: true})),
  })
  .describe('The plan and the agreed limits of the account.');

const status = z
  .object({
    observedGeneration,
    conditions: conditions(['Ready', 'Stalled'], 'Ready is True if the plan of the account exists.').optional(),
  })
  .describe('The state of the account. Only Doorplate writes it.');

export type AccountSpec = z.output<typeof spec>;
export type AccountStatus = z.output<typeof status>;

export const accountKind = {
  kind: 'Account',
  plural: 'accounts',
  singular: 'account',
  shortNames: ['dpacct'],
  scope: 'Cluster',
  description:
    'A customer of the platform: its plan and its agreed limits. Namespaces with the label ' +
    `${accountLabel} belong to it. The platform writes it.`,
  columns: [
    {name: 'PLAN', jsonPath: '.spec.planRef.name'},
    {name: 'READY', jsonPath: '.status.conditions[?(@.type=="Ready")].status'},
    {name: 'REASON', jsonPath: '.status.conditions[?(@.type=="Ready")].reason'},
    {name: 'AGE', jsonPath: '.metadata.creationTimestamp', type: 'date'},
    ...limitColumns.map((column) => ({...column, wide: true})),
    {name: 'MESSAGE', jsonPath: '.status.conditions[?(@.type=="Ready")].message', wide: true},
  ],
  spec,
  status,
  rules: [
    {
      cel: 'self.metadata.name.size() <= 63',
      message: 'the name of an Account has at most 63 characters, because namespaces name it in a label',
    },
  ],
  examples: ['spec: {planRef: {name: pro}, rateLimit: {requestsPerMinute: 5000, requestsPerDay: 1000000}}'],
} satisfies CustomKind;

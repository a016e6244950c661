import {z} from 'zod';
import type {CustomKind} from './crd.ts';
import {namedValues, takeOver, type Value} from './named.ts';
import {checked, objectName, text, time, withDefault} from './rules.ts';

/** How a claim came about: by records in DNS, or by the platform's word. */
export const proofs = ['DNS', 'Platform'] as const;

/** Verification methods: the records with which a DNS check verifies a hostname. */
export const verificationMethods = ['CNAME', 'TXT', 'Addresses'] as const;

interface NamedTenant {
  account?: string | undefined;
  namespaceUID?: string | undefined;
}

const account: Value<NamedTenant> = {cel: 'self.account', of: (t) => t.account!};
const namespaceUID: Value<NamedTenant> = {cel: 'self.namespaceUID', of: (t) => t.namespaceUID!};

const tenant = checked(
  z.object({
    account: objectName('Name of the Account that holds the hostname.').optional(),
    namespaceUID: text(63, 'UID of the Namespace that holds it, where that belongs to no Account.').optional(),
  }),
  [
    {
      cel: 'has(self.account) != has(self.namespaceUID)',
      holds: (t) => (t.account === undefined) !== (t.namespaceUID === undefined),
      message: 'name either the account or the namespaceUID',
      named: namedValues<NamedTenant>(
        [
          'name either the account (',
          account,
          ') or the namespaceUID (',
          namespaceUID,
          '), not both',
          takeOver('one of them'),
        ],
        {
          cel: 'has(self.account) && has(self.namespaceUID)',
          of: (t) => t.account !== undefined && t.namespaceUID !== undefined,
          texts: [account, namespaceUID],
        },
      ),
    },
  ],
).describe('The tenant that holds the hostname.');

const spec = z
  .object({
    tenant,
    proof: withDefault(z.enum(proofs), 'Platform').describe(
      'How it was proven. Platform (default): by this object, written by the platform; no record is needed. ' +
        "DNS: by the customer's records; written by Doorplate.",
    ),
  })
  .describe('Who holds the hostname that is the name of this object.');

const order = z
  .object({
    at: time('When it was begun.'),
    outcome: z.enum(['Pending', 'Issued', 'Failed']).describe('How it ended.'),
    endedAt: time('When it was issued or failed; of one that is pending, by when the CA had it.').optional(),
    message: text(256, 'What it failed with.').optional(),
  })
  .describe('An order of a certificate.');

const status = z
  .object({
    holder: z
      .object({
        kind: z.enum(['CustomDomain', 'Project']).describe('Kind of the object.'),
        namespace: text(63, 'Its namespace.'),
        name: text(253, 'Its name.'),
        uid: text(63, 'Its UID: one of the same name that came later holds nothing.'),
      })
      .optional()
      .describe('The object that the hostname is attached to; absent while none is.'),
    since: time('Since when it has had this holder, or none.').optional(),
    generation: z
      .int()
      .min(0)
      .describe(
        'Raised whenever the hostname is released or passes to another tenant: what others had to publish before proves nothing any more.',
      ),
    token: text(64, "Value of the TXT record that proves the holder's right.").optional(),
    verifiedBy: z
      .enum(verificationMethods)
      .optional()
      .describe(
        'The method of the newest DNS check that verified the hostname for this holder: CNAME, TXT or Addresses. ' +
          'Absent until a check verifies it: with proof Platform, or after the upgrade from a release without this field.',
      ),
    verifiedAt: time('When a DNS check verified the hostname for this holder; later checks keep it.').optional(),
    quarantinedUntil: time(
      'Until when the released hostname is kept for its tenant; another tenant needs new proof.',
    ).optional(),
    orders: z
      .array(order)
      .max(32)
      .optional()
      .describe(
        'Orders of certificates for the hostname that no CertificateRequest tells any more, by time: its budgets count them (budgets).',
      ),
    negativeSince: time('Since when DNS no longer proves it.').optional(),
    negativeAt: time('When that was seen last.').optional(),
    negatives: z.int32().min(0).optional().describe('How often that has been confirmed since (drift).'),
  })
  .describe('Where the claim stands; written by Doorplate.');

export type DomainClaimSpec = z.output<typeof spec>;
export type DomainClaimStatus = z.output<typeof status>;

export const domainClaimKind = {
  kind: 'DomainClaim',
  plural: 'domainclaims',
  singular: 'domainclaim',
  shortNames: ['dpclaim'],
  scope: 'Cluster',
  description:
    'Who holds a hostname; its name is the hostname (lower case, A-labels). Written by Doorplate when DNS ' +
    'has proven it; one that the platform writes counts as proof.',
  columns: [
    {name: 'ACCOUNT', jsonPath: '.spec.tenant.account'},
    {name: 'NAMESPACE', jsonPath: '.status.holder.namespace'},
    {name: 'KIND', jsonPath: '.status.holder.kind'},
    {name: 'HOLDER', jsonPath: '.status.holder.name'},
    {name: 'PROOF', jsonPath: '.spec.proof'},
    {name: 'QUARANTINED-UNTIL', jsonPath: '.status.quarantinedUntil'},
    {name: 'AGE', jsonPath: '.metadata.creationTimestamp', type: 'date'},
  ],
  // Tenant and generation change together or not at all: one write must do.
  spec,
  status,
  statusSubresource: false,
  examples: ['spec: {tenant: {account: acme}}'],
} satisfies CustomKind;

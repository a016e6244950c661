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
    account: objectName('Name of the Account that owns the hostname.').optional(),
    namespaceUID: text(63, 'UID of the Namespace that owns the hostname, if it belongs to no Account.').optional(),
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
).describe('The tenant that owns the hostname.');

const spec = z
  .object({
    tenant,
    proof: withDefault(z.enum(proofs), 'Platform').describe(
      'Kind of verification. Platform (default): the platform has written this object, and no record is needed. ' +
        "DNS: Doorplate has verified the customer's records and written this object.",
    ),
  })
  .describe('The owner of the hostname. The hostname is the name of this object.');

/** Causes of a failed order that are not the hostname's. */
export const caCauses = [
  'Authority',
  'AccountLimit',
  'RegisteredDomainLimit',
  'CertificatesLimit',
  'AuthorizationsLimit',
] as const;

const order = z
  .object({
    at: time('Start of the order.'),
    outcome: z.enum(['Pending', 'Issued', 'Failed']).describe('Result of the order.'),
    endedAt: time(
      'Time of the issuance or the failure. For a pending order: time when the CA had received it.',
    ).optional(),
    message: text(256, 'Error of the order.').optional(),
    cause: z
      .enum(caCauses)
      .optional()
      .describe(
        'Why the certificate authority failed the order, if not because of the hostname: it had an error (Authority), or one of its ' +
          'limits was reached. Then the order counts for no budget of the hostname. After an error of the authority it counts for the ' +
          "account and the tenant's share, after a limit it counts nowhere.",
      ),
    refusedUntil: time('When the certificate authority takes the next order, as it said with the error.').optional(),
    issuer: text(253, 'Name of the issuer.').optional(),
    tenant: text(
      253,
      'Tenant for which it was ordered: the name of its Account or the UID of its Namespace.',
    ).optional(),
    renewal: z
      .boolean()
      .optional()
      .describe(
        'The hostname had a certificate of this issuer. Then the order counts neither for the account nor for the registered domain, ' +
          'unless budgets.countRenewals is true.',
      ),
    superseded: z
      .boolean()
      .optional()
      .describe(
        'Its CertificateRequest was deleted before the certificate was issued. Then it counts as no certificate.',
      ),
  })
  .describe('A certificate order.');

const status = z
  .object({
    holder: z
      .object({
        kind: z.enum(['CustomDomain', 'Project']).describe('Kind of the object.'),
        namespace: text(63, 'Its namespace.'),
        name: text(253, 'Its name.'),
        uid: text(63, 'Its UID. A later object of the same name has no right to the hostname.'),
      })
      .optional()
      .describe('The object to which the hostname is attached. Absent while the hostname is not attached.'),
    since: time('Time since the hostname is attached to this object, or to no object.').optional(),
    generation: z
      .int()
      .min(0)
      .describe(
        'Increases when the hostname is released or gets another tenant. Earlier DNS records then verify nothing.',
      ),
    token: text(64, 'Value of the TXT record that verifies the hostname for its tenant.').optional(),
    verifiedBy: z
      .enum(verificationMethods)
      .optional()
      .describe(
        'Method of the newest DNS check that verified the hostname for this object: CNAME, TXT or Addresses. ' +
          'Absent until a check verifies it: with Platform in spec, or after an upgrade from a release without this field.',
      ),
    verifiedAt: time('Time when a DNS check verified the hostname for this object. Later checks keep it.').optional(),
    quarantinedUntil: time(
      'End of the reservation of a released hostname for its tenant. Another tenant needs new verification.',
    ).optional(),
    orders: z
      .array(order)
      .max(32)
      .optional()
      .describe(
        'Certificate orders whose CertificateRequests no longer exist, by time. They still count for the budgets of the hostname.',
      ),
    negativeSince: time('Time since DNS no longer verifies the hostname.').optional(),
    negativeAt: time('Time of the last such result.').optional(),
    negatives: z.int32().min(0).optional().describe('Number of confirmations since then (drift).'),
  })
  .describe('The state of the claim. Doorplate writes it.');

export type DomainClaimSpec = z.output<typeof spec>;
export type DomainClaimStatus = z.output<typeof status>;

export const domainClaimKind = {
  kind: 'DomainClaim',
  plural: 'domainclaims',
  singular: 'domainclaim',
  shortNames: ['dpclaim'],
  scope: 'Cluster',
  description:
    'The owner of a hostname. Its name is the hostname (lower case, A-labels). Doorplate writes it after the verification ' +
    'through DNS. If the platform writes it, the hostname counts as verified.',
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

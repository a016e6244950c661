/** The settings of the issuers: cert-manager's issuers, and the limits and names of their CAs. */
import {z} from 'zod';
import type {Budgets} from './domain/certificates/budget.ts';
import {issuerCases, type IssuerPolicy} from './domain/certificates/choose-issuer.ts';
import {hostname, limits} from './setting-values.ts';

export const issuerRef = z.strictObject({
  name: z.string().min(1),
  kind: z.enum(['ClusterIssuer', 'Issuer']).default('ClusterIssuer'),
  group: z.string().default('cert-manager.io'),
});

/** Let's Encrypt's published limits (letsencrypt.org/docs/rate-limits), those of a hostname's failures tighter. */
export const budgets = z.strictObject({
  account: limits({limit: 300, per: '3h'}),
  registeredDomain: limits({limit: 50, per: '7d'}),
  certificates: limits({limit: 5, per: '7d'}),
  authorizations: limits({limit: 5, per: '1h'}),
  failures: limits({limit: 2, per: '1h'}, {limit: 3, per: '1d'}),
  countRenewals: z.boolean().default(false),
});

type WrittenBudgets = z.input<typeof budgets>;

/**
 * CAs that a platform names instead of their limits. `caaIdentities` is for CAs whose ACME directory does not name them.
 */
export const presets = {
  LetsEncrypt: {budgets: {}, caaIdentities: []},
  /**
   * cloud.google.com/certificate-manager/docs/quotas, Public CA requests: newOrder 100 an hour, no other limits. CAA name: pki.goog/faq.
   * The limits are half of that. A bucket allows twice its limit in an hour, and Google does not say that the quota is a bucket.
   */
  GoogleTrustServices: {
    budgets: {
      account: [{limit: 50, per: '1h'}],
      registeredDomain: [{limit: 50, per: '1h'}],
      certificates: [{limit: 50, per: '1h'}],
      countRenewals: true,
    },
    caaIdentities: ['pki.goog'],
  },
  /** It publishes no limits, so these are Doorplate's own choice. CAA names: acmeprotocol.dev/acme/getting-started. */
  ZeroSSL: {
    budgets: {
      account: [{limit: 300, per: '3h'}],
      registeredDomain: [{limit: 300, per: '3h'}],
      certificates: [{limit: 5, per: '7d'}],
      countRenewals: true,
    },
    caaIdentities: ['sectigo.com', 'trust-provider.com', 'usertrust.com', 'comodoca.com', 'comodo.com'],
  },
} as const satisfies Record<string, {budgets: NonNullable<WrittenBudgets>; caaIdentities: readonly string[]}>;

export const issuers = z
  .array(
    z.strictObject({
      issuerRef,
      preset: z.enum(['LetsEncrypt', 'GoogleTrustServices', 'ZeroSSL']).optional(),
      // The cases in which the issuer replaces all issuers before it.
      when: z
        .array(z.enum(issuerCases))
        .min(1)
        .default([...issuerCases]),
      caaIdentities: z.array(hostname).optional(),
      budgets: z.looseObject({}).optional(),
    }),
  )
  .max(8)
  .refine(
    (all) => new Set(all.map((i) => i.issuerRef.name)).size === all.length,
    'must have issuers of different names',
  )
  .transform((all, context) =>
    all.map(({budgets: written, preset, caaIdentities, ...issuer}, i) => {
      const known = preset && presets[preset];
      const read = budgets.safeParse({...known?.budgets, ...written});
      for (const {path, ...issue} of read.error?.issues ?? []) {
        context.addIssue({...issue, code: 'custom', path: [i, 'budgets', ...path]});
      }
      return {
        ...issuer,
        budgets: read.data ?? z.NEVER,
        caaIdentities: caaIdentities ?? [...(known?.caaIdentities ?? [])],
      };
    }),
  )
  .default([]);

/** The settings that name issuers. `issuers` takes the place of the other three. */
export interface IssuerSettings {
  issuerRef?: z.output<typeof issuerRef> | undefined;
  caaIdentities: readonly string[];
  budgets: z.output<typeof budgets>;
  issuers: z.output<typeof issuers>;
}

const toLimits = (written: readonly {limit: number; per: number}[]) =>
  written.map(({limit, per}) => ({limit, perMs: per}));

const toBudgets = (b: z.output<typeof budgets>): Budgets => ({
  account: toLimits(b.account),
  registeredDomain: toLimits(b.registeredDomain),
  certificates: toLimits(b.certificates),
  authorizations: toLimits(b.authorizations),
  failures: toLimits(b.failures),
  countRenewals: b.countRenewals,
});

/** The issuers, the preferred one first. */
export function issuersOf(s: IssuerSettings): [IssuerPolicy, ...IssuerPolicy[]] {
  const one = s.issuerRef && {issuerRef: s.issuerRef, caaIdentities: s.caaIdentities, budgets: s.budgets, when: []};
  const written = s.issuers.length > 0 ? s.issuers : [one!];
  return written.map((i) => ({...i, budgets: toBudgets(i.budgets)})) as unknown as [IssuerPolicy, ...IssuerPolicy[]];
}

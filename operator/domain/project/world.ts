/** Input and result of a decision about a Project: plain data. */

import type {Certificate, CustomDomain, DomainClaim, EndpointSlice, Project, Service} from '../../api/foreign.ts';
import type {ProjectStatus} from '../../api/project.ts';
import type {OrderGrant, Order} from '../certificates/budget.ts';
import type {CertificateFacts} from '../certificates/certificate.ts';
import type {ClaimWrite} from '../claims/claim-write.ts';
import type {Hostname} from '../hostnames/hostname.ts';
import type {OrderRequest} from '../certificates/issuance.ts';
import type {WriteError} from '../status/write-error.ts';
import type {Route, ExistingRoutes, Use} from '../routes/routes.ts';
import type {Tenant} from '../tenant.ts';
import type {IssuerPolicy} from '../certificates/choose-issuer.ts';
import type {Policy} from '../world.ts';

/** The complete input of a decision about a Project. */
export interface ProjectWorld {
  now: number;
  project: Project;
  service: Service | undefined;
  /** The EndpointSlices of that Service. */
  slices: readonly Pick<EndpointSlice, 'endpoints'>[];
  /** The CustomDomains that name this Project and have a Live hostname. */
  domains: readonly CustomDomain[];
  tenant: Tenant;
  /** Number of the tenant's Projects that have a place under the plan's limit before this one; 0 without a limit. */
  ahead: number;
  /** The default host, and its claim. */
  host: Hostname;
  claim: DomainClaim | undefined;
  /** The orders of the default hostname, as far as they are known. */
  orders: readonly Order[];
  /** Its existing routes and certificates by use, and the answer to its order request. */
  facts: Record<
    Use,
    {
      standing?: ExistingRoutes;
      certificate?: CertificateFacts;
      /** Name of its Certificate, if that was retained and has kept the name from a former Project. */
      certificateName?: string;
      /** The issuer for its certificate; undefined: the preferred one. */
      issuer?: IssuerPolicy;
      /** When to choose its issuer again, ms since the epoch. */
      issuerUntil?: number;
      grant?: OrderGrant;
    }
  >;
  writeError?: WriteError;
  policy: Policy;
}

/** `claims` are written before anything else; then the Project is decided again. `wishes`: order requests, including those under way. */
export interface ProjectDecision {
  status: ProjectStatus;
  claims: ClaimWrite[];
  certificates: Certificate[];
  /** The retained ones among `certificates` (`namespace/name`), which are used again instead of created. */
  returning: string[];
  /** The default hostname, if it is no longer served: its Certificate is deleted, not retained. */
  forfeited: Hostname[];
  routes: Route[];
  orderRequests: OrderRequest[];
  wakeAt?: number;
}

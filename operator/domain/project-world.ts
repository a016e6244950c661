/** What a decision about a Project depends on, and what it says: plain data. */

import type {Certificate, CustomDomain, DomainClaim, EndpointSlice, Project, Service} from '../api/foreign.ts';
import type {ProjectStatus} from '../api/project.ts';
import type {OrderGrant, Order} from './budget.ts';
import type {CertificateFacts} from './certificate.ts';
import type {ClaimWrite} from './claim-write.ts';
import type {Hostname} from './hostname.ts';
import type {OrderWish} from './issuance.ts';
import type {Obstacle} from './obstacle.ts';
import type {Route, StandingRoutes, Use} from './routes.ts';
import type {Tenant} from './tenant.ts';
import type {Policy} from './world.ts';

/** Everything that a decision about a Project depends on. */
export interface ProjectWorld {
  now: number;
  project: Project;
  service: Service | undefined;
  /** The EndpointSlices of that Service. */
  slices: readonly Pick<EndpointSlice, 'endpoints'>[];
  /** The CustomDomains that name this Project, those of which any hostname is Live. */
  domains: readonly CustomDomain[];
  tenant: Tenant;
  /** How many of its tenant's Projects have a place under the plan's limit before it; 0 where there is none. */
  ahead: number;
  /** The default host, and its claim. */
  host: Hostname;
  claim: DomainClaim | undefined;
  /** The orders of the default host, as far as anybody remembers. */
  orders: readonly Order[];
  /** What stands of its routes and certificates by their use, and what was said to its wish for an order. */
  facts: Record<
    Use,
    {
      standing?: StandingRoutes;
      certificate?: CertificateFacts;
      /** Where it has rested, and kept the name that a former Project gave it. */
      certificateName?: string;
      grant?: OrderGrant;
    }
  >;
  obstacle?: Obstacle;
  policy: Policy;
}

/** `claims`: to be written before anything else, and then decided anew. `wishes`: for orders, or of one that is under way. */
export interface ProjectDecision {
  status: ProjectStatus;
  claims: ClaimWrite[];
  certificates: Certificate[];
  /** Those of them (`namespace/name`) that come back from their rest, and are not made anew. */
  returning: string[];
  /** The default host, where it is not served any more: its Certificate goes and does not rest. */
  forfeited: Hostname[];
  routes: Route[];
  wishes: OrderWish[];
  wakeAt?: number;
}

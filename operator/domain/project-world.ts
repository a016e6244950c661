/** Inputs and result of a decision about a Project: plain data. */

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
  /** Existing routes and certificates by use, and the answer to the order request. */
  facts: Record<
    Use,
    {
      standing?: StandingRoutes;
      certificate?: CertificateFacts;
      /** Name of a retained Certificate that a former Project created. */
      certificateName?: string;
      grant?: OrderGrant;
    }
  >;
  obstacle?: Obstacle;
  policy: Policy;
}

/** `claims` are written before anything else, and the plan is decided again afterwards. `wishes`: order requests, waiting or granted. */
export interface ProjectDecision {
  status: ProjectStatus;
  claims: ClaimWrite[];
  certificates: Certificate[];
  /** Retained Certificates (`namespace/name`) that are used again instead of being created. */
  returning: string[];
  /** The default hostname if it is no longer served. Its Certificate is deleted and not retained. */
  forfeited: Hostname[];
  routes: Route[];
  wishes: OrderWish[];
  wakeAt?: number;
}

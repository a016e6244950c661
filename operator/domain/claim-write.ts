/** A claim as it should be. `before` undefined: it is created, or that fails because there is one. */
import type {DomainClaimSpec, DomainClaimStatus} from '../api/domain-claim.ts';
import type {DomainClaim} from '../api/foreign.ts';
import type {Hostname} from './hostname.ts';

export interface ClaimWrite {
  hostname: Hostname;
  before: DomainClaim | undefined;
  spec: DomainClaimSpec;
  status: DomainClaimStatus;
}

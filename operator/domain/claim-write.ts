/** A desired claim. `before` undefined: the claim is created, and the write fails if one exists. */
import type {DomainClaimSpec, DomainClaimStatus} from '../api/domain-claim.ts';
import type {DomainClaim} from '../api/foreign.ts';
import type {Hostname} from './hostname.ts';

export interface ClaimWrite {
  hostname: Hostname;
  before: DomainClaim | undefined;
  spec: DomainClaimSpec;
  status: DomainClaimStatus;
}

/** A claim to write. `before` is undefined to create the claim; the creation fails if the claim exists. */
import type {DomainClaimSpec, DomainClaimStatus} from '../../api/domain-claim.ts';
import type {DomainClaim} from '../../api/foreign.ts';
import type {Hostname} from '../hostnames/hostname.ts';

export interface ClaimWrite {
  hostname: Hostname;
  before: DomainClaim | undefined;
  spec: DomainClaimSpec;
  status: DomainClaimStatus;
}

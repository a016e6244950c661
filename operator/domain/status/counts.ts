/** Counts the hostnames of a CustomDomain for its status. */
import type {CustomDomainStatus, HostStatus} from '../../api/custom-domain.ts';

type Counts = Required<Pick<CustomDomainStatus, 'hostsLive' | 'attachedHostnames' | 'liveHostnames'>>;

/** How many of these hostnames are Live, as numbers and as `kubectl get` prints them. */
export function countsOf(attached: readonly HostStatus[]): Counts {
  const liveHostnames = attached.filter(({phase}) => phase === 'Live').length;
  const attachedHostnames = attached.length;
  return {hostsLive: `${liveHostnames}/${attachedHostnames}`, attachedHostnames, liveHostnames};
}

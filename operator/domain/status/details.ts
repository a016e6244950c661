import {type HostDetails, type HostStatus, longestDetail} from '../../api/custom-domain.ts';

/** Details without values of more than `length` characters: a part of a record would be wrong. Undefined if none is left. */
export function shortDetails(details: HostDetails, length: number = longestDetail): HostDetails | undefined {
  const kept = Object.entries(details).filter(([, value]) => value.length <= length);
  return kept.length > 0 ? Object.fromEntries(kept) : undefined;
}

type Words = Pick<HostStatus, 'message' | 'details' | 'waitingFor'>;
/** Published words, which stay until more is known. */
export const sameWords = ({message, details, waitingFor}: Words): Words => ({message, details, waitingFor});

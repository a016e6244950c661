/** The operator's reports about an address of the edge. */
import type {EdgeNews} from '../controllers/probes/edge-health.ts';
import type {EventRecord} from '../kube/writes/events.ts';

/** The Event on the operator's Pod when an address has become faulty, or serves again. */
export const eventOfEdge = ({edge, isFaulty, why}: EdgeNews): Omit<EventRecord, 'regarding'> =>
  isFaulty
    ? {
        type: 'Warning',
        reason: 'EdgeAddressFaulty',
        action: 'Probe',
        note:
          `The edge at ${edge} does not serve the Live hostnames that were probed there (${why}). Their routes stay. ` +
          'Repair the address, or remove it from the edge. Until then, the condition Live of each hostname becomes False.',
      }
    : {
        type: 'Normal',
        reason: 'EdgeAddressServing',
        action: 'Probe',
        note: `The edge at ${edge} serves hostnames again. Each hostname is probed again and reported as Live.`,
      };

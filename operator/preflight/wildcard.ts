import {randomBytes} from 'node:crypto';
import {NoAddress, resolveAddresses} from '../dns/addresses.ts';
import {cdnAt, cdnsWith} from '../domain/verification/cdns.ts';
import {isIn} from '../domain/networks.ts';
import type {PreflightAnswer, PreflightQuestion, PreflightWorld} from './question.ts';

/** A name below the zone that no project has: the wildcard record alone answers for it. */
export const nobodysName = (zone: string): string => `doorplate-preflight-${randomBytes(4).toString('hex')}.${zone}`;

/** Customers' CNAME records lead to names below the zone, and so must these to the edge. */
export const wildcard: PreflightQuestion = {
  name: 'wildcard',
  asks: ({
    settings: {
      platform: {zone},
    },
  }) => `Does *.${zone} resolve to the edge?`,
  ask: async ({settings: {platform, dns}, edgeAddresses: {edge}, resolvers}, signal) => {
    const [name, record] = [nobodysName(platform.zone), `*.${platform.zone}`];
    let addresses: readonly string[];
    try {
      ({addresses} = await resolveAddresses(resolvers, name, {signal}));
    } catch (error) {
      if (!(error instanceof NoAddress)) throw error;
      return unresolved(error, record);
    }
    return compared({name, record, addresses}, edge, cdnsWith(dns.cdns));
  },
};

function unresolved({message, failures}: NoAddress, record: string): PreflightAnswer {
  return failures.length > 0
    ? {
        outcome: 'unknown',
        seen: message,
        remedy: 'In dns.recursive, name resolvers that answer, or open port 53 to them.',
      }
    : {
        outcome: 'failed',
        seen: message,
        remedy: `Create the record ${record}: A and AAAA with the addresses of the edge, or a CNAME to its name.`,
      };
}

interface FoundCertificate {
  name: string;
  record: string;
  addresses: readonly string[];
}

function compared(
  {name, record, addresses}: FoundCertificate,
  {edgeAddresses}: PreflightWorld['edgeAddresses']['edge'],
  cdns: ReturnType<typeof cdnsWith>,
): PreflightAnswer {
  const seen = `${name} has ${addresses.join(', ')}`;
  if (edgeAddresses.length === 0)
    return {
      outcome: 'unknown',
      seen: `${seen}; no address of the edge is known yet`,
      remedy: 'Ensure that the Service in edge.service has an address, or that edge.hostname resolves.',
    };
  const others = addresses.filter((address) => !isIn(address, edgeAddresses));
  if (others.length === 0) return {outcome: 'ok', seen: `${seen}, of the edge`};
  const cdn = cdnAt({cname: [], a: addresses, aaaa: []}, cdns)?.name;
  if (cdn !== undefined)
    return {
      outcome: 'unknown',
      seen: `${seen}, of ${cdn}`,
      remedy: `Check yourself that ${cdn} forwards to the edge: Doorplate cannot see this.`,
    };
  return {
    outcome: 'failed',
    seen: `${seen}; the edge has ${edgeAddresses.join(', ')}`,
    remedy:
      `Point ${record} only to the edge, or set edge (addresses, hostname or service) to its real address. ` +
      "If your proxy is in front of the edge, name the proxy's networks in dns.cdns.",
  };
}

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
  asks: ({platform: {zone}}) => `Does *.${zone} lead to the edge?`,
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
        remedy: 'Name resolvers in dns.recursive that answer, or open port 53 to them.',
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
      seen: `${seen}; nobody knows an address of the edge yet`,
      remedy: 'See that the Service in edge.service has an address, or that edge.hostname resolves.',
    };
  const others = addresses.filter((address) => !isIn(address, edgeAddresses));
  if (others.length === 0) return {outcome: 'ok', seen: `${seen}, of the edge`};
  const cdn = cdnAt({cname: [], a: addresses, aaaa: []}, cdns)?.name;
  if (cdn !== undefined)
    return {
      outcome: 'unknown',
      seen: `${seen}, of ${cdn}`,
      remedy: `See yourself that ${cdn} passes on to the edge: that cannot be seen from here.`,
    };
  return {
    outcome: 'failed',
    seen: `${seen}; of the edge are ${edgeAddresses.join(', ')}`,
    remedy:
      `Let ${record} lead to the edge alone, or say in edge (addresses, hostname or service) where the edge is. ` +
      'If a proxy of yours stands before it, name its networks in dns.cdns.',
  };
}

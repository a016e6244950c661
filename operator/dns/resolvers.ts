import {getServers} from 'node:dns';
import {isIP} from 'node:net';
import type {DnsServer} from './wire.ts';

/** The resolvers configured on this machine (resolv.conf), port 53. */
export function systemResolvers(): DnsServer[] {
  return getServers().flatMap((written) => {
    const address = written.replace(/^\[([^\]]+)\](:[0-9]+)?$/, '$1');
    return isIP(address) ? [{address, port: 53}] : [];
  });
}

/**
 * Content delivery networks (CDNs), recognized by the DNS records of a name behind them: the CDN's addresses, or a CNAME to a name of the
 * CDN. The networks are those that each CDN publishes at its `source`, read from public copies of these lists in November 2026.
 * `docs/reference/dns-providers.md` has this table. The platform adds or replaces entries with `dns.cdns`.
 */
import {within} from '../hostnames/hostname.ts';
import {isIn} from '../networks.ts';

export interface Cdn {
  name: string;
  /** The CDN's own networks, in CIDR notation. */
  networks: readonly string[];
  /** Names to which the CDN's customers point a CNAME: these names, or names below them. */
  hosts: readonly string[];
}

export const knownCdns: readonly (Cdn & {source: string})[] = [
  {
    name: 'Akamai',
    networks: [],
    hosts: ['akamaiedge.net', 'akamaized.net', 'edgekey.net', 'edgesuite.net'],
    source: 'techdocs.akamai.com/edge-hostnames',
  },
  {
    name: 'Azure CDN or Front Door',
    networks: [],
    hosts: ['azureedge.net', 'azurefd.net'],
    source: 'learn.microsoft.com/azure/frontdoor/front-door-custom-domain',
  },
  {name: 'bunny.net', networks: [], hosts: ['b-cdn.net'], source: 'docs.bunny.net/cdn/custom-hostname'},
  {
    name: 'Cloudflare',
    networks: [
      '103.21.244.0/22',
      '103.22.200.0/22',
      '103.31.4.0/22',
      '104.16.0.0/13',
      '104.24.0.0/14',
      '108.162.192.0/18',
      '131.0.72.0/22',
      '141.101.64.0/18',
      '162.158.0.0/15',
      '172.64.0.0/13',
      '173.245.48.0/20',
      '188.114.96.0/20',
      '190.93.240.0/20',
      '197.234.240.0/22',
      '198.41.128.0/17',
      '2400:cb00::/32',
      '2405:8100::/32',
      '2405:b500::/32',
      '2606:4700::/32',
      '2803:f800::/32',
      '2a06:98c0::/29',
      '2c0f:f248::/32',
    ],
    hosts: ['cdn.cloudflare.net'],
    source: 'cloudflare.com/ips',
  },
  {
    name: 'CloudFront',
    networks: [],
    hosts: ['cloudfront.net'],
    source: 'docs.aws.amazon.com/AmazonCloudFront, "Use custom URLs by adding alternate domain names"',
  },
  {
    name: 'Fastly',
    networks: [
      '23.235.32.0/20',
      '43.249.72.0/22',
      '103.244.50.0/24',
      '103.245.222.0/23',
      '103.245.224.0/24',
      '104.156.80.0/20',
      '140.248.64.0/18',
      '140.248.128.0/17',
      '146.75.0.0/17',
      '151.101.0.0/16',
      '157.52.64.0/18',
      '167.82.0.0/17',
      '167.82.128.0/20',
      '167.82.160.0/20',
      '167.82.224.0/20',
      '172.111.64.0/18',
      '185.31.16.0/22',
      '199.27.72.0/21',
      '199.232.0.0/16',
      '2a04:4e40::/32',
      '2a04:4e42::/32',
    ],
    hosts: ['fastly.net'],
    source: 'api.fastly.com/public-ip-list',
  },
  {
    name: 'Imperva',
    networks: [
      '45.60.0.0/16',
      '45.64.64.0/22',
      '45.223.0.0/16',
      '103.28.248.0/22',
      '107.154.0.0/16',
      '131.125.128.0/17',
      '149.126.72.0/21',
      '185.11.124.0/22',
      '192.230.64.0/18',
      '198.143.32.0/19',
      '199.83.128.0/21',
      '2a02:e980::/29',
    ],
    hosts: ['impervadns.net', 'incapdns.net'],
    source: 'docs.imperva.com, "Imperva IP Addresses"',
  },
];

/** All known CDNs and the platform's own entries. An own entry replaces the known CDN with the same name. */
export const cdnsWith = (own: readonly Cdn[]): readonly Cdn[] => [
  ...knownCdns.filter(({name}) => own.every((other) => other.name !== name)),
  ...own,
];

/**
 * The CDN in front of a name, recognized by the records at the name itself: one CNAME to a name of the CDN, or addresses that all belong
 * to the CDN. These records verify no tenant, because all customers of the CDN have the same ones.
 */
export function cdnAt(
  {cname: [to, ...more], a, aaaa}: {cname: readonly string[]; a: readonly string[]; aaaa: readonly string[]},
  cdns: readonly Cdn[],
): Cdn | undefined {
  if (to !== undefined)
    return more.length === 0 ? cdns.find(({hosts}) => hosts.some((host) => within(to, host))) : undefined;
  const addresses = [...a, ...aaaa];
  return addresses.length === 0
    ? undefined
    : cdns.find(({networks}) => addresses.every((address) => isIn(address, networks)));
}

/**
 * The best-known DNS providers, by their name servers, and the record that each offers at an apex in place of a CNAME. Sources: the
 * provider's own pages, as given; otherwise DNSControl (github.com/StackExchange/dnscontrol, providers/NAME), which records for each
 * provider whether its API has an ALIAS. Checked in November 2026. `docs/reference/dns-providers.md` is generated from this table.
 */

import {type Hostname, within} from '../hostnames/hostname.ts';

/** The provider's type for a record that leads to a name at an apex. `Addresses`: it has no record that leads outside of the provider. */
type AtApex = 'ALIAS' | 'ANAME' | 'CNAME' | 'Addresses';

interface DnsProvider {
  name: string;
  /** Its name servers have one of these names, or a name below one. */
  servers: readonly string[];
  /** Undefined if it is not known for certain. */
  atApex?: AtApex;
  /** Overrides the default text of {@link apexNote}. */
  note?: string;
  /** An exception to `Addresses`: the alias does follow names below this one. */
  follows?: Hostname;
  /** Source of the record type at an apex. */
  source?: string;
}

/** The names that a pattern gives with each number in place of its `#`. Both ends are included. */
const numbered = (pattern: string, from: number, to: number, digits = 1): string[] =>
  Array.from({length: to - from + 1}, (_, i) => pattern.replace('#', String(from + i).padStart(digits, '0')));

const ovhServers = [
  'dns#.ovh.net',
  'ns#.ovh.net',
  'dns#.ovh.ca',
  'ns#.ovh.ca',
  'dns#.anycast.me',
  'ns#.anycast.me',
].flatMap((pattern) => [...numbered(pattern, 10, 20), ...numbered(pattern, 100, 120), ...numbered(pattern, 200, 200)]);

/** The addresses of DNSControl's folders for a provider. */
const dnscontrol = (...folders: string[]): string =>
  folders.map((folder) => `github.com/StackExchange/dnscontrol/tree/main/providers/${folder}`).join(', ');

/** A provider whose alias leads only to its own resources. */
const addressesBut = (name: string, own: string) => ({
  atApex: 'Addresses' as const,
  note: `${name} follows only names of ${own} at an apex`,
});

export const providers: readonly DnsProvider[] = [
  // An alias record set points to a resource of Azure.
  {
    name: 'Azure DNS',
    servers: ['azure-dns.com', 'azure-dns.net', 'azure-dns.org', 'azure-dns.info'],
    ...addressesBut('Azure DNS', 'Azure'),
    source: 'learn.microsoft.com/azure/dns/dns-alias',
  },
  // bunny.net flattens a CNAME.
  {name: 'bunny.net', servers: ['coco.bunny.net', 'kiki.bunny.net'], atApex: 'CNAME', source: dnscontrol('bunnydns')},
  {
    name: 'Cloudflare',
    servers: ['ns.cloudflare.com'],
    atApex: 'CNAME',
    source: 'developers.cloudflare.com/dns/cname-flattening',
  },
  {name: 'ClouDNS', servers: ['cloudns.net'], atApex: 'ALIAS', source: dnscontrol('cloudns')},
  {
    name: 'Constellix',
    servers: ['constellix.com', 'constellix.net'],
    atApex: 'ANAME',
    source: 'support.constellix.com, "ANAME Records"',
  },
  {name: 'deSEC', servers: ['desec.io', 'desec.org'], atApex: 'Addresses', source: dnscontrol('desec')},
  {
    name: 'DigitalOcean',
    servers: numbered('ns#.digitalocean.com', 1, 3),
    atApex: 'Addresses',
    source: dnscontrol('digitalocean'),
  },
  // Constellix states that ANAME records originate from DNS Made Easy.
  {
    name: 'DNS Made Easy',
    servers: ['dnsmadeeasy.com'],
    atApex: 'ANAME',
    source: 'support.constellix.com, "ANAME Records"',
  },
  {
    name: 'DNSimple',
    servers: ['dnsimple.com', 'dnsimple-edge.net', 'dnsimple-edge.org'],
    atApex: 'ALIAS',
    source: 'support.dnsimple.com/articles/alias-record',
  },
  {name: 'Dynadot', servers: ['dyna-ns.net']},
  // ALIAS records are possible only at the apex.
  {name: 'Gandi', servers: ['gandi.net'], atApex: 'ALIAS', source: dnscontrol('gandiv5')},
  // The page names other providers that have such a record, but not GoDaddy itself.
  {
    name: 'GoDaddy',
    servers: ['domaincontrol.com'],
    atApex: 'Addresses',
    source: 'godaddy.com/help/cname-flattening-41266',
  },
  // Squarespace has taken over Google Domains. Its name servers have names like those of Google Cloud DNS.
  {name: 'Google Cloud DNS or Squarespace', servers: ['googledomains.com']},
  {
    name: 'Hetzner',
    servers: ['ns.hetzner.com', 'ns.hetzner.de'],
    atApex: 'Addresses',
    source: dnscontrol('hetzner', 'hetznerv2'),
  },
  {name: 'Hover', servers: ['hover.com']},
  {name: 'Hurricane Electric', servers: numbered('ns#.he.net', 1, 5), atApex: 'ALIAS', source: dnscontrol('hedns')},
  {name: 'INWX', servers: ['inwx.de', 'inwx.eu', 'inwx.com', 'inwx.net'], atApex: 'ALIAS', source: dnscontrol('inwx')},
  // "Name servers": ns1NNN.ui-dns.de, .biz, .org, .com
  {
    name: 'IONOS',
    servers: ['ui-dns.com', 'ui-dns.de', 'ui-dns.biz', 'ui-dns.org'],
    atApex: 'Addresses',
    source: 'ionos.com/help, "Configuring a CNAME Record for a Subdomain"',
  },
  {name: 'Linode', servers: numbered('ns#.linode.com', 1, 5), atApex: 'Addresses', source: dnscontrol('linode')},
  {
    name: 'name.com',
    servers: ['name.com'],
    atApex: 'ANAME',
    source: 'name.dev/learn, "CNAME Records: When to Use Them"',
  },
  {name: 'Namecheap', servers: ['registrar-servers.com'], atApex: 'ALIAS', source: dnscontrol('namecheap')},
  // Netlify's zones use the name servers of NS1.
  {name: 'NS1 or Netlify', servers: ['nsone.net'], atApex: 'ALIAS', source: dnscontrol('ns1', 'netlify')},
  // Machines of OVH's customers have had names below ovh.net too.
  {name: 'OVH', servers: ovhServers, atApex: 'Addresses', source: dnscontrol('ovh')},
  {name: 'Porkbun', servers: ['ns.porkbun.com'], atApex: 'ALIAS', source: dnscontrol('porkbun')},
  {
    name: 'Route 53',
    servers: ['com', 'net', 'org', 'co.uk'].flatMap((tld) => numbered(`awsdns-#.${tld}`, 0, 63, 2)),
    ...addressesBut('Route 53', 'AWS'),
    follows: 'amazonaws.com',
    source: 'docs.aws.amazon.com/Route53, "Choosing between alias and non-alias records"',
  },
  {name: 'Squarespace', servers: ['squarespacedns.com']},
  {
    name: 'TransIP',
    servers: ['ns0.transip.net', 'ns1.transip.nl', 'ns2.transip.eu'],
    atApex: 'ALIAS',
    source: dnscontrol('transip'),
  },
  {name: 'Vercel', servers: ['vercel-dns.com'], atApex: 'ALIAS', source: dnscontrol('vercel')},
  {name: 'Vultr', servers: numbered('ns#.vultr.com', 1, 2), atApex: 'Addresses', source: dnscontrol('vultr')},
  {name: 'Wix', servers: ['wixdns.net']},
];

const byServer = new Map(providers.flatMap((provider) => provider.servers.map((at) => [at, provider] as const)));
const byName = new Map(providers.map((provider) => [provider.name, provider]));

/** The provider of one name server, by the server's name or a name above it. Only whole labels match, not a similar ending. */
function providerOfServer(server: string): DnsProvider | undefined {
  const labels = server.split('.');
  return labels.map((_, i) => byServer.get(labels.slice(i).join('.'))).find((provider) => provider !== undefined);
}

/** The provider of all these name servers; undefined if it is not known, or if they have several providers. */
export function providerOf(nameServers: readonly string[]): string | undefined {
  const [first, ...others] = nameServers.map(providerOfServer);
  return others.every((other) => other === first) ? first?.name : undefined;
}

/** The provider's record at an apex in place of a CNAME; undefined if it is not known. */
export const atApexOf = (provider: string | undefined): AtApex | undefined => byName.get(provider ?? '')?.atApex;

/** Whether the provider's alias at an apex leads to this name, although the provider has no alias for foreign names. */
export function followsAtApex(provider: string, name: Hostname): boolean {
  const {follows} = byName.get(provider) ?? {};
  return follows !== undefined && within(name, follows);
}

/** The provider's record at an apex in a few words, without a full stop. */
export function apexNote(provider: string): string {
  const {atApex, note} = byName.get(provider) ?? {};
  if (note !== undefined) return note;
  if (atApex === 'Addresses') return `${provider} has no record that follows a name at an apex`;
  return atApex === 'CNAME' ? `${provider} flattens it at an apex` : `${provider} follows it at an apex`;
}

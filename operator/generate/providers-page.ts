/** `docs/reference/dns-providers.md` out of the tables of DNS providers and of CDNs. */
import {knownCdns} from '../domain/verification/cdns.ts';
import {apexNote, providers} from '../domain/verification/providers.ts';

type ProviderRow = (typeof providers)[number];

const says: Readonly<Record<NonNullable<ProviderRow['atApex']>, string>> = {
  ALIAS: '`ALIAS`',
  ANAME: '`ANAME`',
  CNAME: '`CNAME`, which the provider flattens',
  Addresses: '`A` and `AAAA`',
};

const row = (provider: ProviderRow): string => {
  const {name, atApex, note, source} = provider;
  const record = atApex ? says[atApex] : '`ALIAS`, or the name that the provider uses';
  return `| ${name} | ${record} | ${note === undefined ? '' : `${apexNote(name)}.`} | ${source ?? 'not known'} |\n`;
};

const cdnRow = ({name, networks, hosts, source}: (typeof knownCdns)[number]): string => {
  const addresses = networks.length > 0 ? `${networks.length} networks` : '';
  return `| ${name} | ${hosts.map((host) => `\`${host}\``).join(', ')} | ${addresses} | ${source} |\n`;
};

const ofProviders =
  (): string => `<!-- Generated from operator/domain/verification/providers.ts and cdns.ts by \`make crds\`. Do not edit. -->
# DNS providers

This page lists the DNS records that hostnames need, and the words that each DNS provider uses for them.

| hostname | records |
|---|---|
| below a domain, such as \`docs.example.com\` | a **CNAME** to the default hostname of its project. Every provider has this record |
| an apex, such as \`example.com\` | a record to the edge, in the words of the provider, and a **TXT** at \`_doorplate-challenge\` |
| behind a CDN, such as Cloudflare's proxy | the records of the CDN, a **TXT** at \`_doorplate-challenge\` ([Behind a CDN](#behind-a-cdn)) |

An apex cannot have a CNAME beside its other records (RFC 1034, 3.6.2). Its addresses are the same for all customers, so the TXT record
verifies the tenant.

To show the records of a hostname in the words of its provider, run:

\`\`\`sh
kubectl doorplate records docs -n acme
\`\`\`

\`\`\`text output
HOSTNAME           ZONE          NAME   TYPE    VALUE                                      TTL    STATE
docs.example.com   example.com   docs   CNAME   docs-acme-k3v9x2m4q7w1z.apps.example.net   3600   Missing
\`\`\`

\`status.dnsRecords\`, the Domains page and the API show the same records. Doorplate recognizes the provider by the name servers
of the zone. With \`dns.mode: RecursiveOnly\` it does not query them, so the records have the general words.

## Records at an apex

For a provider with \`A\` and \`AAAA\` only, \`edge.addresses\` must list at most four single addresses and no networks. With
\`edge.service\`, the Service must have addresses and no name. The data comes from the providers' own pages, or from DNSControl,
which uses their APIs. It was checked in November 2026, and Doorplate's tests do not cover it.

| provider | record at the apex | note | source |
|---|---|---|---|
${providers.map(row).join('')}
`;

const ofCdns = (): string => `## Behind a CDN

A content delivery network (CDN) answers for the hostname with its own addresses or name. DNS does not show the origin of the CDN, so
Doorplate cannot see the CNAME. Verify the hostname with a TXT record:

1. At the CDN, set the project's default hostname as the origin. The CDN must send the customer's hostname in the header \`Host\` and as the
   server name of TLS. With Cloudflare, create the CNAME to the default hostname with the proxy on.
2. At the DNS provider, create a **TXT** at \`_doorplate-challenge\` below the hostname. The message of \`BehindCDN\` has its value.
3. Let the CDN pass \`http://HOSTNAME/.well-known/acme-challenge/\` to the origin without caching. The certificate authority sends its
   requests there.
4. Let the CDN connect to the origin over HTTPS for all other requests. With Cloudflare, choose the SSL/TLS mode Full (strict).

Keep the TXT record. The hostname stays verified only while the record exists.

### Too many redirects

Browsers can show \`ERR_TOO_MANY_REDIRECTS\` although the status is \`Live\`. The cause is a CDN that connects to the origin over
plain HTTP, which always redirects to HTTPS. With Cloudflare this is the mode Flexible. Doorplate cannot see it, because it
connects to the edge and not to the CDN. Switch the CDN to HTTPS for the origin, as in step 4, then clear its cache.

### Live hostnames behind a CDN

A \`Live\` hostname that moves behind a known CDN stays \`Live\`. Its reason is \`ServedBehindCDN\`, and the message has the TXT
record to create. Behind an unknown CDN, Doorplate cannot distinguish this move from a missing record.

### Known CDNs

A hostname is behind a CDN in two cases:

- Its CNAME leads to a name of the CDN, or to a name below it.
- All its addresses belong to networks of the CDN.

The platform adds other CDNs, and networks of CDNs that publish none, with the value \`dns.cdns\`. An entry with a name of this
table replaces the row. The networks come from public copies of each list in November 2026. Doorplate's tests use no real CDN.

| CDN | names | addresses | source |
|---|---|---|---|
${knownCdns.map(cdnRow).join('')}`;

/** The page, whole. */
export const providersPage = (): string => ofProviders() + ofCdns();

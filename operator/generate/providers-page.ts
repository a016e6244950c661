/** `docs/reference/dns-providers.md` out of the tables of DNS providers and of CDNs. */
import {knownCdns} from '../domain/verification/cdns.ts';
import {apexNote, providers} from '../domain/verification/providers.ts';

type ProviderRow = (typeof providers)[number];

const says: Readonly<Record<NonNullable<ProviderRow['atApex']>, string>> = {
  ALIAS: '`ALIAS`',
  ANAME: '`ANAME`',
  CNAME: '`CNAME`, which it flattens',
  Addresses: '`A` and `AAAA`',
};

const row = (provider: ProviderRow): string => {
  const {name, atApex, note, source} = provider;
  const record = atApex ? says[atApex] : '`ALIAS`, or whatever it calls that';
  return `| ${name} | ${record} | ${note === undefined ? '' : `${apexNote(name)}.`} | ${source ?? 'not known'} |\n`;
};

const cdnRow = ({name, networks, hosts, source}: (typeof knownCdns)[number]): string => {
  const addresses = networks.length > 0 ? `${networks.length} networks` : '';
  return `| ${name} | ${hosts.map((host) => `\`${host}\``).join(', ')} | ${addresses} | ${source} |\n`;
};

/** The page, whole. */
export const providersPage =
  (): string => `<!-- Generated from operator/domain/verification/providers.ts and cdns.ts by \`make crds\`. Do not edit. -->
# DNS providers

A hostname below a domain, such as \`docs.example.com\`, needs one **CNAME** to the host of its project. Every provider has that.

An **apex**, such as \`example.com\` itself, cannot have a CNAME beside the records that it must have (RFC 1034, 3.6.2).
It needs two records:

- one that leads to the edge: what that is called differs, and the table says how;
- a **TXT** at \`_doorplate-challenge\` with the value that is told: addresses are the same for all customers, so they prove nobody's.

Which records a hostname needs, in the words of its provider, \`kubectl get customdomain NAME -o jsonpath='{.status.dnsRecords}'\` says,
\`kubectl doorplate records NAME\`, the page, and the API. The provider is known by the zone's name servers; where
\`dns.mode\` is \`RecursiveOnly\` these are not asked, and the general words stand.

A hostname that is served through a CDN, such as Cloudflare with the orange cloud, needs the TXT, too: [behind a CDN](#behind-a-cdn).

## What each has at an apex

Where only addresses help, \`edge.addresses\` must name them one by one, four at most and no networks, or the
Service in \`edge.service\` must have addresses and no name. Taken from what each provider
says itself, or from DNSControl, which knows their APIs. Checked in November 2026; not tried by Doorplate's tests.

| provider | record at the apex | beside it | who says so |
|---|---|---|---|
${providers.map(row).join('')}
## Behind a CDN

A content delivery network (CDN) stands in front of the hostname and answers with addresses or a name of its own. What its origin is, the
DNS does not say, so the CNAME that would prove the hostname cannot be seen. It can be proven all the same, and stay behind the CDN:

1. At the CDN the origin is the project's host, and it is asked for the hostname itself: by the header \`Host\`, and by TLS' server name.
   With Cloudflare that is the CNAME to the project's host, proxied.
2. At the DNS provider a **TXT** at \`_doorplate-challenge\` below the hostname has the value that is told (\`BehindCDN\`).
3. The CDN passes on \`http://HOSTNAME/.well-known/acme-challenge/\` and caches nothing of it: the certificate authority asks there.
4. For all other requests, the CDN connects to the origin over HTTPS. With Cloudflare that is the SSL/TLS mode Full (strict).

**Too many redirects** (\`ERR_TOO_MANY_REDIRECTS\`) while the status is \`Live\`: the CDN asks the origin over plain HTTP, which always
redirects to HTTPS. With Cloudflare that is the mode Flexible. Doorplate cannot see this, because it asks the edge and not the CDN.
Switch the CDN to HTTPS for the origin, as in step 4, then clear its cache.

A hostname that is Live and is put behind a CDN later stays so, and nothing is taken from it: it says \`ServedBehindCDN\`, and which TXT to
create. Of a CDN that is not known, that cannot be told apart from a record that has gone. What was proven by the TXT needs it for as long
as it is to be the customer's: no CDN hides a TXT.

A name is behind one of these when its CNAME leads to a name of the CDN's or below one, or when all its addresses are of the CDN's
networks. The platform adds others by the value \`dns.cdns\`, and networks of those that publish none; one of a name that stands here
takes its place. Networks change: these were read in November 2026, in public copies of each list; not tried with the CDNs themselves.

| CDN | names | addresses | who says so |
|---|---|---|---|
${knownCdns.map(cdnRow).join('')}`;

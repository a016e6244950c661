/** `docs/dns-providers.md` out of the table of DNS providers. */
import {apexNote, providers} from '../domain/providers.ts';

type Provider = (typeof providers)[number];

const says: Readonly<Record<NonNullable<Provider['atApex']>, string>> = {
  ALIAS: '`ALIAS`',
  ANAME: '`ANAME`',
  CNAME: '`CNAME`, which it flattens',
  Addresses: '`A` and `AAAA`',
};

const row = (provider: Provider): string => {
  const {name, atApex, note, source} = provider;
  const record = atApex ? says[atApex] : '`ALIAS`, or whatever it calls that';
  return `| ${name} | ${record} | ${note === undefined ? '' : `${apexNote(name)}.`} | ${source ?? 'not known'} |\n`;
};

/** The page, whole. */
export const providersPage =
  (): string => `<!-- Generated from operator/domain/providers.ts by \`make crds\`. Do not edit. -->
# DNS providers

A hostname below a domain, such as \`docs.example.com\`, needs one **CNAME** to the host of its project. Every provider has that.

An **apex**, such as \`example.com\` itself, cannot have a CNAME beside the records that it must have (RFC 1034, 3.6.2).
It needs two records:

- one that leads to the edge: what that is called differs, and the table says how;
- a **TXT** at \`_doorplate-challenge\` with the value that is told: addresses are the same for all customers, so they prove nobody's.

Which records a hostname needs, in the words of its provider, \`kubectl get customdomain NAME -o jsonpath='{.status.dnsRecords}'\` says,
\`kubectl doorplate records NAME\`, the page, and the API. The provider is known by the zone's name servers; where
\`dns.mode\` is \`RecursiveOnly\` these are not asked, and the general words stand.

A proxy in front of the name, such as Cloudflare's orange cloud, must be off: the DNS then names the proxy alone, neither the project's host
nor the edge, and proves nothing.

## What each has at an apex

Where only addresses help, \`edge.addresses\` must name them one by one, four at most and no networks, or the Service in \`edge.service\` must have addresses and no name. Taken from what each provider
says itself, or from DNSControl, which knows their APIs. Checked in November 2026; not tried by Doorplate's tests.

| provider | record at the apex | beside it | who says so |
|---|---|---|---|
${providers.map(row).join('')}`;

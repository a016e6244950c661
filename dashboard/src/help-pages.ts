/** The pages of DNS providers that explain how to add a record, by the name of the provider (operator/domain/verification/providers.ts). */
export const helpPages: Readonly<Record<string, string>> = {
  'Azure DNS': 'https://learn.microsoft.com/azure/dns/dns-operations-recordsets-portal',
  Cloudflare: 'https://developers.cloudflare.com/dns/manage-dns-records/how-to/create-dns-records/',
  DigitalOcean: 'https://docs.digitalocean.com/products/networking/dns/how-to/manage-records/',
  DNSimple: 'https://support.dnsimple.com/articles/record-editor/',
  Gandi: 'https://docs.gandi.net/en/domain_names/common_operations/dns_records.html',
  GoDaddy: 'https://www.godaddy.com/help/manage-dns-records-680',
  Namecheap:
    'https://www.namecheap.com/support/knowledgebase/article.aspx/434/2237/how-do-i-set-up-host-records-for-a-domain/',
  'Route 53': 'https://docs.aws.amazon.com/Route53/latest/DeveloperGuide/resource-record-sets-creating.html',
  Vercel: 'https://vercel.com/docs/domains/managing-dns-records',
};

/** The provider's page about adding DNS records; undefined if it is not known. */
export const helpOf = (provider: string | undefined): string | undefined =>
  provider !== undefined && Object.hasOwn(helpPages, provider) ? helpPages[provider] : undefined;

/** The pages of the site by task (Diataxis). Each page of the repository is listed once: its path in the checkout and its title. */
export interface Section {
  text: string;
  pages: readonly (readonly [path: string, title: string])[];
}

export const sections: readonly Section[] = [
  {
    text: 'Start',
    pages: [
      ['README.md', 'What Doorplate is'],
      ['docs/README.md', 'All pages'],
    ],
  },
  {
    text: 'Tutorials',
    pages: [
      ['examples/kind/README.md', 'Try it in ten minutes'],
      ['docs/tutorials/first-domain.md', 'Your first domain with kubectl'],
      ['docs/tutorials/first-hostname-by-api.md', 'Your first hostname by API'],
      ['docs/tutorials/link-from-your-backend.md', 'Link customers to the Domains page'],
    ],
  },
  {
    text: 'How-to: install',
    pages: [
      ['docs/how-to/install.md', 'Install'],
      ['docs/how-to/install-with-gitops.md', 'Install with Flux or Argo CD'],
      ['docs/how-to/ingress-classes.md', 'Choose an ingress class'],
      ['docs/how-to/controllers/traefik.md', 'Traefik'],
      ['docs/how-to/controllers/contour.md', 'Contour'],
      ['docs/how-to/controllers/haproxy.md', 'HAProxy'],
      ['docs/how-to/controllers/ingress-nginx.md', 'Leave ingress-nginx'],
      ['docs/how-to/controllers/f5-nginx.md', 'F5 NGINX'],
      ['docs/how-to/controllers/gateway-api.md', 'Gateway API'],
      ['docs/how-to/clouds/eks.md', 'Amazon EKS'],
      ['docs/how-to/clouds/gke.md', 'Google GKE'],
      ['docs/how-to/clouds/aks.md', 'Azure AKS'],
      ['docs/how-to/clouds/bare-metal.md', 'Bare metal'],
      ['docs/how-to/letsencrypt.md', "Use Let's Encrypt in production"],
      ['docs/how-to/policy.md', 'Roll out the admission policy'],
    ],
  },
  {
    text: 'How-to: operate',
    pages: [
      ['docs/how-to/monitor.md', 'Monitor'],
      ['docs/how-to/runbooks.md', 'Runbooks'],
      ['docs/how-to/troubleshoot.md', 'Troubleshoot a hostname'],
      ['docs/how-to/upgrade.md', 'Upgrade'],
      ['docs/how-to/backup.md', 'Back up and restore'],
      ['docs/how-to/uninstall.md', 'Uninstall'],
      ['docs/how-to/end-a-customer.md', 'End a customer'],
      ['docs/how-to/take-a-hostname-down.md', 'Take a hostname down'],
      ['docs/how-to/rotate-the-acme-account.md', 'Rotate the ACME account'],
      ['docs/how-to/migrate.md', 'Migrate to Doorplate'],
      ['docs/how-to/gitops.md', 'Manage domains with GitOps'],
    ],
  },
  {
    text: 'How-to: build on Doorplate',
    pages: [
      ['docs/how-to/page.md', 'Set up the Domains page'],
      ['docs/how-to/api-keys.md', 'Manage API keys'],
      ['docs/how-to/limit-your-api.md', 'Limit your own APIs'],
    ],
  },
  {
    text: 'Use the Domains page',
    pages: [
      ['docs/customers/add-a-domain.md', 'Add your domain'],
      ['docs/customers/dns-records.md', 'Create DNS records'],
      ['docs/customers/questions.md', 'Questions and answers'],
    ],
  },
  {
    text: 'Reference',
    pages: [
      ['docs/reference/kinds.md', 'Kinds'],
      ['docs/reference/annotations-and-labels.md', 'Annotations and labels'],
      ['docs/reference/events.md', 'Events'],
      ['docs/reference/reasons.md', 'Reasons'],
      ['charts/doorplate/README.md', 'Values of the chart'],
      ['charts/doorplate-crds/README.md', 'Chart of the kinds'],
      ['docs/reference/metrics.md', 'Metrics'],
      ['docs/reference/api.md', 'The API'],
      ['docs/reference/http-api.md', 'API operations'],
      ['docs/reference/errors.md', 'API errors'],
      ['docs/reference/kubectl-doorplate.md', 'kubectl doorplate'],
      ['docs/reference/dns-providers.md', 'DNS providers'],
      ['docs/reference/quotas.md', 'Quotas'],
      ['docs/reference/support.md', 'Tested versions'],
      ['docs/reference/versions.md', 'Versions'],
      ['docs/reference/api-policy.md', 'API policy'],
      ['docs/reference/glossary.md', 'Glossary'],
      ['CHANGELOG.md', 'Changelog'],
    ],
  },
  {
    text: 'Explanation',
    pages: [
      ['docs/explanation/concepts.md', 'Concepts'],
      ['docs/explanation/why-doorplate.md', 'Why Doorplate'],
      ['docs/explanation/lifecycle.md', 'Lifecycle of a hostname'],
      ['docs/explanation/ownership.md', 'Ownership and takeover'],
      ['docs/explanation/live.md', 'Live hostnames'],
      ['docs/explanation/redirects.md', 'Redirects and several regions'],
      ['docs/explanation/security.md', 'Security'],
      ['docs/explanation/never-asked.md', 'What we never ask you to do'],
      ['docs/explanation/scaling.md', 'Scaling'],
      ['ROADMAP.md', 'Limits and roadmap'],
      ['docs/explanation/faq.md', 'Frequently asked questions'],
    ],
  },
  {
    text: 'Community',
    pages: [
      ['SUPPORT.md', 'Support'],
      ['SECURITY.md', 'Security policy'],
      ['CODE_OF_CONDUCT.md', 'Code of conduct'],
    ],
  },
  {
    text: 'Internals',
    pages: [
      ['CONTRIBUTING.md', 'Contributing'],
      ['docs/internals/architecture.md', 'Architecture'],
      ['docs/rules.md', 'Rules'],
      ['docs/internals/guarantees.md', 'Tests of the rules'],
      ['docs/internals/performance.md', 'Performance'],
      ['operator/kube/README.md', 'The runtime kit'],
      ['operator/limits/README.md', 'The limits'],
      ['cluster/README.md', 'The local cluster'],
      ['docs/internals/decisions/README.md', 'Decision records'],
      ['docs/internals/decisions/no-webhook.md', 'Decision: no webhook'],
      ['docs/internals/decisions/runtime-kit.md', 'Decision: own runtime kit'],
      ['docs/internals/decisions/default-hostnames.md', 'Decision: hash in default hostnames'],
      ['docs/internals/decisions/claims.md', 'Decision: a claim for each hostname'],
      ['docs/internals/decisions/one-image.md', 'Decision: one image'],
    ],
  },
];

/** The pages by who reads them. Paths of the checkout, each with its title here; every page stands here once. */
export interface Section {
  /** Whose it is. */
  text: string;
  pages: readonly (readonly [path: string, title: string])[];
}

export const sections: readonly Section[] = [
  {
    text: 'The platform: install and run',
    pages: [
      ['README.md', 'What it is'],
      ['examples/kind/README.md', 'Try it with kind'],
      ['docs/install.md', 'Install'],
      ['docs/gitops-install.md', 'Install with Flux or Argo CD'],
      ['docs/first-domain.md', 'The first domain'],
      ['charts/doorplate/README.md', 'The chart'],
      ['charts/doorplate-crds/README.md', 'The chart of the kinds'],
      ['docs/ingress-classes.md', 'Ingress classes'],
      ['docs/controllers/traefik.md', 'Traefik'],
      ['docs/controllers/contour.md', 'Contour'],
      ['docs/controllers/haproxy.md', 'HAProxy'],
      ['docs/controllers/ingress-nginx.md', 'ingress-nginx'],
      ['docs/controllers/f5-nginx.md', 'F5 NGINX'],
      ['docs/controllers/gateway-api.md', 'Gateway API'],
      ['docs/clouds/eks.md', 'EKS'],
      ['docs/clouds/gke.md', 'GKE'],
      ['docs/clouds/aks.md', 'AKS'],
      ['docs/clouds/bare-metal.md', 'Bare metal'],
      ['docs/letsencrypt.md', "Let's Encrypt in production"],
      ['docs/moving.md', 'Coming from something else'],
      ['docs/quotas.md', 'How much a tenant may have'],
      ['docs/security.md', 'Threats, and what stops them'],
      ['docs/live.md', 'Live hostnames'],
      ['docs/observability.md', 'Watch it'],
      ['docs/runbooks.md', 'Runbooks'],
      ['docs/metrics.md', 'Metrics'],
      ['docs/scaling.md', 'Many domains'],
      ['docs/backup.md', 'Backup and restore'],
      ['docs/upgrade.md', 'Upgrade'],
      ['docs/versions.md', 'Versions'],
      ['docs/api-policy.md', 'API policy'],
      ['CHANGELOG.md', 'Changelog'],
      ['docs/uninstall.md', 'Uninstall'],
      ['docs/support.md', 'What was tested'],
    ],
  },
  {
    text: 'Tenants: domains in YAML',
    pages: [
      ['docs/kubectl-doorplate.md', 'kubectl doorplate'],
      ['docs/gitops.md', 'GitOps'],
      ['docs/redirects.md', 'Old URLs and several regions'],
      ['docs/dns-providers.md', 'DNS providers'],
      ['docs/never-asked.md', 'What we never ask you to do'],
      ['docs/reasons.md', 'Reasons'],
      ['docs/kinds.md', 'The kinds'],
    ],
  },
  {
    text: 'Programs: the API',
    pages: [
      ['docs/api.md', 'The API'],
      ['docs/http-api.md', 'Reference'],
      ['docs/api-keys.md', 'API keys'],
      ['docs/problems.md', 'Errors'],
      ['docs/limit-your-api.md', 'Limit your own APIs'],
    ],
  },
  {
    text: "Customers' admins: the page",
    pages: [['docs/page.md', 'The Domains page']],
  },
  {
    text: 'Internals',
    pages: [
      ['docs/architecture.md', 'Architecture'],
      ['docs/rules.md', 'The rules that never bend'],
      ['docs/guarantees.md', 'What shows that they hold'],
      ['docs/performance.md', 'Performance'],
      ['operator/kube/README.md', 'The runtime kit'],
      ['operator/limits/README.md', 'The limits'],
      ['cluster/README.md', 'The local cluster'],
      ['CONTRIBUTING.md', 'Working on it'],
      ['docs/decisions/README.md', 'Decision records'],
      ['docs/decisions/no-webhook.md', 'Decision: no webhook'],
      ['docs/decisions/runtime-kit.md', 'Decision: own runtime kit'],
      ['docs/decisions/default-hostnames.md', 'Decision: hash in default hostnames'],
      ['docs/decisions/claims.md', 'Decision: a claim for each hostname'],
      ['docs/decisions/one-image.md', 'Decision: one image'],
    ],
  },
  {
    text: 'Community',
    pages: [
      ['SUPPORT.md', 'Support'],
      ['SECURITY.md', 'Security policy'],
      ['ROADMAP.md', 'Roadmap'],
      ['CODE_OF_CONDUCT.md', 'Code of conduct'],
    ],
  },
];

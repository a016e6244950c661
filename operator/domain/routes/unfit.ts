/** Ingress controllers that cannot be the edge, whatever is written for them. */

interface Unfit {
  /** In a few words, behind "it". */
  why: string;
  /** What works in its place: a sentence. */
  instead: string;
}

const another = 'Install another ingress controller beside it, such as Traefik, and name its class.';
const balancerBefore = (balancer: string) =>
  `Let ${balancer} forward TCP to an ingress controller in the cluster, such as Traefik, and name its class.`;

/** docs.aws.amazon.com/eks/latest/userguide/auto-configure-alb.html; kubernetes-sigs/aws-load-balancer-controller, issue 3178. */
const amazon: Unfit = {
  why: 'takes certificates only from AWS Certificate Manager, not from the Secret of an Ingress',
  instead: balancerBefore('a Network Load Balancer'),
};

/** Controllers by the `spec.controller` of their IngressClass. */
const unfit = new Map<string, Unfit>([
  ['ingress.k8s.aws/alb', amazon],
  ['eks.amazonaws.com/alb', amazon],
  // cloud.google.com/kubernetes-engine/docs/concepts/ingress, "kubernetes.io/ingress.class annotation deprecation".
  [
    'k8s.io/ingress-gce',
    {
      why:
        'ignores every Ingress that names its class in spec.ingressClassName, and creates a load balancer ' +
        'with its own address for every other Ingress',
      instead: balancerBefore('a Service of the type LoadBalancer'),
    },
  ],
  // tailscale.com/docs/kubernetes-operator/reference/limitations, "Layer 7 ingress".
  [
    'tailscale.com/ts-ingress',
    {
      why: "serves only names of the tailnet, with its own certificates, and no customer's hostname",
      instead: balancerBefore('a Service of the type LoadBalancer'),
    },
  ],
  // istio.io/latest/docs/ops/integrations/certmanager; istio/istio, pilot/pkg/xds/sds.go.
  [
    'istio.io/ingress-controller',
    {
      why: "reads the Secret of an Ingress in its gateway's namespace, not in the namespace of the Ingress",
      instead: another,
    },
  ],
  // docs.nginx.com/nginx-ingress-controller/configuration/host-and-listener-collisions; nginx/kubernetes-ingress, issue 1243.
  [
    'nginx.org/ingress-controller',
    {
      why:
        "rejects the Ingress of cert-manager's solver while a route serves the same hostname, so that no certificate " +
        'can be renewed',
      instead: another,
    },
  ],
]);

/** Why the class cannot be the edge, and what works in its place, as sentences; undefined: nothing is known against it. */
export function whyUnfit(ingressClassName: string, controller: string | undefined): string | undefined {
  const found = unfit.get(controller ?? '');
  return (
    found &&
    `IngressClass ${ingressClassName} cannot be the edge: its controller (${controller}) ${found.why}. ${found.instead}`
  );
}

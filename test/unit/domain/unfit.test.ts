import {expect, test} from '@jest/globals';
import {whyUnfit} from '../../../operator/domain/routes/unfit.ts';

test.each([
  ['ingress.k8s.aws/alb', 'AWS Certificate Manager'],
  ['eks.amazonaws.com/alb', 'AWS Certificate Manager'],
  ['k8s.io/ingress-gce', 'spec.ingressClassName'],
  ['istio.io/ingress-controller', "gateway's namespace"],
  ['nginx.org/ingress-controller', 'no certificate can be renewed'],
  ['tailscale.com/ts-ingress', 'only names of the tailnet'],
])('the class of %s cannot be the edge, and it is said why and what works in its place', (controller, why) => {
  const said = whyUnfit('cloud', controller);
  expect(said).toContain(`IngressClass cloud cannot be the edge: its controller (${controller})`);
  expect(said).toContain(why);
  expect(said).toContain('such as Traefik');
});

test.each([['traefik.io/ingress-controller'], ['k8s.io/ingress-nginx'], ['unknown.example/controller'], [undefined]])(
  'the class of %s may be the edge',
  (controller) => {
    expect(whyUnfit('edge', controller)).toBeUndefined();
  },
);

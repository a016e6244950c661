import {arrow, box, group, type Picture, text} from './svg.ts';

/** A row of boxes from left to right, with an arrow between each two. */
const chain = (
  y: number,
  boxes: readonly (readonly [title: string, lines: readonly string[], tone?: 'own' | 'good' | 'warn'])[],
): string => {
  const w = 184;
  const gap = (850 - w * boxes.length) / (boxes.length - 1);
  return boxes
    .flatMap(([title, lines, tone], i) => {
      const x = 25 + i * (w + gap);
      const next = arrow([
        [x + w, y + 31],
        [x + w + gap - 2, y + 31],
      ]);
      return [box({x, y, w, h: 62}, title, lines, tone), ...(i < boxes.length - 1 ? [next] : [])];
    })
    .join('\n');
};

export const edges: Picture = {
  name: 'edges',
  label:
    'Four ways from a visitor to a project: a LoadBalancer Service with fixed addresses, a cloud load balancer with a name, a CDN in front, and several clusters with an installation each',
  width: 900,
  height: 578,
  parts: [
    group({x: 10, y: 10, w: 880, h: 126}, '1. Load balancer with fixed addresses: edge.service or edge.addresses'),
    chain(42, [
      ['Visitor', ['docs.example.com']],
      ['Service', ['type LoadBalancer']],
      ['Ingress controller', ['TLS by SNI'], 'own'],
      ['Project', ['its Service and Pods'], 'good'],
    ]),
    text(25, 124, 'DNS: docs.example.com CNAME the default hostname; *.zone A the addresses'),
    group({x: 10, y: 152, w: 880, h: 126}, '2. Cloud load balancer whose addresses change: edge.hostname'),
    chain(184, [
      ['Visitor', ['docs.example.com']],
      ['Cloud load balancer', ['known by its name'], 'warn'],
      ['Ingress controller', ['TLS by SNI'], 'own'],
      ['Project', ['its Service and Pods'], 'good'],
    ]),
    text(25, 266, 'The load balancer passes TCP on. Doorplate resolves its name again when the TTL ends.'),
    group({x: 10, y: 294, w: 880, h: 126}, '3. CDN in front of the hostname: a TXT record verifies it'),
    chain(326, [
      ['Visitor', ['docs.example.com']],
      ['The customer’s CDN', ['its own certificate'], 'warn'],
      ['Ingress controller', ['the edge: TLS by SNI'], 'own'],
      ['Project', ['its Service and Pods'], 'good'],
    ]),
    text(25, 408, 'The CDN’s origin is the default hostname, over HTTPS (Cloudflare: Full (strict)).'),
    group(
      {x: 10, y: 436, w: 880, h: 132},
      '4. Several clusters: one installation each, with its own zone, ACME account and edge',
    ),
    box({x: 25, y: 470, w: 184, h: 62}, 'Visitor', ['docs.example.com']),
    box({x: 280, y: 470, w: 270, h: 62}, 'Cluster A: Doorplate', ['zone a.example.net'], 'own'),
    box({x: 605, y: 470, w: 270, h: 62}, 'Cluster B: Doorplate', ['zone b.example.net'], 'own'),
    arrow([
      [209, 501],
      [278, 501],
    ]),
    text(25, 556, [
      'The CNAME selects one cluster. An Account is in one of them. A customer that moves changes the CNAME.',
    ]),
  ],
};

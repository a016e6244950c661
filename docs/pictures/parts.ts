import {arrow, box, type Picture, text} from './svg.ts';

export const parts: Picture = {
  name: 'parts',
  label:
    'The parts of Doorplate and their connections: a visitor reaches the edge, which serves projects and the redirector; the operator reads and writes objects in the API server, asks the customers’ DNS and probes the edge; cert-manager orders certificates',
  width: 930,
  height: 560,
  parts: [
    box({x: 20, y: 20, w: 170, h: 64}, 'Tenant', ['kubectl, Git, plugin']),
    box({x: 20, y: 150, w: 170, h: 64}, 'Programs, page', ['API key or session']),
    box({x: 20, y: 250, w: 170, h: 64}, 'api', ['keys, limits, page'], 'own'),
    box({x: 330, y: 20, w: 240, h: 164}, 'API server', [
      'Plan, Account, ApiKey',
      'Project, CustomDomain',
      'DomainClaim',
      'Certificate, Ingress',
    ]),
    box({x: 330, y: 250, w: 240, h: 64}, 'operator', ['one leads, one is on standby'], 'own'),
    box({x: 330, y: 374, w: 240, h: 64}, 'redirector', ['answers 301, 302, 307, 308'], 'own'),
    box({x: 700, y: 20, w: 180, h: 64}, 'cert-manager', ['orders, keeps the keys']),
    box({x: 700, y: 134, w: 180, h: 64}, 'ACME CA', ['checks by HTTP-01']),
    box({x: 700, y: 250, w: 180, h: 64}, 'Customers’ DNS', ['zones’ name servers']),
    box({x: 700, y: 374, w: 180, h: 64}, 'Edge', ['ingress controller']),
    box({x: 700, y: 484, w: 180, h: 56}, 'Visitor', ['a browser'], 'good'),
    box({x: 330, y: 484, w: 240, h: 56}, 'Projects', ['tenants’ Pods']),
    arrow([
      [190, 52],
      [328, 52],
    ]),
    text(259, 44, 'objects', {anchor: 'middle'}),
    arrow([
      [105, 214],
      [105, 248],
    ]),
    arrow([
      [190, 282],
      [260, 282],
      [260, 130],
      [328, 130],
    ]),
    text(252, 122, 'CustomDomains,', {anchor: 'end'}),
    text(252, 139, 'keys', {anchor: 'end'}),
    arrow([
      [410, 250],
      [410, 186],
    ]),
    text(402, 222, 'writes', {anchor: 'end'}),
    arrow([
      [490, 186],
      [490, 248],
    ]),
    text(498, 222, 'watches'),
    arrow(
      [
        [570, 52],
        [698, 52],
      ],
      {both: true},
    ),
    text(634, 44, 'Certificates', {anchor: 'middle'}),
    arrow([
      [790, 84],
      [790, 132],
    ]),
    text(798, 112, 'orders'),
    arrow([
      [570, 282],
      [698, 282],
    ]),
    text(634, 274, 'DNS checks', {anchor: 'middle'}),
    arrow([
      [550, 314],
      [550, 344],
      [740, 344],
      [740, 372],
    ]),
    text(634, 336, 'edge probes', {anchor: 'middle'}),
    arrow([
      [700, 406],
      [572, 406],
    ]),
    text(636, 398, 'redirects', {anchor: 'middle'}),
    arrow(
      [
        [330, 406],
        [290, 406],
        [290, 160],
        [328, 160],
      ],
      {dashed: true},
    ),
    text(282, 370, 'watches', {anchor: 'end'}),
    arrow([
      [790, 484],
      [790, 440],
    ]),
    text(798, 466, 'HTTPS'),
    arrow([
      [720, 438],
      [720, 462],
      [640, 462],
      [640, 512],
      [572, 512],
    ]),
    text(632, 488, 'serves', {anchor: 'end'}),
    arrow(
      [
        [880, 512],
        [912, 512],
        [912, 268],
        [882, 268],
      ],
      {dashed: true},
    ),
    text(906, 466, 'resolves', {anchor: 'end'}),
    arrow(
      [
        [880, 160],
        [892, 160],
        [892, 392],
        [882, 392],
      ],
      {dashed: true},
    ),
    text(886, 228, 'challenges', {anchor: 'end'}),
  ],
};

import {arrow, box, group, type Picture, text} from './svg.ts';

export const tenancy: Picture = {
  name: 'tenancy',
  label:
    'The objects of Doorplate: the platform writes Plans and Accounts, each Namespace belongs to an Account or is a tenant of its own, tenants write Projects and CustomDomains, and Doorplate writes a DomainClaim for each hostname',
  width: 900,
  height: 596,
  parts: [
    group({x: 10, y: 10, w: 880, h: 112}, 'Cluster-scoped, written by the platform administrator', 'warn'),
    box({x: 240, y: 44, w: 150, h: 62}, 'Account acme', ['one customer'], 'warn'),
    box({x: 480, y: 44, w: 150, h: 62}, 'Plan pro', ['limits'], 'warn'),
    box({x: 690, y: 44, w: 180, h: 62}, 'Plan free', ['the default plan'], 'warn'),
    arrow([
      [390, 75],
      [478, 75],
    ]),
    text(434, 66, 'planRef', {anchor: 'middle'}),
    group({x: 10, y: 168, w: 640, h: 262}, 'Tenant: the Account acme'),
    group({x: 26, y: 200, w: 376, h: 214}, 'Namespace acme-docs'),
    group({x: 418, y: 200, w: 216, h: 214}, 'Namespace acme-shop'),
    group({x: 670, y: 168, w: 220, h: 262}, 'Tenant: the Namespace lab'),
    arrow([
      [280, 200],
      [280, 108],
    ]),
    arrow([
      [520, 200],
      [520, 140],
      [350, 140],
      [350, 108],
    ]),
    text(532, 150, 'label doorplate.dev/account', {}),
    arrow(
      [
        [780, 168],
        [780, 108],
      ],
      {dashed: true},
    ),
    text(790, 150, 'no Account', {}),
    box({x: 42, y: 234, w: 150, h: 62}, 'Project docs', ['a published unit']),
    box({x: 236, y: 234, w: 150, h: 62}, 'Service docs', ['the program']),
    arrow([
      [192, 258],
      [234, 258],
    ]),
    text(214, 314, 'serviceRef', {anchor: 'middle'}),
    arrow(
      [
        [214, 302],
        [214, 264],
      ],
      {plain: true, dashed: true},
    ),
    box({x: 42, y: 336, w: 344, h: 62}, 'CustomDomain docs', ['primary docs.example.com, redirects']),
    arrow([
      [117, 336],
      [117, 298],
    ]),
    text(107, 321, 'projectRef', {anchor: 'end'}),
    box({x: 434, y: 234, w: 184, h: 62}, 'Project shop', ['and its Service']),
    box({x: 434, y: 336, w: 184, h: 62}, 'CustomDomain shop', ['primary shop.example.org']),
    arrow([
      [526, 336],
      [526, 298],
    ]),
    box({x: 690, y: 234, w: 180, h: 62}, 'Project lab', ['and its Service']),
    text(690, 330, ['Without an Account,', 'a Namespace is a tenant', 'of its own, known by', 'its UID.']),
    group({x: 10, y: 474, w: 880, h: 112}, '', 'own'),
    text(22, 574, 'Cluster-scoped, written by Doorplate: a DomainClaim for each hostname', {bold: true}),
    box({x: 42, y: 490, w: 260, h: 62}, 'docs.example.com', ['owner: the Account acme'], 'own'),
    box({x: 320, y: 490, w: 260, h: 62}, 'shop.example.org', ['owner: the Account acme'], 'own'),
    box({x: 598, y: 490, w: 280, h: 62}, 'lab-lab-1a2b3c4d5e6f7.apps…', ['owner: the Namespace lab'], 'own'),
    arrow([
      [172, 490],
      [172, 432],
    ]),
    arrow([
      [450, 490],
      [450, 432],
    ]),
    arrow([
      [780, 490],
      [780, 432],
    ]),
    text(182, 456, 'names its owner, the tenant'),
  ],
};

import {arrow, axis, type Picture, span, text} from './svg.ts';

const heading = (y: number, title: string): string => text(20, y, title, {bold: true, small: false});

export const ownership: Picture = {
  name: 'ownership',
  label:
    'Three time lines. Takeover: tenant B passes four checks in 10 seconds before the claim passes from tenant A. Drift: DNS misses the record at five checks in 60 minutes, then the hostname is served for 7 days. Quarantine: a removed hostname is reserved for its tenant for 30 days.',
  width: 900,
  height: 610,
  parts: [
    heading(30, 'Takeover: the owner’s record is gone, and DNS verifies tenant B'),
    text(90, 66, 'tenant A', {anchor: 'end'}),
    span(100, 620, 48, 'served: tenant A owns the claim', 'good'),
    span(620, 860, 48, 'routes are removed', 'bad'),
    text(90, 102, 'tenant B', {anchor: 'end'}),
    span(100, 620, 84, 'HostnameClaimed', 'warn'),
    span(620, 860, 84, 'owner: certificate, then Live', 'good'),
    axis(100, 870, 140, [
      [140, '0 s'],
      [236, '2 s'],
      [380, '5 s'],
      [620, '10 s'],
    ]),
    text(140, 178, ['first check:', 'A refuted'], {anchor: 'middle'}),
    text(236, 178, 'refuted', {anchor: 'middle'}),
    text(380, 178, 'refuted', {anchor: 'middle'}),
    text(620, 178, ['refuted, and B verified:', 'the claim passes'], {anchor: 'middle'}),
    text(100, 220, 'A failed query is no negative answer: tenant A then keeps the hostname.'),
    heading(262, 'Drift: DNS no longer verifies the owner, and no other tenant is verified'),
    span(100, 420, 280, 'Live', 'good'),
    span(420, 720, 280, 'served in the grace period: DNSDrifted', 'warn'),
    span(720, 860, 280, 'not served', 'bad'),
    axis(100, 870, 336, [
      [130, '0'],
      [180, '1 min'],
      [235, '5 min'],
      [310, '15 min'],
      [420, '60 min'],
      [720, '60 min + 7 days'],
    ]),
    text(275, 374, 'five checks miss the record', {anchor: 'middle'}),
    text(570, 374, 'a record that is back ends the drift', {anchor: 'middle'}),
    heading(426, 'Quarantine: tenant A removes a hostname that had a certificate'),
    span(100, 240, 444, 'Live', 'good'),
    span(240, 720, 444, 'reserved for tenant A; the certificate is retained', 'warn'),
    span(720, 860, 444, 'free', 'plain'),
    axis(100, 870, 500, [
      [240, 'removed'],
      [720, '30 days'],
    ]),
    arrow([
      [370, 556],
      [370, 502],
    ]),
    text(370, 574, ['tenant A adds it again:', 'served at once, no new order'], {anchor: 'middle'}),
    arrow([
      [650, 556],
      [650, 502],
    ]),
    text(650, 574, ['tenant B needs new verification:', 'its own CNAME, or a new TXT token'], {anchor: 'middle'}),
  ],
};

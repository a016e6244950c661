import {arrow, box, group, type Picture, text} from './svg.ts';

export const lifecycle: Picture = {
  name: 'lifecycle',
  label:
    'The phases of a hostname: NotAccepted, AwaitingVerification, Verified and Live; then Removing and the quarantine of a removed hostname',
  width: 900,
  height: 450,
  parts: [
    group({x: 10, y: 10, w: 880, h: 262}, 'The hostname is in spec'),
    box({x: 30, y: 56, w: 210, h: 70}, 'AwaitingVerification', [
      'no certificate, no route;',
      'status names the DNS record',
    ]),
    box({x: 390, y: 56, w: 180, h: 70}, 'Verified', ['certificate is ordered,', 'routes are created'], 'own'),
    box({x: 720, y: 56, w: 150, h: 70}, 'Live', ['seen at every', 'address of the edge'], 'good'),
    arrow([
      [240, 91],
      [388, 91],
    ]),
    text(315, 66, ['DNS verifies it,', ''], {anchor: 'middle'}),
    text(315, 83, 'the claim is written', {anchor: 'middle'}),
    arrow([
      [570, 91],
      [718, 91],
    ]),
    text(645, 66, 'certificate is issued,', {anchor: 'middle'}),
    text(645, 83, 'the edge presents it', {anchor: 'middle'}),
    arrow([
      [520, 126],
      [520, 156],
      [440, 156],
      [440, 128],
    ]),
    text(480, 173, ['failed, or late by 30 minutes:', 'Re-verify starts a fresh attempt'], {anchor: 'middle'}),
    arrow([
      [795, 126],
      [795, 222],
      [205, 222],
      [205, 128],
    ]),
    text(512, 241, 'DNS points elsewhere: confirmed for 60 minutes, then served for the grace period (7 days)', {
      anchor: 'middle',
    }),
    box({x: 30, y: 186, w: 150, h: 70}, 'NotAccepted', ['plan, name or project', 'does not allow it'], 'warn'),
    arrow(
      [
        [105, 128],
        [105, 184],
      ],
      {both: true},
    ),
    text(115, 152, ['refused,', 'or allowed'], {}),
    arrow([
      [450, 272],
      [450, 330],
    ]),
    text(462, 294, ['removed from spec, or its', 'CustomDomain is deleted'], {}),
    box({x: 360, y: 332, w: 180, h: 70}, 'Removing', ['routes are deleted first;', 'traffic stops at once'], 'warn'),
    box(
      {x: 670, y: 332, w: 200, h: 70},
      'In quarantine',
      ['claim: 30 days; certificate:', 'until its renewal at most'],
      'plain',
    ),
    arrow([
      [540, 367],
      [668, 367],
    ]),
    text(604, 356, 'had a certificate', {anchor: 'middle'}),
    arrow([
      [845, 332],
      [845, 274],
    ]),
    text(832, 299, ['the same tenant', 'adds it again'], {anchor: 'end'}),
    box({x: 30, y: 332, w: 180, h: 70}, 'Free', ['any tenant can add it'], 'plain'),
    arrow([
      [360, 367],
      [212, 367],
    ]),
    text(286, 356, 'never had one', {anchor: 'middle'}),
    arrow([
      [770, 402],
      [770, 430],
      [120, 430],
      [120, 404],
    ]),
    text(445, 422, 'the quarantine ends, or another tenant verifies it', {anchor: 'middle'}),
  ],
};

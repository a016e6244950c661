import {arrow, axis, type Picture, span, text} from './svg.ts';

const minutes = [0, 1, 2] as const;
const [left, wide] = [120, 150];
const at = (minute: number): number => left + minute * wide;

/** Admitted and refused requests of an impatient key within one minute. */
const minute = (index: number): string =>
  [
    span(at(index) + 6, at(index) + 36, 56, '60', 'good'),
    span(at(index) + 40, at(index) + wide - 8, 56, '200 × 429', 'bad'),
    text(at(index) + wide / 2, 106, `strike ${index + 1}`, {anchor: 'middle', bold: true}),
  ].join('\n');

export const limits: Picture = {
  name: 'limits',
  label:
    'A time line of a key with 60 requests per minute. It ignores Retry-After for three minutes, gets three strikes, and is banned for 15 minutes. A second key waits and is never banned.',
  width: 900,
  height: 420,
  parts: [
    text(20, 28, 'A key with 60 requests per minute that ignores Retry-After', {bold: true, small: false}),
    text(110, 75, 'requests', {anchor: 'end'}),
    ...minutes.map(minute),
    span(at(3) + 6, 860, 56, 'banned for 15 minutes: 429', 'bad'),
    axis(left, 870, 128, [...[0, 1, 2, 3].map((index) => [at(index), `${index} min`] as const), [860, '18 min']]),
    text(20, 190, [
      'A strike: a minute with more refused requests than twice the limit per minute, and more than 120.',
      'Refused requests in the last 20 seconds of a window do not count, because clients’ clocks may be ahead.',
      'A ban: three strikes in consecutive minutes. A minute without a strike clears the strikes.',
      'It applies to one key in one network. Each further ban is twice as long: 15, 30, 60 minutes ... up to 24 hours.',
      'A day without a ban clears the earlier bans.',
    ]),
    text(20, 302, 'A key that waits as Retry-After asks', {bold: true, small: false}),
    text(110, 345, 'requests', {anchor: 'end'}),
    ...[0, 1, 2, 3, 4].map((index) => span(at(index) + 6, at(index) + 36, 326, '60', 'good')),
    ...[0, 1, 2, 3].map((index) => span(at(index) + 40, at(index) + 80, 326, '429', 'warn')),
    ...[0, 1, 2, 3].map((index) =>
      arrow(
        [
          [at(index) + 84, 340],
          [at(index) + wide + 2, 340],
        ],
        {dashed: true},
      ),
    ),
    axis(
      left,
      870,
      378,
      [0, 1, 2, 3, 4].map((index) => [at(index), `${index} min`] as const),
    ),
    text(237, 334, 'waits', {anchor: 'middle'}),
    text(860, 345, 'never banned', {anchor: 'end', bold: true}),
  ],
};

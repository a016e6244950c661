import {expect, test} from '@jest/globals';
import {asText} from '../../../operator/observability/log.ts';

test('A line of JSON becomes one line of text: time, level, role, message and the other fields', () => {
  const line = {
    level: 'info',
    time: '2026-01-31T12:00:00.000Z',
    role: 'operator',
    hostname: 'a b',
    count: 2,
    msg: 'done',
  };
  expect(asText(JSON.stringify(line))).toBe('2026-01-31T12:00:00.000Z INFO operator done hostname="a b" count=2\n');
});

test('A line break of a user in a message or in a field starts no line', () => {
  const line = {level: 'warn', time: 't', role: 'api', host: 'x\nERROR y', msg: 'one\ntwo'};
  expect(asText(JSON.stringify(line))).toBe('t WARN api one\\ntwo host="x\\nERROR y"\n');
});

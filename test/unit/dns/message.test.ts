import {describe, expect, test} from '@jest/globals';
import * as fc from 'fast-check';
import * as packet from 'dns-packet';
import {MOST_RECORDS, decodeMessage, encodeQuestion, responseId} from '../../../operator/dns/message.ts';
import {record, reply, soa, txt} from './fake-servers.ts';

const asked = {
  id: 7,
  name: 'docs.example.com',
  type: 'A',
  recursionDesired: false,
  checkingDisabled: false,
  edns: true,
  overTcp: false,
};

describe('A reply', () => {
  test('is decoded into canonical text', () => {
    const message = decodeMessage(
      reply(asked, {
        answers: [
          record('Docs.Example.Com', 'CNAME', 'Host.Platform.Test'),
          record('host.platform.test', 'A', '192.0.2.7'),
          record('host.platform.test', 'AAAA', '2001:0DB8:0:0:0:0:0:1'),
          {name: 'docs.example.com', type: 'TXT', ttl: 5, data: ['two ', 'strings']},
          {name: 'docs.example.com', type: 'MX', ttl: 5, data: {preference: 1, exchange: 'mail.example.com'}},
        ],
        authorities: [soa('example.com', 300, 60)],
        additionals: [
          {
            type: 'OPT',
            name: '.',
            udpPayloadSize: 1232,
            extendedRcode: 1,
            ednsVersion: 0,
            flags: 0,
            flag_do: false,
            options: [],
          },
        ],
      }),
    );
    expect(message).toEqual({
      id: 7,
      question: {name: 'docs.example.com', type: 'A'},
      rcode: 16,
      aa: true,
      truncated: false,
      answers: [
        {name: 'docs.example.com', type: 'CNAME', ttlSeconds: 300, data: 'host.platform.test'},
        {name: 'host.platform.test', type: 'A', ttlSeconds: 300, data: '192.0.2.7'},
        {name: 'host.platform.test', type: 'AAAA', ttlSeconds: 300, data: '2001:db8::1'},
        {name: 'docs.example.com', type: 'TXT', ttlSeconds: 5, data: 'two strings'},
        {name: 'docs.example.com', type: 'MX', ttlSeconds: 5, data: ''},
      ],
      authority: [
        {name: 'example.com', type: 'SOA', ttlSeconds: 300, data: 'ns.example.com admin.example.com 1 60 60 60 60'},
      ],
      additional: [],
    });
  });

  test('loses records of other classes, and a TTL that is none', () => {
    const message = decodeMessage(
      reply(asked, {
        answers: [
          {name: 'docs.example.com', type: 'A', class: 'CH', data: '192.0.2.1'},
          {name: 'docs.example.com', type: 'A', ttl: 0xffffffff, data: '192.0.2.2'},
        ],
      }),
    );
    expect(message.answers).toEqual([{name: 'docs.example.com', type: 'A', ttlSeconds: 0, data: '192.0.2.2'}]);
  });

  test('has its character-strings of one TXT joined, octet by octet (RFC 7208, 3.3)', () => {
    const both = Buffer.from('ü');
    const message = decodeMessage(
      reply(asked, {
        answers: [
          txt('docs.example.com', both.subarray(0, 1), both.subarray(1)),
          txt('docs.example.com', ''),
          txt('docs.example.com', 'a\0"b', '\x1b'),
        ],
      }),
    );
    expect(message.answers.map(({data}) => data)).toEqual(['ü', '', 'a\0"b\x1b']);
  });

  test('is decoded up to its hundredth record, over all sections', () => {
    const a = Array.from({length: 60}, () => record('docs.example.com', 'A', '192.0.2.1'));
    const message = decodeMessage(reply(asked, {answers: a, authorities: a, additionals: a}));
    expect([message.answers.length, message.authority.length, message.additional.length]).toEqual([60, 40, 0]);
  });

  test.each([
    ['a query', encodeQuestion(7, {name: 'example.com', type: 'A'}, {recursionDesired: true, edns: true})],
    ['eleven bytes', Buffer.alloc(11, 0x80)],
    [
      'two questions',
      packet.encode({
        type: 'response',
        id: 7,
        questions: [
          {name: 'a', type: 'A'},
          {name: 'b', type: 'A'},
        ],
      }),
    ],
    ['a promise of records that do not come', Buffer.from('000784000001ffffffffffff', 'hex')],
    ['a name that points to itself', Buffer.from('000784000000000100000000c00c00010001000000050004c0000201', 'hex')],
  ])('that is %s throws', (_, bytes) => {
    expect(() => decodeMessage(bytes)).toThrow(Error);
  });
});

describe('The decoder', () => {
  const honest = reply(asked, {
    answers: [
      record('docs.example.com', 'CNAME', 'host.platform.test'),
      record('host.platform.test', 'A', '192.0.2.7'),
    ],
    authorities: [soa('example.com', 300, 60), record('example.com', 'NS', 'ns.example.com')],
    additionals: [
      {
        type: 'OPT',
        name: '.',
        udpPayloadSize: 1232,
        extendedRcode: 0,
        ednsVersion: 0,
        flags: 0,
        flag_do: false,
        options: [],
      },
    ],
  });

  test('gives a bounded message or throws an Error, for any bytes behind a header', () => {
    fc.assert(
      fc.property(fc.uint8Array({maxLength: 4096}), (bytes) => expectBounded(withHeader(Buffer.from(bytes)))),
      {numRuns: 3000},
    );
  });

  test('gives a bounded message or throws an Error, for an honest reply with some bytes changed, added or lost', () => {
    const changes = fc.array(fc.tuple(fc.nat(honest.length - 1), fc.nat(255)), {minLength: 1, maxLength: 8});
    fc.assert(
      fc.property(changes, fc.uint8Array({maxLength: 64}), fc.nat(honest.length), (changed, added, cut) => {
        const bytes = Buffer.concat([honest.subarray(0, cut < 12 ? honest.length : cut), added]);
        for (const [at, octet] of changed) if (at < bytes.length) bytes[at] = octet;
        expectBounded(bytes);
      }),
      {numRuns: 5000},
    );
  });

  test('ends within a quarter of a second on 64 KB of compression pointers that many names follow', () => {
    // A record of an unknown type full of pointers, each to the one before it; then as many names as fit, all at the last of them.
    const head = Buffer.from('000784000000ffff0000000000ff010001000000050000', 'hex');
    const first = head.length;
    // A pointer reaches 14 bits far.
    const pointers = Buffer.alloc(0x3ffe - first);
    head.writeUInt16BE(pointers.length, first - 2);
    // The first points to a zero octet in the header: the root.
    pointers.writeUInt16BE(0xc000 | 8, 0);
    for (let at = 2; at + 1 < pointers.length; at += 2) pointers.writeUInt16BE(0xc000 | (first + at - 2), at);
    const last = first + pointers.length - 2 - (pointers.length % 2);
    const name = Buffer.from([0xc0 | (last >> 8), last & 0xff, 0, 1, 0, 1, 0, 0, 0, 5, 0, 4, 192, 0, 2, 1]);
    const names = Math.floor((65_535 - first - pointers.length) / name.length);
    head.writeUInt16BE(names + 1, 6);
    const bytes = Buffer.concat([head, pointers, ...Array.from({length: names}, () => name)]);
    expect(decodeMessage(bytes).answers.at(-1)).toEqual({name: '', type: 'A', ttlSeconds: 5, data: '192.0.2.1'});
    // The best of some: a busy machine keeps one waiting, not all.
    const took = Array.from({length: 10}, () => {
      const began = performance.now();
      expectBounded(bytes);
      return performance.now() - began;
    });
    expect(Math.min(...took)).toBeLessThan(250);
  });
});

/** Either a message within its bounds, or an Error: nothing else may come out. */
function expectBounded(bytes: Buffer): void {
  const outcome = attempt(() => decodeMessage(bytes));
  const isBounded =
    'answers' in outcome
      ? outcome.answers.length + outcome.authority.length + outcome.additional.length <= MOST_RECORDS &&
        outcome.id === responseId(bytes)
      : Object.prototype.toString.call(outcome) === '[object Error]';
  expect(isBounded).toBe(true);
}

function attempt<T>(work: () => T): T | Error {
  try {
    return work();
  } catch (error) {
    return error as Error;
  }
}

/** Makes a response of one question out of any bytes. */
function withHeader(rest: Buffer): Buffer {
  return Buffer.concat([Buffer.from('000784000001000300020002', 'hex'), rest]);
}

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
  authenticity: false,
  edns: true,
  overTcp: false,
};

/** A CAA record with these octets as its data. */
const caa = (data: Buffer): packet.Answer => ({name: 'example.com', type: 'UNKNOWN_257' as 'NULL', ttl: 5, data});
/** An HTTPS record with these bytes as its data, in hexadecimal. */
const httpsRecord = (hex: string): packet.Answer => ({
  name: 'example.com',
  type: 'UNKNOWN_65' as 'NULL',
  ttl: 5,
  data: Buffer.from(hex.replaceAll(' ', ''), 'hex'),
});

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
      ad: false,
      cut: false,
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

  test.each<[string, string, object]>([
    ['for the name itself', '0001 00', {to: '', hints: []}],
    [
      'with hints of both families',
      '0001 00 0001 0003 026832 0004 0008 C6336407 C6336408 0006 0010 20010DB8000000000000000000000007',
      {to: '', hints: ['198.51.100.7', '198.51.100.8', '2001:db8::7']},
    ],
    ['for another name', '0000 03 4F6C64 07 6578616D706C65 00', {to: 'old.example', hints: []}],
    ['whose name has a blank', '0000 03 6F2064 00', {to: 'o\\032d', hints: []}],
    ['with a port', '0001 00 0003 0002 20FB', {to: '', port: 8443, hints: []}],
    ['whose hint ends too soon', '0001 00 0004 0003 C63364', {to: '', hints: []}],
  ])('has an HTTPS record %s read (RFC 9460, 2.2)', (_, hex, https) => {
    expect(decodeMessage(reply(asked, {answers: [httpsRecord(hex)]})).answers).toEqual([
      {name: 'example.com', type: 'HTTPS', ttlSeconds: 5, data: '', https},
    ]);
  });

  test.each(['0001', '0001 05 6F6C', '0001 C00C', '0001 00 0004', '0001 00 0004 0008 C6336407'])(
    'has an HTTPS record that is malformed all the same: %s',
    (hex) => {
      expect(decodeMessage(reply(asked, {answers: [httpsRecord(hex)]})).answers).toEqual([
        {name: 'example.com', type: 'HTTPS', ttlSeconds: 5, data: ''},
      ]);
    },
  );

  test('has its CAA records read octet by octet: a tag that is no word is none', () => {
    const issue = caa(Buffer.from('\x80\x05ISSUEca.example; a=1', 'latin1'));
    const odd = caa(Buffer.from('\x00\x08issue x.ca.example', 'latin1'));
    const message = decodeMessage(reply(asked, {answers: [issue, odd], authorities: [issue]}));
    expect(message.answers.map(({data}) => data)).toEqual(['128 issue ca.example; a=1', '0 issue\\032x. ca.example']);
    expect(message.authority.map(({data}) => data)).toEqual(['']);
    expect(() => decodeMessage(reply(asked, {answers: [caa(Buffer.from('\x00\x06issue')), issue]}))).toThrow(
      'shorter than its tag',
    );
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

/** A record of this type, its owner the root. */
const rootRecord = (type: number, data: Buffer) =>
  Buffer.concat([
    Buffer.from([0, type >> 8, type & 0xff, 0, 1, 0, 0, 0, 5, data.length >> 8, data.length & 0xff]),
    data,
  ]);
const answering = (...records: Buffer[]) => {
  const head = Buffer.from('000784000000000000000000', 'hex');
  head.writeUInt16BE(records.length, 6);
  return Buffer.concat([head, ...records]);
};

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

  /** Every record points to the last of many pointers, each of which points to the one before it; the first to the root. */
  function pointers(count: number, records: number): Buffer {
    const first = 12 + 11;
    const chain = Buffer.alloc(2 * count);
    chain.writeUInt16BE(0xc000 | 8, 0);
    for (let at = 2; at < chain.length; at += 2) chain.writeUInt16BE(0xc000 | (first + at - 2), at);
    const last = first + chain.length - 2;
    const a = Buffer.from([0xc0 | (last >> 8), last & 0xff, 0, 1, 0, 1, 0, 0, 0, 5, 0, 4, 192, 0, 2, 1]);
    return answering(rootRecord(65_000, chain), ...Array.from({length: records}, () => a));
  }
  /** A hundred NS records, owners and servers of so many labels each. */
  function labels(each: number): Buffer {
    const name = Buffer.concat([...Array.from({length: each}, () => Buffer.from([1, 97])), Buffer.alloc(1)]);
    const ns = Buffer.from([0, 2, 0, 1, 0, 0, 0, 5, name.length >> 8, name.length & 0xff]);
    return answering(...Array.from({length: 100}, () => Buffer.concat([name, ns, name])));
  }

  test.each([
    ['a hundred NS records of thirty labels', labels(30)],
    [
      'a TXT record of 64 KB',
      answering(rootRecord(16, Buffer.alloc(254 * 255, Buffer.concat([Buffer.from([254]), Buffer.alloc(254)])))),
    ],
    ['options of EDNS, 64 KB of them', answering(rootRecord(41, Buffer.alloc(65_000)))],
    ['a few pointers that lead to pointers', pointers(20, 99)],
  ])('reads %s', (_, bytes) => {
    expect(decodeMessage(bytes).rcode).toBe(0);
  });

  test.each([
    ['16 KB of pointers that every name follows', pointers(8000, 99)],
    ['a hundred NS records of a hundred labels', labels(100)],
    ['a TXT record of 64,000 empty strings', answering(rootRecord(16, Buffer.alloc(64_000)))],
    [
      'pointers in a circle',
      answering(Buffer.concat([Buffer.from([0xc0, 12]), rootRecord(1, Buffer.alloc(4)).subarray(1)])),
    ],
  ])('does not read %s: it takes too long', (_, bytes) => {
    expect(() => decodeMessage(bytes)).toThrow('takes too long to read');
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

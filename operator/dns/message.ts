/**
 * One DNS message to bytes and back (RFC 1035, 6891), by `dns-packet`.
 *
 * Replies are written by strangers. The codec is pure JavaScript and follows compression pointers as far as they go, so the
 * work is bounded before it starts: by the packet's size (the caller's), and by the number of records decoded.
 */
import {SocketAddress} from 'node:net';
import * as packet from 'dns-packet';
import {canonicalName, isAskable} from './names.ts';

export interface Question {
  name: string;
  type: 'A' | 'AAAA' | 'CAA' | 'CNAME' | 'NS' | 'SOA' | 'TXT';
}

/** A record in canonical text: names lower case without trailing dot, addresses in their shortest form, SOA as its seven fields, CAA as flags, tag and value, TXT as its character-strings joined (as RFC 7208, 3.3 does). */
export interface Record_ {
  name: string;
  type: string;
  ttlSeconds: number;
  data: string;
}

export interface Message {
  id: number;
  question: {name: string; type: string} | undefined;
  /** Numeric, EDNS's upper bits included. */
  rcode: number;
  aa: boolean;
  truncated: boolean;
  answers: Record_[];
  authority: Record_[];
  additional: Record_[];
}

/** What a DNS server may send us over UDP without fragments (DNS Flag Day 2020). */
export const EDNS_UDP_SIZE = 1232;
/** Records of a reply that are looked at; what follows is as if not sent. */
export const MOST_RECORDS = 100;

const HEADER_SIZE = 12;
const RESPONSE_BIT = 0x80;

/** A query of one question; `checkingDisabled` asks a resolver not to validate (RFC 4035, 3.2.2). Throws when the name is none. */
export function encodeQuestion(
  id: number,
  question: Question,
  opts: {recursionDesired: boolean; edns: boolean; checkingDisabled?: boolean},
): Buffer {
  const name = canonicalName(question.name);
  if (!isAskable(name)) throw new Error(`not a DNS name: ${name.slice(0, 80)}`);
  return packet.encode({
    type: 'query',
    id,
    flags:
      (opts.recursionDesired ? packet.RECURSION_DESIRED : 0) | (opts.checkingDisabled ? packet.CHECKING_DISABLED : 0),
    questions: [{name: name === '' ? '.' : name, type: question.type, class: 'IN'}],
    additionals: opts.edns
      ? [
          {
            type: 'OPT',
            name: '.',
            udpPayloadSize: EDNS_UDP_SIZE,
            extendedRcode: 0,
            ednsVersion: 0,
            flags: 0,
            flag_do: false,
            options: [],
          },
        ]
      : [],
  });
}

/** The id that a packet claims, before anything else of it is believed; undefined where it isn't even a response. */
export function responseId(bytes: Buffer): number | undefined {
  if (bytes.length < HEADER_SIZE || !(bytes.readUInt8(2) & RESPONSE_BIT)) return undefined;
  return bytes.readUInt16BE(0);
}

/** Decodes a response. Throws on anything that isn't one, on more than one question, and on what the codec can't read. */
export function decodeMessage(bytes: Buffer): Message {
  const id = responseId(bytes);
  if (id === undefined) throw new Error('not a DNS response');
  if (bytes.readUInt16BE(4) > 1) throw new Error('more than one question');
  const decoded = packet.decode(withFewRecords(bytes));
  const question = decoded.questions?.[0];
  const additionals = decoded.additionals ?? [];
  const opt = additionals.find((record) => record.type === 'OPT');
  return {
    id,
    question: question && {name: canonicalName(question.name), type: String(question.type)},
    rcode: (bytes.readUInt8(3) & 0x0f) | ((opt?.extendedRcode ?? 0) << 4),
    aa: decoded.flag_aa,
    truncated: decoded.flag_tc,
    answers: records(decoded.answers),
    authority: records(decoded.authorities),
    additional: records(additionals),
  };
}

/** The same packet, its header saying at most MOST_RECORDS records. Sections follow one another, so cutting the tail is sound. */
function withFewRecords(bytes: Buffer): Buffer {
  const bounded = Buffer.from(bytes);
  let left = MOST_RECORDS;
  for (const offset of [6, 8, 10]) {
    const count = Math.min(bounded.readUInt16BE(offset), left);
    bounded.writeUInt16BE(count, offset);
    left -= count;
  }
  return bounded;
}

function records(answers: packet.Answer[] | undefined): Record_[] {
  return (answers ?? []).flatMap((answer) => {
    if (answer.type === 'OPT' || answer.class !== 'IN' || answer.flush) return [];
    return [
      {
        name: canonicalName(answer.name),
        type: String(answer.type),
        ttlSeconds: ttl(answer.ttl),
        data: canonicalData(answer),
      },
    ];
  });
}

/** A TTL with the top bit set counts as 0 (RFC 2181, 8). */
function ttl(seconds: number | undefined): number {
  return seconds === undefined || seconds > 0x7fffffff ? 0 : seconds;
}

function canonicalData(answer: Exclude<packet.Answer, packet.OptAnswer>): string {
  switch (answer.type) {
    case 'A':
      return answer.data;
    case 'AAAA':
      return new SocketAddress({address: answer.data, family: 'ipv6'}).address;
    case 'CNAME':
    case 'DNAME':
    case 'NS':
      return canonicalName(answer.data);
    case 'SOA': {
      const {mname, rname, serial, refresh, retry, expire, minimum} = answer.data;
      return [canonicalName(mname), canonicalName(rname), serial, refresh, retry, expire, minimum].join(' ');
    }
    case 'CAA':
      return `${answer.data.flags ?? 0} ${answer.data.tag} ${answer.data.value}`;
    case 'TXT':
      return Buffer.concat([answer.data].flat().map((part) => Buffer.from(part))).toString();
    default:
      return '';
  }
}

/**
 * Encodes and decodes a DNS message (RFC 1035, 6891), using `dns-packet`.
 *
 * Replies are written by strangers. The codec is pure JavaScript and follows compression pointers as far as they go, so the
 * work is bounded before it starts: by the packet's size (the caller's), by the number of records decoded, and by the labels,
 * pointers and strings in them. Records of types that nobody here looks at are not decoded.
 */
import {SocketAddress} from 'node:net';
import * as packet from 'dns-packet';
import {canonicalName, isAskable, lowerCase, printableOctets} from './names.ts';

export interface WireQuestion {
  name: string;
  type: 'A' | 'AAAA' | 'CAA' | 'CNAME' | 'NS' | 'SOA' | 'TXT';
}

/**
 * A record in canonical text: names lower case without trailing dot, addresses in their shortest form, SOA as its seven fields,
 * CAA as flags, tag (lower case, as {@link printableOctets}) and value, TXT as its character-strings joined (as RFC 7208, 3.3 does).
 */
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
  /** The resolver vouches for it: it has validated (RFC 4035, 3.2.3). */
  ad: boolean;
  /** Its answers were more than MOST_RECORDS: those behind were not read. */
  cut: boolean;
  answers: Record_[];
  authority: Record_[];
  additional: Record_[];
}

/** Largest UDP answer without fragments, in bytes (DNS Flag Day 2020). */
export const EDNS_UDP_SIZE = 1232;
/** Number of records of a reply that are read. Further records are ignored. */
export const MOST_RECORDS = 100;

/**
 * Most labels, pointers and character-strings in a reply. A reply with more is not decoded. A hundred NS records of ten labels each have
 * two thousand, a TXT record of 64 KB has 257.
 */
export const MOST_STEPS = 8_000;

const HEADER_SIZE = 12;
/** Position of the number of answers in the header. */
const ANSWER_COUNT = 6;
/** Of the header's third octet. */
const RESPONSE_BIT = 0x80;
const TRUNCATED_BIT = 0x02;

/** A query of one question; `checkingDisabled` asks a resolver not to validate (RFC 4035, 3.2.2). Throws when the name is none. */
export function encodeQuestion(
  id: number,
  question: WireQuestion,
  opts: {recursionDesired: boolean; edns: boolean; checkingDisabled?: boolean},
): Buffer {
  const name = canonicalName(question.name);
  if (!isAskable(name)) throw new Error(`not a DNS name: ${name.slice(0, 80)}`);
  return packet.encode({
    type: 'query',
    id,
    // AD in a question asks for AD in the reply (RFC 6840, 5.7).
    flags:
      (opts.recursionDesired ? packet.RECURSION_DESIRED | packet.AUTHENTIC_DATA : 0) |
      (opts.checkingDisabled ? packet.CHECKING_DISABLED : 0),
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
  const {packet: few, answerData, extendedRcode} = bounded(bytes);
  const decoded = packet.decode(few);
  const question = decoded.questions?.[0];
  return {
    id,
    question: question && {name: canonicalName(question.name), type: String(question.type)},
    rcode: (bytes.readUInt8(3) & 0x0f) | (extendedRcode << 4),
    aa: decoded.flag_aa,
    truncated: decoded.flag_tc,
    ad: decoded.flag_ad,
    cut: bytes.readUInt16BE(ANSWER_COUNT) > MOST_RECORDS,
    answers: records(decoded.answers, answerData),
    authority: records(decoded.authorities),
    additional: records(decoded.additionals),
  };
}

/** Parts of a record's data that take steps to read, by the number of its type. Other types are not read. */
const READ: Readonly<Record<number, {names: number; strings?: true}>> = {
  1: {names: 0}, // A
  2: {names: 1}, // NS
  5: {names: 1}, // CNAME
  6: {names: 2}, // SOA
  16: {names: 0, strings: true}, // TXT
  28: {names: 0}, // AAAA
  39: {names: 1}, // DNAME
  257: {names: 0}, // CAA
};
const OPT = 41;
/** For private use (RFC 6895, 3.1): the codec leaves the data as it is. */
const UNREAD = 65_535;

interface Bounded {
  /**
   * The same packet, with MOST_RECORDS records at most, and none where it is truncated: that may end within one (RFC 2181, 9).
   * Sections follow one another, so cutting the tail is sound.
   */
  packet: Buffer;
  /** The RDATA of the answers, in their order. */
  answerData: Buffer[];
  /** EDNS's upper bits of the rcode (RFC 6891, 6.1.3). */
  extendedRcode: number;
}

/** Bounds what is to be decoded. Throws where the packet ends too soon, and where it takes more than MOST_STEPS. */
function bounded(bytes: Buffer): Bounded {
  const few = Buffer.from(bytes);
  const steps = new Steps(bytes);
  const most = bytes.readUInt8(2) & TRUNCATED_BIT ? 0 : MOST_RECORDS;
  let left = most;
  for (const section of [ANSWER_COUNT, 8, 10]) {
    const count = Math.min(few.readUInt16BE(section), left);
    few.writeUInt16BE(count, section);
    left -= count;
  }
  const answerData: Buffer[] = [];
  let extendedRcode = 0;
  let offset = bytes.readUInt16BE(4) === 1 ? steps.name(HEADER_SIZE) + 4 : HEADER_SIZE;
  for (let i = 0; i < most - left; i++) {
    const type = steps.name(offset);
    const [read, data] = [READ[bytes.readUInt16BE(type)], type + 10];
    if (bytes.readUInt16BE(type) === OPT) extendedRcode ||= bytes.readUInt8(type + 4);
    if (!read) few.writeUInt16BE(UNREAD, type);
    offset = data + bytes.readUInt16BE(type + 8);
    for (let n = 0, at = data; n < (read?.names ?? 0); n++) at = steps.name(at);
    if (read?.strings) steps.strings(data, offset);
    if (i < few.readUInt16BE(ANSWER_COUNT)) answerData.push(bytes.subarray(data, offset));
  }
  return {packet: few, answerData, extendedRcode};
}

/** Goes through a packet as the codec will, and throws where that is too far. */
class Steps {
  readonly #bytes: Buffer;
  #left = MOST_STEPS;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  /** The offset behind a name: labels up to the empty one, or to a pointer, which ends it (RFC 1035, 4.1.4). */
  name(offset: number): number {
    let behind: number | undefined;
    for (let at = offset; ;) {
      this.#step();
      const length = this.#bytes[at];
      if (length === undefined) throw new Error('it ends within a name');
      if (length === 0) return behind ?? at + 1;
      if (length >= 0xc0) behind ??= at + 2;
      at = length >= 0xc0 ? this.#bytes.readUInt16BE(at) & 0x3fff : at + 1 + length;
    }
  }

  /** Character-strings, one after the other (RFC 1035, 3.3). */
  strings(offset: number, end: number): void {
    for (let at = offset; at < end; at += 1 + (this.#bytes[at] ?? 0)) this.#step();
  }

  #step(): void {
    if (this.#left-- <= 0) throw new Error('it takes too long to read');
  }
}

/** `data`: the RDATA of each. Without it CAA records are not read: beside an answer nobody wants them. */
function records(answers: packet.Answer[] | undefined, data?: Buffer[]): Record_[] {
  return (answers ?? []).flatMap((answer, i) => {
    if (answer.type === 'OPT' || answer.class !== 'IN' || answer.flush) return [];
    const text = answer.type === 'CAA' && data ? caaText(data[i]!) : canonicalData(answer);
    return [{name: canonicalName(answer.name), type: typeOf(answer), ttlSeconds: ttl(answer.ttl), data: text}];
  });
}

/**
 * Of a CAA record (RFC 8659, 4.1). Not by the codec, which reads a tag that is longer than its record on into the next one: that
 * throws here. A record of flags alone has an empty tag (as miekg/dns has it, by which Let's Encrypt reads); one without them throws.
 */
function caaText(data: Buffer): string {
  const [flags = 0, length = 0] = data;
  if (data.length === 0 || (data.length > 1 && data.length < 2 + length))
    throw new Error('a CAA record that is shorter than its tag');
  return `${flags} ${printableOctets(lowerCase(data.toString('utf8', 2, 2 + length)))} ${data.toString('utf8', 2 + length)}`;
}

const typeOf = ({type}: packet.Answer) => (type.startsWith('UNKNOWN_') ? 'UNKNOWN' : type);

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
    case 'TXT':
      return Buffer.concat([answer.data].flat().map((part) => Buffer.from(part))).toString();
    default:
      return '';
  }
}

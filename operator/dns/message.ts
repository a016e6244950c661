/**
 * Encodes and decodes one DNS message (RFC 1035, 6891), using `dns-packet`.
 *
 * Replies come from untrusted servers. The codec is pure JavaScript and follows compression pointers without a limit. So the work
 * is limited before decoding: by packet size (checked by the caller), by the number of records, and by their labels, pointers and
 * strings. Records of unused types are not decoded.
 */
import {SocketAddress} from 'node:net';
import * as packet from 'dns-packet';
import {canonicalName, isAskable, lowerCase, printableOctets} from './names.ts';

export interface WireQuestion {
  name: string;
  type: 'A' | 'AAAA' | 'CAA' | 'CNAME' | 'DNAME' | 'HTTPS' | 'MX' | 'NS' | 'SOA' | 'SRV' | 'TXT';
}

/**
 * A record in canonical text:
 * - Names are lower case without trailing dot.
 * - Addresses are in their shortest form.
 * - SOA has its seven fields.
 * - CAA has flags, tag (lower case, as {@link printableOctets}) and value.
 * - TXT has its character-strings joined (as RFC 7208, 3.3 does).
 * - Other types have no data; HTTPS has `https`.
 */
export interface Record_ {
  name: string;
  type: string;
  ttlSeconds: number;
  data: string;
  /** Of an HTTPS record that can be read. */
  https?: HttpsData;
}

/** What an HTTPS record says about where to connect (RFC 9460): its TargetName, '' for the name itself, port and address hints. */
export interface HttpsData {
  to: string;
  port?: number;
  hints: string[];
}

export interface Message {
  id: number;
  question: {name: string; type: string} | undefined;
  /** Numeric code, including EDNS's upper bits. */
  rcode: number;
  aa: boolean;
  truncated: boolean;
  /** The resolver has validated the answer (RFC 4035, 3.2.3). */
  ad: boolean;
  /** The reply has more than MOST_RECORDS answers; later answers were not read. */
  cut: boolean;
  answers: Record_[];
  authority: Record_[];
  additional: Record_[];
}

/** Largest UDP reply that a DNS server may send us without fragments (DNS Flag Day 2020). */
export const EDNS_UDP_SIZE = 1232;
/** Maximum number of records read from a reply; later records are ignored. */
export const MOST_RECORDS = 100;

/**
 * Maximum number of labels, pointers and character-strings in a reply; longer replies are not decoded. A hundred NS records of ten
 * labels each take two thousand steps; a TXT record of 64 KB takes 257.
 */
export const MOST_STEPS = 8_000;

const HEADER_SIZE = 12;
/** Offset of the answer count in the header. */
const ANSWER_COUNT = 6;
/** Bits of the header's third byte. */
const RESPONSE_BIT = 0x80;
const TRUNCATED_BIT = 0x02;

/**
 * Encodes a query with one question. `checkingDisabled` asks a resolver not to validate (RFC 4035, 3.2.2). Throws when the name is
 * not a valid DNS name.
 */
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
    // AD in a question requests AD in the reply (RFC 6840, 5.7).
    flags:
      (opts.recursionDesired ? packet.RECURSION_DESIRED | packet.AUTHENTIC_DATA : 0) |
      (opts.checkingDisabled ? packet.CHECKING_DISABLED : 0),
    questions: [{name: name === '' ? '.' : name, type: codecType(question.type), class: 'IN'}],
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

/** HTTPS (RFC 9460) is newer than the codec. */
const HTTPS = 65;
const codecType = (type: WireQuestion['type']) =>
  type === 'HTTPS' ? (`UNKNOWN_${HTTPS}` as unknown as packet.RecordType) : type;

/** The id in a packet, read before anything else is trusted. Undefined if the packet is not a response. */
export function responseId(bytes: Buffer): number | undefined {
  if (bytes.length < HEADER_SIZE || !(bytes.readUInt8(2) & RESPONSE_BIT)) return undefined;
  return bytes.readUInt16BE(0);
}

/** Decodes a response. Throws if the packet is not a response, has more than one question, or cannot be read by the codec. */
export function decodeMessage(bytes: Buffer): Message {
  const id = responseId(bytes);
  if (id === undefined) throw new Error('not a DNS response');
  if (bytes.readUInt16BE(4) > 1) throw new Error('more than one question');
  const {packet: few, answerData, answerTypes, extendedRcode} = bounded(bytes);
  const decoded = packet.decode(few);
  const question = decoded.questions?.[0];
  return {
    id,
    question: question && {name: canonicalName(question.name), type: typeOf(question)},
    rcode: (bytes.readUInt8(3) & 0x0f) | (extendedRcode << 4),
    aa: decoded.flag_aa,
    truncated: decoded.flag_tc,
    ad: decoded.flag_ad,
    cut: bytes.readUInt16BE(ANSWER_COUNT) > MOST_RECORDS,
    answers: records(decoded.answers, {data: answerData, types: answerTypes}),
    authority: records(decoded.authorities),
    additional: records(decoded.additionals),
  };
}

/** By type number: the names and strings in a record's data that take steps to read. Data of other types is not read. */
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
/** Types whose data the codec does not read. */
const PRESENCE: Readonly<Record<number, string>> = {15: 'MX', 33: 'SRV', [HTTPS]: 'HTTPS'};
const OPT = 41;
/** A type for private use (RFC 6895, 3.1): the codec leaves its data undecoded. */
const UNREAD = 65_535;

interface Bounded {
  /**
   * The same packet with at most MOST_RECORDS records. A truncated packet keeps no records, because it may end within one (RFC
   * 2181, 9). Sections follow one another, so cutting the end is safe.
   */
  packet: Buffer;
  /** The answers' RDATA, in order. */
  answerData: Buffer[];
  /** The answers' type numbers, in order. */
  answerTypes: number[];
  /** EDNS's upper bits of the rcode (RFC 6891, 6.1.3). */
  extendedRcode: number;
}

/** Limits the data to decode. Throws if the packet ends too soon or takes more than MOST_STEPS. */
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
  const answerTypes: number[] = [];
  let extendedRcode = 0;
  let offset = bytes.readUInt16BE(4) === 1 ? steps.name(HEADER_SIZE) + 4 : HEADER_SIZE;
  for (let i = 0; i < most - left; i++) {
    const type = steps.name(offset);
    const number = bytes.readUInt16BE(type);
    const [read, data] = [READ[number], type + 10];
    if (number === OPT) extendedRcode ||= bytes.readUInt8(type + 4);
    if (!read) few.writeUInt16BE(UNREAD, type);
    offset = data + bytes.readUInt16BE(type + 8);
    for (let n = 0, at = data; n < (read?.names ?? 0); n++) at = steps.name(at);
    if (read?.strings) steps.strings(data, offset);
    if (i < few.readUInt16BE(ANSWER_COUNT)) {
      answerData.push(bytes.subarray(data, offset));
      answerTypes.push(number);
    }
  }
  return {packet: few, answerData, answerTypes, extendedRcode};
}

/** Walks through a packet as the codec will, and throws after MOST_STEPS steps. */
class Steps {
  readonly #bytes: Buffer;
  #left = MOST_STEPS;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  /** The offset behind a name. A name ends at an empty label or at a pointer (RFC 1035, 4.1.4). */
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

  /** Counts consecutive character-strings (RFC 1035, 3.3). */
  strings(offset: number, end: number): void {
    for (let at = offset; at < end; at += 1 + (this.#bytes[at] ?? 0)) this.#step();
  }

  #step(): void {
    if (this.#left-- <= 0) throw new Error('it takes too long to read');
  }
}

/** `raw`: RDATA and type number of each record, of the answer section. Only there CAA records and {@link PRESENCE} are read. */
function records(answers: packet.Answer[] | undefined, raw?: {data: Buffer[]; types: number[]}): Record_[] {
  return (answers ?? []).flatMap((answer, i) => {
    if (answer.type === 'OPT' || answer.class !== 'IN' || answer.flush) return [];
    const text = answer.type === 'CAA' && raw ? caaText(raw.data[i]!) : canonicalData(answer);
    const type = PRESENCE[raw?.types[i] ?? 0] ?? typeOf(answer);
    const https = type === 'HTTPS' && raw ? httpsData(raw.data[i]!) : undefined;
    return [{name: canonicalName(answer.name), type, ttlSeconds: ttl(answer.ttl), data: text, ...(https && {https})}];
  });
}

/** Keys of parameters (RFC 9460, 14.3.2). */
const PORT = 3;
/** Keys of address hints, with the bytes of an address. */
const hintSizes = new Map([
  [4, 4],
  [6, 16],
]);

/**
 * Reads an HTTPS record (RFC 9460, 2.2): priority, uncompressed TargetName, parameters (key, length, value). Undefined if that is
 * malformed: the record still exists.
 */
function httpsData(data: Buffer): HttpsData | undefined {
  try {
    return parseHttps(data);
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

/** Throws a RangeError if the record ends too soon. */
function parseHttps(data: Buffer): HttpsData {
  const labels: string[] = [];
  let at = 2;
  for (let length = data.readUInt8(at++); length > 0; length = data.readUInt8(at++)) {
    if (at + length > data.length) throw new RangeError('an HTTPS record that is shorter than its name');
    labels.push(data.toString('latin1', at, at + length));
    at += length;
  }
  const hints: string[] = [];
  let port: number | undefined;
  while (at < data.length) {
    const key = data.readUInt16BE(at);
    const size = hintSizes.get(key) ?? Infinity;
    const end = at + 4 + data.readUInt16BE(at + 2);
    if (end > data.length) throw new RangeError('an HTTPS record that is shorter than its parameters');
    for (at += 4; at + size <= end; at += size) hints.push(addressIn(data.subarray(at, at + size)));
    if (key === PORT) port = data.readUInt16BE(end - 2);
    at = end;
  }
  return {to: canonicalName(labels.join('.')), ...(port !== undefined && {port}), hints};
}

/** An address of 4 or 16 bytes in its shortest form. */
function addressIn(bytes: Buffer): string {
  if (bytes.length === 4) return bytes.join('.');
  const groups = Array.from({length: 8}, (_, i) => bytes.readUInt16BE(2 * i).toString(16));
  return new SocketAddress({address: groups.join(':'), family: 'ipv6'}).address;
}

/**
 * Reads a CAA record (RFC 8659, 4.1) without the codec, which reads an overlong tag on into the next record. Such a record throws
 * here. A record with flags only has an empty tag (as in miekg/dns, which Let's Encrypt uses). A record without flags throws.
 */
function caaText(data: Buffer): string {
  const [flags = 0, length = 0] = data;
  if (data.length === 0 || (data.length > 1 && data.length < 2 + length))
    throw new Error('a CAA record that is shorter than its tag');
  return `${flags} ${printableOctets(lowerCase(data.toString('utf8', 2, 2 + length)))} ${data.toString('utf8', 2 + length)}`;
}

const typeOf = ({type = ''}: {type?: string}) =>
  type === `UNKNOWN_${HTTPS}` ? 'HTTPS' : type.startsWith('UNKNOWN_') ? 'UNKNOWN' : type;

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

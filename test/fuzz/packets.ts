/**
 * Packets as nobody should send them: random bytes behind a header, honest replies of every type with bytes changed, moved, lost or
 * doubled, and nests of compression pointers. Repeatable: a seed gives the same packets. Each goes through the decoder, and what
 * comes of it through the reading of findings.
 */
import * as packet from 'dns-packet';
import {read} from '../../operator/dns/finding.ts';
import {MOST_RECORDS, decodeMessage, responseId} from '../../operator/dns/message.ts';
import type {Message} from '../../operator/dns/message.ts';

export interface FuzzFigures {
  packets: number;
  decoded: number;
  refused: number;
  bytes: number;
  seconds: number;
  /** CPU time of the costliest packet, and its size in bytes. */
  slowestMs: number;
  slowestBytes: number;
  /** Characters of the largest message that came out. */
  largestText: number;
  /** What must not be, at most ten: the packet as hex, and what it did. */
  faults: string[];
}

/** A packet may cost so much CPU time, on any machine that runs this. */
const mostMs = 250;
/** A hundred records of a name and two names in their data, every octet of them written as `\DDD` thrice (U+FFFD); or 64 KB of TXT. */
const mostText = MOST_RECORDS * 3 * 255 * 12 + 65_536 * 3;

/** Sends `packets` packets; `onProgress` is called now and then. */
export function fuzz({
  packets,
  seed,
  onProgress,
}: {
  packets: number;
  seed: number;
  onProgress?: (done: number) => void;
}): FuzzFigures {
  const random = randomFrom(seed);
  const honest = honestReplies();
  const figures: FuzzFigures = {
    packets,
    decoded: 0,
    refused: 0,
    bytes: 0,
    seconds: 0,
    slowestMs: 0,
    slowestBytes: 0,
    largestText: 0,
    faults: [],
  };
  const began = performance.now();
  for (let i = 0; i < packets; i++) {
    const bytes = makers[below(random, makers.length)]!(random, honest);
    figures.bytes += bytes.length;
    const before = process.threadCpuUsage();
    const outcome = attempt(bytes);
    const used = process.threadCpuUsage(before);
    const ms = (used.user + used.system) / 1000;
    if (ms > figures.slowestMs) [figures.slowestMs, figures.slowestBytes] = [ms, bytes.length];
    const fault = ms > mostMs ? `took ${ms} ms` : faultOf(outcome, bytes, figures);
    if (fault !== undefined && figures.faults.length < 10)
      figures.faults.push(
        `${fault}: ${bytes.subarray(0, 300).toString('hex')}${bytes.length > 300 ? `... (${bytes.length} bytes)` : ''}`,
      );
    if (onProgress && i % 50_000 === 49_999) onProgress(i + 1);
  }
  figures.seconds = (performance.now() - began) / 1000;
  return figures;
}

function attempt(bytes: Buffer): {message: Message} | {thrown: unknown} {
  try {
    return {message: decodeMessage(bytes)};
  } catch (thrown) {
    return {thrown};
  }
}

/** What is wrong with an outcome; counts it otherwise. */
function faultOf(
  outcome: {message: Message} | {thrown: unknown},
  bytes: Buffer,
  figures: FuzzFigures,
): string | undefined {
  if ('thrown' in outcome) {
    figures.refused++;
    // Not instanceof: under jest Node's own errors are of another realm.
    return Object.prototype.toString.call(outcome.thrown) === '[object Error]'
      ? undefined
      : `threw ${String(outcome.thrown)}`;
  }
  figures.decoded++;
  const {message} = outcome;
  const records = [...message.answers, ...message.authority, ...message.additional];
  if (records.length > MOST_RECORDS) return `gave ${records.length} records`;
  if (message.id !== responseId(bytes)) return 'has another id';
  const text = records.reduce(
    (sum, {name, data}) => sum + name.length + data.length,
    message.question?.name.length ?? 0,
  );
  figures.largestText = Math.max(figures.largestText, text);
  if (text > mostText) return `gave ${text} characters`;
  if (
    records.some(
      ({name, type, data}) =>
        /[^\x21-\x7e]/.test(name) || (type !== 'TXT' && type !== 'CAA' && /[^\x20-\x7e]/.test(data)),
    )
  )
    return 'gave a name or data that is not printable';
  try {
    const server = {address: '192.0.2.53', port: 53};
    const name = message.question?.name ?? 'docs.example.com';
    for (const authoritative of [true, false]) {
      const found = read(name, {...message, kind: 'Answer', server, rcode: 'NOERROR'}, {authoritative, wanted: 'TXT'});
      if (found.chain.length > 8) return `gave a chain of ${found.chain.length}`;
    }
  } catch (error) {
    return `could not be read: ${String(error)}`;
  }
  return undefined;
}

// --- packets

type Random = () => number;
type Maker = (random: Random, honest: readonly Buffer[]) => Buffer;

/** mulberry32: 32 bits of state, good enough to be different. */
function randomFrom(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let x = Math.imul(state ^ (state >>> 15), 1 | state);
    x = (x + Math.imul(x ^ (x >>> 7), 61 | x)) ^ x;
    return ((x ^ (x >>> 14)) >>> 0) / 2 ** 32;
  };
}

const below = (random: Random, n: number) => Math.floor(random() * n);
const pick = <T>(random: Random, of: readonly T[]): T => of[below(random, of.length)]!;

/** Mostly what UDP carries; now and then what only TCP can. */
const sizeOf = (random: Random) => (below(random, 1000) === 0 ? below(random, 65_536) : below(random, 512));

function noise(random: Random, size: number): Buffer {
  const bytes = Buffer.allocUnsafe(size);
  for (let i = 0; i < size; i++) bytes[i] = below(random, 256);
  return bytes;
}

/** The header of a response, its counts small or absurd. */
function header(random: Random): Buffer {
  const bytes = Buffer.from([below(random, 256), below(random, 256), 0x84, 0, 0, below(random, 2), 0, 0, 0, 0, 0, 0]);
  for (const at of [6, 8, 10])
    bytes.writeUInt16BE(below(random, 4) === 0 ? below(random, 65_536) : below(random, 6), at);
  return bytes;
}

const makers: readonly Maker[] = [
  (random) => noise(random, sizeOf(random)),
  (random) => Buffer.concat([header(random), noise(random, sizeOf(random))]),
  pointers,
  (random, honest) => cut(random, pick(random, honest)),
  (random, honest) => changed(random, pick(random, honest), 1),
  (random, honest) => changed(random, pick(random, honest), 1 + below(random, 8)),
  (random, honest) => changed(random, pick(random, honest), 1 + below(random, 64)),
  (random, honest) => spliced(random, pick(random, honest), pick(random, honest)),
  (random, honest) => counted(random, pick(random, honest)),
  (random, honest) => pointed(random, pick(random, honest)),
];

function cut(random: Random, bytes: Buffer): Buffer {
  return Buffer.from(bytes.subarray(0, below(random, bytes.length + 1)));
}

function changed(random: Random, bytes: Buffer, times: number): Buffer {
  const out = Buffer.from(bytes);
  for (let i = 0; i < times; i++)
    out[below(random, out.length)] =
      below(random, 3) === 0 ? pick(random, [0, 1, 0x3f, 0x40, 0x7f, 0x80, 0xc0, 0xff]) : below(random, 256);
  // Mostly a response still: else the first look would end it.
  if (below(random, 10) > 0) out[2] = out[2]! | 0x80;
  return out;
}

function spliced(random: Random, one: Buffer, other: Buffer): Buffer {
  const at = 12 + below(random, Math.max(1, one.length - 12));
  return Buffer.concat([
    one.subarray(0, at),
    other.subarray(below(random, other.length)),
    below(random, 4) === 0 ? noise(random, sizeOf(random)) : Buffer.alloc(0),
  ]);
}

function counted(random: Random, bytes: Buffer): Buffer {
  const out = Buffer.from(bytes);
  out.writeUInt16BE(pick(random, [0, 1, 2, 99, 100, 101, 0x7fff, 0xffff]), pick(random, [4, 6, 8, 10]));
  return out;
}

/** A compression pointer to somewhere put over two octets. */
function pointed(random: Random, bytes: Buffer): Buffer {
  const out = Buffer.from(bytes);
  for (let i = 0; i <= below(random, 4); i++) {
    const at = 12 + below(random, Math.max(1, out.length - 14));
    if (at + 2 <= out.length) out.writeUInt16BE(0xc000 | below(random, Math.min(out.length + 4, 0x4000)), at);
  }
  return out;
}

/** Names that are chains of pointers, to the one before, to themselves, to the one after; and records that use them. */
function pointers(random: Random): Buffer {
  const length = 2 + 2 * below(random, below(random, 200) === 0 ? 8000 : 60);
  const body = Buffer.alloc(length);
  const step = pick(random, [-2, -2, -2, 0, 2, -4]);
  for (let at = 0; at + 1 < length; at += 2) body.writeUInt16BE(0xc000 | ((12 + at + step) & 0x3fff), at);
  if (below(random, 2) === 0) body[0] = 0;
  const record = Buffer.from([
    0xc0 | (((12 + length - 2) >> 8) & 0x3f),
    (12 + length - 2) & 0xff,
    0,
    pick(random, [1, 2, 5, 6, 16]),
    0,
    1,
    0,
    0,
    0,
    5,
    0,
    2,
    0xc0,
    12,
  ]);
  const bytes = Buffer.concat([header(random), body, ...Array.from({length: below(random, 20)}, () => record)]);
  bytes.writeUInt16BE(0, 4);
  return bytes;
}

/** Replies of every type that the codec knows, small and large. */
function honestReplies(): Buffer[] {
  const name = 'docs.example.com';
  const soa: packet.Answer = {
    name: 'example.com',
    type: 'SOA',
    ttl: 300,
    data: {
      mname: 'ns.example.com',
      rname: 'admin.example.com',
      serial: 1,
      refresh: 60,
      retry: 60,
      expire: 60,
      minimum: 60,
    },
  };
  const opt: packet.Answer = {
    type: 'OPT',
    name: '.',
    udpPayloadSize: 1232,
    extendedRcode: 0,
    ednsVersion: 0,
    flags: 0,
    flag_do: true,
    options: [
      {code: 'CLIENT_SUBNET', ip: '192.0.2.0', sourcePrefixLength: 24},
      {code: 12, data: Buffer.alloc(20)},
    ],
  } as packet.Answer;
  const data: [string, unknown][] = [
    ['A', '192.0.2.7'],
    ['AAAA', '2001:db8::7'],
    ['CNAME', 'host.apps.platform.test'],
    ['DNAME', 'other.example.net'],
    ['NS', 'ns1.example.com'],
    ['PTR', 'host.example.com'],
    ['TXT', ['k3v9x2m4q7w1zk3v9x2m4q7w1z', 'second']],
    ['TXT', Array.from({length: 40}, () => 'x'.repeat(255))],
    ['CAA', {flags: 128, tag: 'issue', value: 'ca1.example.net; validationmethods=http-01'}],
    ['MX', {preference: 10, exchange: 'mail.example.com'}],
    ['SRV', {priority: 1, weight: 2, port: 443, target: 'host.example.com'}],
    ['HINFO', {cpu: 'x', os: 'y'}],
    ['DNSKEY', {flags: 257, algorithm: 13, key: Buffer.alloc(64, 7)}],
    ['DS', {keyTag: 1, algorithm: 13, digestType: 2, digest: Buffer.alloc(32, 7)}],
    [
      'RRSIG',
      {
        typeCovered: 'A',
        algorithm: 13,
        labels: 3,
        originalTTL: 300,
        expiration: 1,
        inception: 1,
        keyTag: 1,
        signersName: 'example.com',
        signature: Buffer.alloc(64, 7),
      },
    ],
    ['NSEC', {nextDomain: 'next.example.com', rrtypes: ['A', 'CAA', 'RRSIG']}],
    [
      'NSEC3',
      {
        algorithm: 1,
        flags: 0,
        iterations: 1,
        salt: Buffer.alloc(4),
        nextDomain: Buffer.alloc(20),
        rrtypes: ['A', 'TXT'],
      },
    ],
    ['RP', {mbox: 'admin.example.com', txt: 'x.example.com'}],
    ['SSHFP', {algorithm: 1, hash: 2, fingerprint: 'ab'.repeat(32)}],
    ['TLSA', {usage: 3, selector: 1, matchingType: 1, certificate: Buffer.alloc(32)}],
    ['NAPTR', {order: 1, preference: 1, flags: 'S', services: 'x', regexp: 'y', replacement: 'example.com'}],
    ['UNKNOWN_65280', Buffer.alloc(30, 1)],
  ];
  const replies = data.map(([type, value]) =>
    packet.encode({
      type: 'response',
      id: 7,
      flags: packet.AUTHORITATIVE_ANSWER,
      questions: [{name, type: 'A'}],
      answers: [
        {name, type: 'CNAME', ttl: 300, data: 'host.apps.platform.test'},
        {name, type, ttl: 300, data: value} as packet.Answer,
      ],
      authorities: [soa],
      additionals: [opt],
    }),
  );
  return [...replies, ...replies.map(compressed)];
}

/** Every record's name after the question's a pointer to it, as servers write it. */
function compressed(bytes: Buffer): Buffer {
  const end = bytes.indexOf(0, 12) + 1;
  const name = bytes.subarray(12, end);
  const parts: Buffer[] = [bytes.subarray(0, end)];
  let from = end;
  for (let at = bytes.indexOf(name, end); at >= 0; at = bytes.indexOf(name, from)) {
    parts.push(bytes.subarray(from, at), Buffer.from([0xc0, 12]));
    from = at + name.length;
  }
  return Buffer.concat([...parts, bytes.subarray(from)]);
}

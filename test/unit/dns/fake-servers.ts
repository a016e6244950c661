/** Fake DNS servers for the faults that no real server shows on demand. On loopback, UDP and TCP on one port. */
import {createSocket} from 'node:dgram';
import type {Socket as UdpSocket} from 'node:dgram';
import {once} from 'node:events';
import {createServer, isIPv6} from 'node:net';
import type {AddressInfo, Server as TcpServer, Socket} from 'node:net';
import * as packet from 'dns-packet';
import type {DnsServer} from '../../../operator/dns/wire.ts';

export interface Asked {
  id: number;
  name: string;
  type: string;
  recursionDesired: boolean;
  checkingDisabled: boolean;
  /** AD in the question: the resolver shall say whether it has validated. */
  authenticity: boolean;
  edns: boolean;
  overTcp: boolean;
}

/** Messages to send, in order; none for silence. */
export type Behaviour = (asked: Asked) => Buffer[];

export type OnTcp = (socket: Socket, asked: Asked) => unknown;

export interface FakeServer extends DnsServer {
  /** Everything it was asked, in order. */
  asked: Asked[];
  /** Resolves once no client holds a TCP connection. */
  hungUp(): Promise<void>;
  close(): Promise<void>;
}

/** `onTcp` replaces the behaviour over TCP, for manners that are no messages. */
export async function fakeServer(
  behaviour: Behaviour,
  opts: {address?: string; port?: number; onTcp?: OnTcp | undefined} = {},
): Promise<FakeServer> {
  const address = opts.address ?? '127.0.0.1';
  const asked: Asked[] = [];
  const sockets = new Set<Socket>();
  const tcp = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => sockets.delete(socket));
    socket.on('data', (chunk) => {
      const query = readQuery(chunk.subarray(2), true);
      asked.push(query);
      if (opts.onTcp) return void opts.onTcp(socket, query);
      for (const message of behaviour(query)) {
        const length = Buffer.alloc(2);
        length.writeUInt16BE(message.length);
        socket.write(Buffer.concat([length, message]));
      }
    });
  });
  const udp = createSocket(isIPv6(address) ? 'udp6' : 'udp4');
  udp.on('message', (bytes, from) => {
    const query = readQuery(bytes, false);
    asked.push(query);
    for (const message of behaviour(query)) udp.send(message, from.port, from.address);
  });
  const port = await listenOnBoth(tcp, udp, {...opts, address});
  return {
    address,
    port,
    asked,
    async hungUp() {
      while (sockets.size > 0) await new Promise((resolve) => setTimeout(resolve, 5));
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      await Promise.all([
        new Promise<void>((resolve) => udp.close(resolve)),
        new Promise((resolve) => tcp.close(resolve)),
      ]);
    },
  };
}

/** On one port: another one where some process has that of UDP, unless it is to be this one. */
async function listenOnBoth(tcp: TcpServer, udp: UdpSocket, wanted: {address: string; port?: number}): Promise<number> {
  for (;;) {
    tcp.listen(wanted.port ?? 0, wanted.address);
    await once(tcp, 'listening');
    const {port} = tcp.address() as AddressInfo;
    try {
      udp.bind(port, wanted.address);
      await once(udp, 'listening');
      return port;
    } catch (error) {
      await new Promise((resolve) => tcp.close(resolve));
      if (wanted.port !== undefined || (error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
    }
  }
}

function readQuery(bytes: Buffer, overTcp: boolean): Asked {
  const query = packet.decode(bytes);
  const question = query.questions![0]!;
  return {
    id: query.id!,
    name: question.name,
    type: question.type,
    recursionDesired: query.flag_rd,
    checkingDisabled: query.flag_cd,
    authenticity: query.flag_ad,
    edns: (query.additionals ?? []).some(({type}) => type === 'OPT'),
    overTcp,
  };
}

export interface Parts {
  aa?: boolean;
  /** It has validated. */
  ad?: boolean;
  truncated?: boolean;
  rcode?: number;
  answers?: packet.Answer[];
  authorities?: packet.Answer[];
  additionals?: packet.Answer[];
  /** Instead of the question that was asked. */
  question?: packet.Question | null;
  id?: number;
}

/** A well-formed reply to `asked`. */
export function reply(asked: Asked, parts: Parts): Buffer {
  const question =
    parts.question === undefined ? {name: asked.name, type: asked.type as packet.RecordType} : parts.question;
  return packet.encode({
    type: 'response',
    id: parts.id ?? asked.id,
    flags:
      ((parts.aa ?? true) ? packet.AUTHORITATIVE_ANSWER : 0) |
      (parts.ad ? packet.AUTHENTIC_DATA : 0) |
      (parts.truncated ? packet.TRUNCATED_RESPONSE : 0) |
      (parts.rcode ?? 0),
    questions: question ? [question] : [],
    answers: parts.answers ?? [],
    authorities: parts.authorities ?? [],
    additionals: parts.additionals ?? [],
  });
}

export function record(
  name: string,
  type: 'A' | 'AAAA' | 'CNAME' | 'NS',
  data: string,
  ttl = 300,
): packet.StringAnswer {
  return {name, type, ttl, data};
}

/** Its character-strings as they are. */
export function txt(name: string, ...strings: (string | Buffer)[]): packet.Answer {
  return {name, type: 'TXT', ttl: 300, data: strings.map((string) => Buffer.from(string))};
}

export function soa(name: string, ttl: number, minimum: number): packet.SoaAnswer {
  return {
    name,
    type: 'SOA',
    ttl,
    data: {mname: `ns.${name}`, rname: `admin.${name}`, serial: 1, refresh: 60, retry: 60, expire: 60, minimum},
  };
}

/** The object without one of its properties. */
export function without<T extends object, K extends keyof T>(object: T, key: K): Omit<T, K> {
  const copy = {...object};
  delete copy[key];
  return copy;
}

/**
 * Real DNS servers on loopback: NSD or CoreDNS for zones, Debian's unbound as recursive resolvers, zones signed by BIND's tools. Each
 * has an address of its own; all share one port, since a referral carries none.
 */
import {execFile, spawn} from 'node:child_process';
import type {ChildProcess} from 'node:child_process';
import {access, mkdir, mkdtemp, readFile, readdir, rename, rm, writeFile} from 'node:fs/promises';
import {homedir, tmpdir} from 'node:os';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {promisify} from 'node:util';
import {freePort} from '../support/free-ports.ts';
import {childrenOf, isAlive} from '../support/processes.ts';
import {ask} from '../../operator/dns/wire.ts';
import type {DnsServer} from '../../operator/dns/wire.ts';

const run = promisify(execFile);
const coredns = join(process.env['DOORPLATE_CACHE'] ?? join(homedir(), '.cache', 'doorplate'), 'bin', 'coredns');

/**
 * The authoritative server. NSD implements RFC 1034 and RFC 4592 in full. CoreDNS answers by a wildcard record although names exist
 * between the wildcard and the name that is asked for.
 */
export type Authoritative = 'NSD' | 'CoreDNS';

/** A zone as an authoritative server has it. */
export interface ZoneInput {
  /** Where it is served. */
  at: readonly string[];
  /** Lines of a zone file, relative to the zone; NS among them. */
  records: readonly string[];
  /** TTL of all records and of "there is none". Default 900 s. */
  ttlSeconds?: number;
  /** Signed; `BrokenDs`: its parent vouches for another key. `Expired`: its signatures are over. */
  signed?: 'Well' | 'BrokenDs' | 'Expired';
}

export interface ResolverInput {
  address: string;
  /** Whether it validates. */
  validates: boolean;
}

/**
 * Processes of NSD that answer: the children of its only child. A reload starts a new one, and the former one may answer once more after
 * the first answer of the new one.
 */
const answering = (nsd: number | undefined) => (nsd === undefined ? [] : childrenOf(nsd).flatMap(childrenOf));

const depth = (key: string) => key.replace(/@.*/, '').split('.').length;

export class Servers {
  readonly folder: string;
  readonly port: number;
  readonly #processes: ChildProcess[] = [];
  readonly #zones: Readonly<Record<string, ZoneInput>>;
  /** NSD's process at each address. It reads changed zone files after a SIGHUP. */
  readonly #nsds = new Map<string, ChildProcess>();
  #serial = 1;

  private constructor(folder: string, port: number, zones: Readonly<Record<string, ZoneInput>>) {
    this.folder = folder;
    this.port = port;
    this.#zones = zones;
  }

  /**
   * Serves `zones`, of which `anchor` is signed and trusted by the resolvers that validate; a zone served at several addresses may
   * be written as `zone@address` for one of them. Resolves when all answer.
   */
  static async start(
    zones: Readonly<Record<string, ZoneInput>>,
    anchor: string,
    resolvers: readonly ResolverInput[],
    authoritative: Authoritative,
  ): Promise<Servers> {
    await run(fileURLToPath(new URL('install.sh', import.meta.url)));
    const servers = new Servers(await mkdtemp(join(tmpdir(), 'doorplate-dns-')), await freePort(), zones);
    try {
      // The deepest first: a parent takes up what its children hand it (dsset files).
      for (const key of Object.keys(zones).toSorted((a, b) => depth(b) - depth(a)))
        await servers.write(key, zones[key]!.records);
      await (authoritative === 'NSD' ? servers.#startNsd() : servers.#startCoredns());
      const anchors = (await readdir(servers.folder)).filter((name) => name === `K${anchor}.ksk`);
      const keys = await Promise.all(anchors.map((name) => readFile(join(servers.folder, name), 'utf8')));
      await Promise.all(resolvers.map((resolver) => servers.#startUnbound(resolver, keys)));
    } catch (error) {
      await servers.stop();
      throw error;
    }
    return servers;
  }

  at = (address: string): DnsServer => ({address, port: this.port});

  async stop(): Promise<void> {
    await Promise.all(
      this.#processes.map(
        (child) =>
          new Promise<void>((resolve) => {
            if (child.exitCode !== null || child.signalCode !== null) return resolve();
            child.once('exit', () => resolve());
            child.kill('SIGKILL');
          }),
      ),
    );
    await rm(this.folder, {recursive: true, force: true});
  }

  /** Gives a zone (`zone` or `zone@address`) exactly these records; in effect a moment later, see {@link serves}. */
  async write(key: string, records: readonly string[]): Promise<number> {
    const [zone = ''] = key.split('@');
    const {signed, ttlSeconds = 900} = this.#zones[key]!;
    const serial = ++this.#serial;
    const file = join(this.folder, `db.${key}`);
    const text = [
      `$ORIGIN ${zone}.`,
      `$TTL ${ttlSeconds}`,
      `@ IN SOA ns1.test. hostmaster.test. ${serial} 3600 600 86400 ${ttlSeconds}`,
      ...records,
      '',
    ].join('\n');
    await writeFile(`${file}.new`, text);
    if (signed) await this.#sign(zone, `${file}.new`, signed);
    await rename(`${file}.new`, file);
    for (const address of this.#zones[key]!.at) this.#nsds.get(address)?.kill('SIGHUP');
    return serial;
  }

  /** Writes a zone and waits until its servers have it, and no process answers with the former zone. */
  async change(key: string, records: readonly string[]): Promise<void> {
    const former = this.#zones[key]!.at.flatMap((address) => answering(this.#nsds.get(address)?.pid));
    const serial = await this.write(key, records);
    const [zone = ''] = key.split('@');
    await Promise.all([
      this.#until(`the end of former processes for ${key}`, () => Promise.resolve(!former.some(isAlive))),
      ...this.#zones[key]!.at.map((address) =>
        this.#until(`${key} ${serial}`, async () => {
          const reply = await ask(
            this.at(address),
            {name: zone, type: 'SOA'},
            {recursionDesired: false, timeoutMs: 500},
          );
          return reply.kind === 'Answer' && reply.answers.some(({data}) => data.split(' ')[2] === String(serial));
        }),
      ),
    ]);
  }

  async #sign(zone: string, file: string, how: NonNullable<ZoneInput['signed']>): Promise<void> {
    const keys = join(this.folder, `keys.${zone}`);
    const made = await mkdir(keys, {recursive: true});
    if (made !== undefined) {
      const {stdout} = await run('dnssec-keygen', ['-q', '-K', keys, '-a', 'ECDSAP256SHA256', '-f', 'KSK', zone]);
      await run('dnssec-keygen', ['-q', '-K', keys, '-a', 'ECDSAP256SHA256', zone]);
      await writeFile(
        join(this.folder, `K${zone}.ksk`),
        (await readFile(join(keys, `${stdout.trim()}.key`), 'utf8')).replaceAll(/^;.*\n/gm, ''),
      );
    }
    // -P: the signer would find out itself.
    const times = how === 'Expired' ? ['-P', '-s', '20200101000000', '-e', '20200201000000'] : [];
    // -g: DS records of the children that have handed in theirs.
    await run(
      'dnssec-signzone',
      ['-q', '-S', '-g', '-K', keys, '-d', this.folder, '-o', zone, ...times, '-f', `${file}.signed`, file],
      {cwd: this.folder},
    );
    await rename(`${file}.signed`, file);
    if (how !== 'BrokenDs') return;
    const dsset = join(this.folder, `dsset-${zone}.`);
    await writeFile(
      dsset,
      (await readFile(dsset, 'utf8')).replaceAll(/[0-9A-F](?=\s*$)/gm, (digit) => (digit === '0' ? '1' : '0')),
    );
  }

  async #startNsd(): Promise<void> {
    const addresses = new Set(Object.values(this.#zones).flatMap(({at}) => at));
    await Promise.all([...addresses].map((address) => this.#startNsdAt(address)));
  }

  async #startNsdAt(address: string): Promise<void> {
    const keys = Object.keys(this.#zones).filter((key) => this.#zones[key]!.at.includes(address));
    const own = join(this.folder, `nsd.${address}`);
    await mkdir(own);
    await writeFile(
      `${own}.conf`,
      [
        'server:',
        `  ip-address: ${address}@${this.port}`,
        '  server-count: 1',
        '  username: ""',
        '  chroot: ""',
        '  pidfile: ""',
        '  database: ""',
        `  zonesdir: "${this.folder}"`,
        `  zonelistfile: "${own}/zone.list"`,
        `  xfrdfile: "${own}/xfrd.state"`,
        `  xfrdir: "${own}"`,
        '  rrl-ratelimit: 0',
        'remote-control:',
        '  control-enable: no',
        ...keys.flatMap((key) => ['zone:', `  name: "${key.split('@')[0]}"`, `  zonefile: "db.${key}"`]),
        '',
      ].join('\n'),
    );
    this.#nsds.set(address, this.#spawn('/usr/sbin/nsd', ['-d', '-c', `${own}.conf`]));
    await Promise.all(keys.map((key) => this.#answers(address, key.split('@')[0]!, false)));
  }

  async #startCoredns(): Promise<void> {
    await access(coredns).catch(() => {
      throw new Error(`${coredns} is missing: run \`make tools\``);
    });
    const blocks = Object.entries(this.#zones).flatMap(([key, {at}]) =>
      at.map(
        (address) =>
          `${key.split('@')[0]}:${this.port} {\n bind ${address}\n file ${join(this.folder, `db.${key}`)} {\n  reload 50ms\n }\n}`,
      ),
    );
    const corefile = join(this.folder, 'Corefile');
    await writeFile(corefile, blocks.join('\n'));
    this.#spawn(coredns, ['-conf', corefile]);
    await Promise.all(
      Object.entries(this.#zones).flatMap(([key, {at}]) =>
        at.map((address) => this.#answers(address, key.split('@')[0]!, false)),
      ),
    );
  }

  async #startUnbound({address, validates}: ResolverInput, anchors: readonly string[]): Promise<void> {
    const stubs = new Map<string, Set<string>>();
    for (const [key, {at}] of Object.entries(this.#zones)) {
      const [zone = ''] = key.split('@');
      stubs.set(zone, (stubs.get(zone) ?? new Set()).union(new Set(at)));
    }
    const file = join(this.folder, `unbound.${address}.conf`);
    await writeFile(
      file,
      [
        'server:',
        `  interface: ${address}`,
        `  port: ${this.port}`,
        // Questions without RD, too: some delegations name a resolver.
        '  access-control: 127.0.0.0/8 allow_snoop',
        `  directory: "${this.folder}"`,
        '  chroot: ""',
        '  username: ""',
        '  pidfile: ""',
        '  use-syslog: no',
        '  logfile: ""',
        '  do-daemonize: no',
        '  num-threads: 1',
        '  do-not-query-localhost: no',
        '  local-zone: "test." nodefault',
        // What it has found broken it does not keep, so that a test sees what is mended.
        '  val-bogus-ttl: 0',
        '  infra-cache-max-rtt: 1000',
        `  module-config: "${validates ? 'validator ' : ''}iterator"`,
        ...(validates
          ? anchors.map((key) => `  trust-anchor: ${JSON.stringify(key.trim()).replaceAll('\\t', ' ')}`)
          : []),
        'remote-control:',
        '  control-enable: no',
        ...[...stubs].flatMap(([zone, addresses]) => [
          'stub-zone:',
          `  name: "${zone}."`,
          '  stub-prime: no',
          ...[...addresses].map((a) => `  stub-addr: ${a}@${this.port}`),
        ]),
        '',
      ].join('\n'),
    );
    this.#spawn('/usr/sbin/unbound', ['-d', '-c', file]);
    await this.#answers(address, 'test', true);
  }

  #spawn(command: string, args: string[]): ChildProcess {
    const child = spawn(command, args, {stdio: process.env['DNS_LOG'] ? 'inherit' : 'ignore'});
    this.#processes.push(child);
    return child;
  }

  #answers(address: string, zone: string, recursionDesired: boolean): Promise<void> {
    return this.#until(
      `${zone} at ${address}`,
      async () =>
        (await ask(this.at(address), {name: zone, type: 'SOA'}, {recursionDesired, timeoutMs: 300})).kind === 'Answer',
    );
  }

  async #until(what: string, holds: () => Promise<boolean>): Promise<void> {
    const end = performance.now() + 15_000;
    while (!(await holds())) {
      if (performance.now() > end) throw new Error(`no answer in time: ${what}`);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
}

import {randomBytes} from 'node:crypto';
import type {Answer, RecordType, StringAnswer} from 'dns-packet';
import type {Asked, FakeServer, Parts} from '../unit/dns/fake-servers.ts';
import {fakeServer, record, reply, soa} from '../unit/dns/fake-servers.ts';

const noSuchName = 3;
const zoneOf = (name: string) => name.split('.').slice(-2).join('.');

/**
 * A fake: one server on loopback that resolves for everybody and has all zones itself, each of two labels. What real
 * servers do is in test/dns; here records change at once, because the test plays the customer. `platformZone`: every
 * name below it has an address.
 */
export class StandInDns {
  /** Port 53 at an address of its own: referrals carry no port. */
  readonly address: string;
  readonly #platformZone: string;
  readonly #records = new Map<string, Answer[]>();
  readonly #lagging = new Set<string>();
  readonly #silent = new Set<string>();
  readonly #dead = new Set<string>();
  #server: FakeServer | undefined;

  private constructor(address: string, platformZone: string) {
    this.address = address;
    this.#platformZone = platformZone;
  }

  static async start(platformZone: string): Promise<StandInDns> {
    const dns = new StandInDns(`127.${[...randomBytes(3)].map((byte) => 1 + (byte % 250)).join('.')}`, platformZone);
    dns.#server = await fakeServer((asked) => (dns.#isSilentTo(asked) ? [] : [reply(asked, dns.#answer(asked))]), {
      address: dns.address,
      port: 53,
    });
    return dns;
  }

  async stop(): Promise<void> {
    await this.#server?.close();
  }

  /** The questions about a name, or about what is below it, so far. */
  questions(name: string): Asked[] {
    return (this.#server?.asked ?? []).filter((a) => `.${a.name.toLowerCase()}`.endsWith(`.${name}`));
  }

  /** How many questions have come so far. */
  get asked(): number {
    return this.#server?.asked.length ?? 0;
  }

  /** Gives a name exactly these records. */
  set(name: string, ...records: Answer[]): void {
    if (records.length === 0) this.#records.delete(name);
    else this.#records.set(name, records);
  }

  /** The CNAME that proves a hostname; undefined: nothing stands there any more. */
  point(hostname: string, target: string | undefined): void {
    this.set(hostname, ...(target === undefined ? [] : [record(hostname, 'CNAME', target)]));
  }

  /** Where the CNAME of a hostname points to. */
  targetOf(hostname: string): string | undefined {
    return this.#records.get(hostname)?.find((r): r is StringAnswer => r.type === 'CNAME')?.data;
  }

  /** A CAA record at the zone of a hostname: another CA may issue, and nobody else. */
  forbid(hostname: string): void {
    this.set(zoneOf(hostname), {
      name: zoneOf(hostname),
      type: 'CAA',
      ttl: 60,
      data: {flags: 0, tag: 'issue', value: 'other.test'},
    });
  }

  /** Resolvers have not seen the records of a hostname yet, or have. */
  lag(hostname: string, lags: boolean): void {
    if (lags) this.#lagging.add(hostname);
    else this.#lagging.delete(hostname);
  }

  /** Nothing about a zone is answered, or it is again. */
  silence(hostname: string, silent: boolean): void {
    if (silent) this.#silent.add(zoneOf(hostname));
    else this.#silent.delete(zoneOf(hostname));
  }

  /** A zone's own servers answer nothing any more; resolvers still say which these are. */
  kill(zone: string): void {
    this.#dead.add(zone);
  }

  #isSilentTo({name, recursionDesired}: Asked): boolean {
    const zone = zoneOf(name.toLowerCase());
    return this.#silent.has(zone) || (!recursionDesired && this.#dead.has(zone));
  }

  #answer({name: asked, type, recursionDesired}: Asked): Parts {
    const name = asked.toLowerCase();
    const zone = zoneOf(name);
    if (type === 'NS' && name === zone)
      return {answers: [record(zone, 'NS', `ns.${zone}`)], additionals: [record(`ns.${zone}`, 'A', this.address)]};
    const answers =
      recursionDesired && this.#lagging.has(name) ? [] : this.#find(name, type as RecordType, recursionDesired);
    if (answers.length > 0) return {answers};
    const exists =
      name === zone || [...this.#records.keys()].some((known) => known === name || known.endsWith(`.${name}`));
    return {...(!exists && {rcode: noSuchName}), authorities: [soa(zone, 60, 60)]};
  }

  #find(name: string, type: RecordType, follow: boolean): Answer[] {
    if (name === `ns.${zoneOf(name)}`) return type === 'A' ? [record(name, 'A', this.address)] : [];
    if (name.endsWith(`.${this.#platformZone}`)) return type === 'A' ? [record(name, 'A', '127.0.0.1')] : [];
    const known = this.#records.get(name) ?? [];
    const found = known.filter((r) => r.type === type);
    const alias = known.find((r): r is StringAnswer => r.type === 'CNAME');
    if (found.length > 0 || !alias) return found;
    return [alias, ...(follow ? this.#find(alias.data, type, true) : [])];
  }
}

/**
 * Stories in which the operator dies at every single write of what it does, and another one takes over from what
 * stands. The API server is real, and so is the operator, in the test's process; cert-manager, DNS and the edge are
 * stand-ins, and live on.
 */
import {setTimeout as wait} from 'node:timers/promises';
import {expect} from '@jest/globals';
import {ownerLabel} from '../../operator/resources/labels.ts';
import {customDomains, domainClaims} from '../../operator/resources/resources.ts';
import {Customer} from './customer.ts';
import {eventually} from './kube-api.ts';
import {deaths, isWrite, RunningOperator, type Death} from './operator.ts';
import type {Platform} from './platform.ts';

/** A story of one or two customers, each time with others. */
export interface Story {
  customers: readonly Customer[];
  hostnames: readonly string[];
  /** What is watched for: the operator has come to the end. */
  isOver: () => Promise<boolean>;
  /** What somebody does. */
  act: () => Promise<void>;
  /** How many Certificates, and how many orders, each hostname has had when it is over. */
  orders: number;
}

const live = async (customer: Customer, hostnames: readonly string[]): Promise<boolean> => {
  const hosts = await customer.hosts('web');
  return hostnames.every((h) => hosts[h]?.startsWith('Live'));
};

/** A domain is attached, until it is Live: with a redirect, unless told. */
export async function attached(platform: Platform, labels = ['www', 'old']): Promise<Story> {
  const customer = await Customer.deployed(platform);
  const hostnames = labels.map((label) => customer.host(label));
  await customer.point(hostnames);
  return {
    customers: [customer],
    hostnames,
    orders: 1,
    act: async () => {
      await customer.attach('web', hostnames[0]!, hostnames.slice(1));
    },
    isOver: () => live(customer, hostnames),
  };
}

/** A Live domain with a redirect is removed. */
export async function removed(platform: Platform): Promise<Story> {
  const story = await attached(platform);
  await story.act();
  await eventually(story.isOver);
  const [customer] = story.customers as [Customer];
  return {
    ...story,
    act: () => customer.remove(customDomains, 'web'),
    isOver: async () => {
      const holders = await Promise.all(story.hostnames.map((h) => customer.holder(h)));
      return (await customer.domain('web')) === undefined && holders.every((h) => h === 'nobody');
    },
  };
}

/** A domain with a redirect, which was Live and whose certificates rest, comes back. */
export async function returned(platform: Platform): Promise<Story> {
  const story = await removed(platform);
  await story.act();
  await eventually(story.isOver);
  const [customer] = story.customers as [Customer];
  const [www, ...sources] = story.hostnames;
  return {
    ...story,
    act: async () => {
      await customer.attach('web', www!, sources);
    },
    isOver: () => live(customer, story.hostnames),
  };
}

/** A Live domain is taken over by another customer, who has proved it. */
export async function takenOver(platform: Platform): Promise<Story> {
  const story = await attached(platform, ['www']);
  await story.act();
  await eventually(story.isOver);
  // Orders of one hostname are told apart by the second, as Kubernetes' times are.
  await wait(1100);
  const other = await Customer.deployed(platform);
  const {hostnames} = story;
  return {
    ...story,
    customers: [...story.customers, other],
    orders: 2,
    act: async () => {
      await other.point(hostnames);
      await other.attach('web', hostnames[0]!);
    },
    isOver: async () =>
      (await live(other, hostnames)) &&
      Object.values(await story.customers[0]!.hosts('web')).every((h) => h.startsWith('AwaitingVerification')),
  };
}

/** All that stands at the end, without what differs by name, time or chance. */
async function outcome(platform: Platform, {customers, hostnames}: Story): Promise<unknown> {
  const standing = await Promise.all(
    customers.map(async (customer) => {
      const domain = await customer.domain('web');
      const children = domain ? await platform.children(domain.metadata.uid) : [];
      return {
        status: domain?.status ?? null,
        finalizers: domain?.metadata.finalizers ?? [],
        children: children
          .map(
            (o) => `${o.kind} ${o.metadata.namespace}/${o.metadata.name} ${JSON.stringify('spec' in o ? o.spec : {})}`,
          )
          .toSorted(),
      };
    }),
  );
  const claims = await Promise.all(
    hostnames.map(async (h) => {
      const claim = await platform.client.get(domainClaims, h);
      return {spec: claim?.spec ?? null, status: claim?.status ?? null};
    }),
  );
  const names = new Map(customers.flatMap((c, i) => [[c.namespace, `customer${i}`]]));
  const text = JSON.stringify({standing, claims})
    .replaceAll(/c[0-9a-f]{8}(?=[-./"])/g, (name) => names.get(name) ?? name)
    .replaceAll(/[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:]+Z|([0-9-]{10} )?[0-9]{2}:[0-9]{2} UTC/g, 'TIME')
    .replaceAll(/"[0-9a-f]{32}"/g, '"TOKEN"')
    .replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g, 'UID')
    .replaceAll(/-[0-9a-z]{13}(?![0-9a-z])/g, '-DIGEST');
  return JSON.parse(text) as unknown;
}

/** What stands still for a CustomDomain that is gone. */
async function leftOver(platform: Platform): Promise<string[]> {
  const standing = new Set((await platform.client.list(customDomains)).items.map((d) => d.metadata.uid));
  const children = (await platform.children()).filter((o) =>
    o.metadata.annotations?.['doorplate.dev/for']?.startsWith('CustomDomain'),
  );
  return children
    .filter((o) => !standing.has(o.metadata.labels?.[ownerLabel]))
    .map((o) => `${o.kind} ${o.metadata.name}`);
}

/** Plays one story after the other, each with an operator that dies in it. */
class Stage {
  readonly #platform: Platform;
  #operator: RunningOperator | undefined;

  constructor(platform: Platform) {
    this.#platform = platform;
  }

  get operator(): RunningOperator {
    return this.#operator!;
  }

  /** Another process, which has seen nothing of what was before. */
  async restart(): Promise<void> {
    await this.#operator?.stop();
    this.#operator = await RunningOperator.start(this.#platform);
  }

  async stop(): Promise<void> {
    await this.#operator?.stop();
  }

  /**
   * Lets a story happen while the operator dies at its n-th write, and another one takes over. Returns whether there
   * was such a write.
   */
  async play(story: Story, n: number, how: Death): Promise<boolean> {
    const {operator} = this;
    const dead = operator.dieAt(n, how);
    await story.act();
    await Promise.race([dead, eventually(story.isOver).then(() => operator.rest())]);
    if (!operator.isDead) {
      operator.spare();
      return false;
    }
    await dead;
    await this.restart();
    return true;
  }

  async end(story: Story): Promise<unknown> {
    await eventually(story.isOver);
    await this.operator.rest();
    await this.#platform.certManager.idle();
    return outcome(this.#platform, story);
  }

  /** What a story comes to in peace, and by how many writes. */
  async model(story: Story): Promise<{expected: unknown; writes: number}> {
    await this.restart();
    await this.operator.rest();
    const before = this.operator.proxy.seen.filter(isWrite).length;
    await story.act();
    const expected = await this.end(story);
    return {expected, writes: this.operator.proxy.seen.filter(isWrite).length - before};
  }
}

/**
 * Whether to try a death at the n-th of all writes. A death before write n + 1 leaves the API server in the same state as both deaths after
 * write n. `make test` tries one of these three for each state, in turn; `make kills` tries all three.
 */
function isTried(how: Death, n: number, writes: number): boolean {
  const writesDone = how === 'Before' ? n - 1 : n;
  // No death before a further write leaves the last state.
  const isLast = n === writes && how === 'After';
  return process.env.DEATHS === 'all' || isLast || deaths[writesDone % deaths.length] === how;
}

/** Whenever the operator dies, the end is the same, with one order for each hostname, and nothing is left over. */
export async function expectTheSameEnd(
  platform: Platform,
  begin: (platform: Platform) => Promise<Story>,
): Promise<void> {
  const stage = new Stage(platform);
  try {
    await stage.restart();
    const {expected, writes} = await stage.model(await begin(platform));
    let [planned, kills] = [0, 0];
    for (const how of deaths) {
      const at = Array.from({length: writes}, (_, i) => i + 1).filter((n) => isTried(how, n, writes));
      planned += at.length;
      const stories = await Promise.all(at.map(async (n) => ({n, story: await begin(platform)})));
      await stage.restart();
      for (const {n, story} of stories) {
        if (await stage.play(story, n, how)) kills++;
        const end = await stage.end(story);
        const {created, orders} = platform.certManager;
        expect([how, n, end, story.hostnames.map((h) => [h, created.get(h)?.size, orders.get(h)])]).toEqual([
          how,
          n,
          expected,
          story.hostnames.map((h) => [h, story.orders, story.orders]),
        ]);
      }
    }
    console.log(`${kills} kills at ${writes} writes`);
    expect(kills).toBeGreaterThan((planned * 2) / 3);
  } finally {
    await stage.stop();
  }
  expect(await leftOver(platform)).toEqual([]);
}

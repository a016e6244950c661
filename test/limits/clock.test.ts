import {type ChildProcess, execFileSync, spawn} from 'node:child_process';
import {mkdtempSync, renameSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {createInterface} from 'node:readline';
import {fileURLToPath} from 'node:url';
import {afterEach, beforeAll, beforeEach, describe, expect, test} from '@jest/globals';
import {withFreshMinute} from '../support/fresh-minute.ts';
import {Redis} from '../support/redis.ts';

/* A process that has a clock of its own, by Debian's libfaketime: its wall clock is set, its monotonic one is not. */

interface Seen {
  admitted: number;
  remaining: number;
  resetAtSeconds: number;
  bannedUntil: number | null;
  clockSeconds: number;
  trustedSeconds: number;
}

const child = fileURLToPath(new URL('../support/limits-clock-child.ts', import.meta.url));
let folder: string;
let running: Process[];

class Process {
  readonly #process: ChildProcess;
  readonly #lines: AsyncIterator<string>;

  /** `setBySeconds`: a clock of its own, so far from the machine's. */
  constructor(args: readonly string[] = [join(folder, 'ledger.db')], setBySeconds?: number) {
    const env = {
      ...process.env,
      LD_PRELOAD: '/usr/$LIB/faketime/libfaketime.so.1',
      DONT_FAKE_MONOTONIC: '1',
      FAKETIME_TIMESTAMP_FILE: join(folder, 'clock'),
      FAKETIME_NO_CACHE: '1',
      ...(setBySeconds !== undefined && {
        FAKETIME_TIMESTAMP_FILE: '',
        FAKETIME: `${setBySeconds < 0 ? '' : '+'}${setBySeconds}`,
      }),
    };
    this.#process = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', child, ...args], {
      env,
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    this.#lines = createInterface({input: this.#process.stdout!})[Symbol.asyncIterator]();
    running.push(this);
  }

  async ask(line: string): Promise<Seen> {
    this.#process.stdin!.write(`${line}\n`);
    const {value} = await this.#lines.next();
    return JSON.parse(value as string) as Seen;
  }

  async end(signal?: 'SIGKILL'): Promise<void> {
    if (this.#process.exitCode !== null || this.#process.signalCode !== null) return;
    const ended = new Promise((resolve) => this.#process.once('close', resolve));
    if (signal) this.#process.kill(signal);
    else this.#process.stdin!.end();
    await ended;
  }
}

/** Sets the clock of the processes, in seconds from the machine's. */
function setClock(offsetSeconds: number): void {
  // In one step: a process may read it at any time.
  writeFileSync(join(folder, 'next'), `${offsetSeconds < 0 ? '' : '+'}${offsetSeconds}`);
  renameSync(join(folder, 'next'), join(folder, 'clock'));
}

const now = (): number => Date.now() / 1000;
const daySeconds = 86_400;

beforeAll(() => {
  execFileSync(fileURLToPath(new URL('install.sh', import.meta.url)), {stdio: 'inherit'});
});

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'doorplate-clock-'));
  running = [];
  // Noon, whatever the time is: no day ends meanwhile.
  setClock(noonOffset());
});

afterEach(async () => {
  for (const each of running) await each.end('SIGKILL');
  rmSync(folder, {recursive: true});
});

const noonOffset = (): number => Math.round(daySeconds / 2 - (now() % daySeconds));

describe('a clock that is set while the process runs', () => {
  test.each([
    ['forward by two days', 2 * daySeconds],
    ['back by two days', -2 * daySeconds],
    ['forward by a minute', 60],
  ])('%s resets no limit, and a ban lasts as long as before', async (_, jump) => {
    const limits = new Process();
    const before = await limits.ask('take 600');
    expect(before.admitted).toBe(600);
    const {bannedUntil} = await limits.ask('strike');
    setClock(noonOffset() + jump);
    const after = await limits.ask('take 600');
    // The process sees the clock that was set; its limits do not.
    expect(Math.abs(after.clockSeconds - before.clockSeconds - jump)).toBeLessThan(120);
    expect(Math.abs(after.trustedSeconds - before.trustedSeconds)).toBeLessThan(120);
    expect(after).toMatchObject({admitted: 400, remaining: 0, resetAtSeconds: before.resetAtSeconds, bannedUntil});
    setClock(noonOffset());
    expect(await limits.ask('take 10')).toMatchObject({admitted: 0, bannedUntil});
  });
});

describe('a clock that is set between two runs', () => {
  test.each([
    ['forward by two days', 2 * daySeconds],
    ['back by two days', -2 * daySeconds],
  ])('%s resets no limit, and a ban lasts as long as before', async (_, jump) => {
    const first = new Process();
    const before = await first.ask('take 600');
    const {bannedUntil} = await first.ask('strike');
    await first.end();
    setClock(noonOffset() + jump);
    const second = new Process();
    const after = await second.ask('take 600');
    expect(after.admitted).toBeLessThanOrEqual(400);
    expect(after).toMatchObject({resetAtSeconds: before.resetAtSeconds, bannedUntil});
  });
});

test.each([130, -130])(
  'two replicas of which one started with a clock %i s off admit one limit together',
  async (seconds) => {
    const redis = await Redis.start();
    try {
      const args = [redis.url, '300', withFreshMinute('tenant').replace(/^/, 'tenant:')];
      const [right, wrong] = [new Process(args, 0), new Process(args, seconds)];
      const admitted = [(await right.ask('take 600')).admitted, (await wrong.ask('take 600')).admitted];
      expect(admitted[0]! + admitted[1]!).toBeLessThanOrEqual(300);
      expect(Math.abs((await wrong.ask('look')).trustedSeconds - now())).toBeLessThan(2);
    } finally {
      await redis.kill();
    }
  },
);

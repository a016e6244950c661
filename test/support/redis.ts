import {type ChildProcess, execFileSync, spawn} from 'node:child_process';
import {randomBytes} from 'node:crypto';
import {type AddressInfo, createServer} from 'node:net';
import {tmpdir} from 'node:os';
import {fileURLToPath} from 'node:url';

/** A redis-server of Debian on a loopback port of its own, with a password and nothing on disk. */
export class Redis {
  readonly port: number;
  readonly #password = randomBytes(16).toString('hex');
  readonly #more: string;
  #process: ChildProcess | undefined;

  constructor(port: number, more = '') {
    this.port = port;
    this.#more = more;
  }

  /** `more`: lines of its configuration. */
  static async start(more = ''): Promise<Redis> {
    execFileSync(fileURLToPath(new URL('../limits/install.sh', import.meta.url)), {stdio: 'inherit'});
    const probe = createServer();
    const port = await new Promise<number>((resolve) => {
      probe.listen(0, '127.0.0.1', () => resolve((probe.address() as AddressInfo).port));
    });
    await new Promise((resolve) => probe.close(resolve));
    const redis = new Redis(port, more);
    await redis.start();
    return redis;
  }

  get url(): string {
    return `redis://:${this.#password}@127.0.0.1:${this.port}`;
  }

  /** Starts it, empty. */
  async start(): Promise<void> {
    const running = spawn('redis-server', ['-'], {stdio: ['pipe', 'pipe', 'inherit']});
    this.#process = running;
    running.stdin.end(
      `bind 127.0.0.1\nport ${this.port}\nrequirepass ${this.#password}\nsave ""\nappendonly no\ndir ${tmpdir()}\n${this.#more}\n`,
    );
    await new Promise<void>((resolve, reject) => {
      running.stdout.on('data', (text: Buffer) => {
        if (text.includes('Ready to accept connections')) resolve();
      });
      running.on('exit', (code) => reject(new Error(`redis-server ended with ${code}`)));
      running.on('error', reject);
    });
  }

  /** Stops answering, with all connections open; until `resume`. */
  freeze(): void {
    this.#process?.kill('SIGSTOP');
  }

  resume(): void {
    this.#process?.kill('SIGCONT');
  }

  async kill(): Promise<void> {
    const running = this.#process;
    if (!running || running.exitCode !== null || running.signalCode !== null) return;
    const ended = new Promise((resolve) => running.once('exit', resolve));
    running.kill('SIGKILL');
    await ended;
  }
}

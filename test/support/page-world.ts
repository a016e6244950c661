/** The page in a real Chromium, served by the API's role in this process, on a real API server. What the operator would say, the test writes. */
import {execFileSync} from 'node:child_process';
import {mkdirSync} from 'node:fs';
import {fileURLToPath} from 'node:url';
import {chromium} from 'playwright-core';
import type {Browser, BrowserContext, BrowserServer, Page} from 'playwright-core';
import type {CustomDomain} from '../../operator/api/foreign.ts';
import {customDomains} from '../../operator/resources/resources.ts';
import {ApiWorld} from './api-role.ts';
import {patience} from './patience.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const patienceMs = patience(120_000);

type HostStatus = NonNullable<NonNullable<CustomDomain['status']>['hosts']>[number];
type DnsRecord = NonNullable<NonNullable<CustomDomain['status']>['dnsRecords']>[number];
/** A hostname as its status has it; what is left out is that of one that awaits its CNAME. */
export type Said = Partial<HostStatus> & {
  hostname: string;
  observed?: string[];
  state?: DnsRecord['state'];
  records?: Partial<DnsRecord>[];
};

/** What of it is a record's. */
function without(said: Said): Partial<HostStatus> & {hostname: string} {
  const host = {...said};
  delete host.observed;
  delete host.state;
  delete host.records;
  return host;
}

/** The environment's name for the address of a Chromium that a parent process shares with tests. */
export const sharedChromium = 'DOORPLATE_CHROMIUM';

/** Installs Debian's headless Chromium if it is missing, and returns how to launch it. Tests run as root in containers, without its sandbox. */
function debiansChromium(args: readonly string[]): {executablePath: string; args: string[]} {
  execFileSync(`${root}test/page/install.sh`, {stdio: 'inherit'});
  return {executablePath: '/usr/bin/chromium-headless-shell', args: ['--no-sandbox', ...args]};
}

/** Connects to the shared Chromium, or starts a Chromium if none is shared or it needs arguments. */
export async function launch(args: readonly string[] = []): Promise<Browser> {
  const address = process.env[sharedChromium];
  if (address !== undefined && args.length === 0) return chromium.connect(address);
  return chromium.launch(debiansChromium(args));
}

/** A Chromium for several processes, which connect to its `wsEndpoint()`. */
export const launchShared = (): Promise<BrowserServer> => chromium.launchServer(debiansChromium([]));

/** What the page is built from. */
const sources = [
  'dashboard',
  'operator/api/hostname-rules.ts',
  'operator/domain/verification/provider-forms.ts',
  'operator/domain/reasons',
];

/** The page as `npm run page` builds it from the present sources. One process builds at a time, because the build empties its folder first. */
export function buildPage(): void {
  const isBuilt = `[ -e dist/page/index.html ] && [ -z "$(find ${sources.join(' ')} -newer dist/page/index.html -print -quit)" ]`;
  mkdirSync(`${root}dist`, {recursive: true});
  const options = {cwd: root, stdio: 'inherit'} as const;
  execFileSync('flock', ['dist/.page-lock', 'sh', '-c', `${isBuilt} || npm run --silent page`], options);
}

/** The origin of the platform's own pages. */
const platform = 'https://cloud.example.com';

/** Follows a link as a customer does who clicks it on a page of the platform. */
export async function followLink(page: Page, link: string): Promise<void> {
  await page.goto(link, {referer: `${platform}/acme`});
}

/** One browser with cookies of its own, and all that went wrong in it. */
export interface Visitor {
  context: BrowserContext;
  page: Page;
  /** Violations of the security policy, errors of scripts, in words. */
  wrong: string[];
}

export class PageWorld {
  readonly api: ApiWorld;
  readonly #browser: Browser;
  readonly #settings: object;
  readonly #visitors: Visitor[] = [];
  readonly #keys = new Map<string, Promise<string>>();

  private constructor(api: ApiWorld, browser: Browser, settings: object) {
    this.api = api;
    this.#browser = browser;
    this.#settings = settings;
  }

  /** `page` is added to the configuration. */
  static async start(page: object = {}, more: object = {}): Promise<PageWorld> {
    buildPage();
    const settings = {
      page: {
        enabled: true,
        name: 'Example Cloud',
        supportUrl: 'https://example.com/help',
        linksByKeys: true,
        returnOrigins: [platform],
        ...page,
      },
      ...more,
    };
    const [api, browser] = await Promise.all([ApiWorld.start(settings), launch()]);
    return new PageWorld(api, browser, settings);
  }

  get origin(): string {
    return `http://localhost:${this.api.port}`;
  }

  /** The API goes, and comes back on the same port. */
  async restart(while_: () => Promise<void> = async () => {}): Promise<void> {
    const {port} = this.api;
    await this.api.stopRole();
    try {
      await while_();
    } finally {
      await this.api.startRole(this.#settings, {port});
    }
  }

  async visitor(options: Parameters<Browser['newContext']>[0] = {}): Promise<Visitor> {
    const context = await this.#browser.newContext({
      baseURL: this.origin,
      locale: 'en-GB',
      timezoneId: 'UTC',
      reducedMotion: 'reduce',
      ...options,
    });
    context.setDefaultTimeout(patienceMs);
    const wrong: string[] = [];
    await context.exposeFunction('tellViolation', (what: string) => {
      wrong.push(`violates the policy: ${what}`);
    });
    // As text: it runs in the browser, whose types are not those of this program.
    await context.addInitScript(
      "addEventListener('securitypolicyviolation', e => tellViolation(`${e.violatedDirective} ${e.blockedURI} ${e.sourceFile}:${e.lineNumber}`))",
    );
    context.on('weberror', (error) => {
      wrong.push(String(error.error()));
    });
    const visitor = {context, page: await context.newPage(), wrong};
    this.#visitors.push(visitor);
    return visitor;
  }

  /** A visitor who came by a link. */
  async signedIn(
    namespace: string,
    body: object = {},
    options: Parameters<Browser['newContext']>[0] = {},
  ): Promise<Visitor> {
    const visitor = await this.visitor(options);
    await followLink(visitor.page, await this.link(namespace, body));
    await visitor.page.getByRole('button', {name: 'Sign out'}).waitFor();
    // The view comes after the header around it, and takes the focus.
    await visitor.page.locator('main h1').waitFor();
    return visitor;
  }

  /** As a platform's backend asks for it. */
  async link(namespace: string, body: object = {}): Promise<string> {
    const key = await this.key(namespace);
    const {status, body: made} = await this.api.ask('/v1/sessions', {
      key,
      method: 'POST',
      body,
      headers: {host: `localhost:${this.api.port}`},
    });
    if (status !== 201) throw new Error(JSON.stringify(made));
    return made.url as string;
  }

  key(namespace: string): Promise<string> {
    const key = this.#keys.get(namespace) ?? this.api.key(namespace, 'backend');
    this.#keys.set(namespace, key);
    return key;
  }

  /** A deployed project of a tenant. */
  async project(namespace: string, name: string): Promise<void> {
    const host = `${name}-${namespace}-k3v9x2m4q7w1z.apps.platform.test`;
    await this.api.project(namespace, name, {
      observedGeneration: 1,
      host,
      url: `https://${host}`,
      firstDeployTime: '2026-11-01T00:00:00Z',
    });
  }

  read(namespace: string, name: string): Promise<CustomDomain | undefined> {
    return this.api.client.get(customDomains, `${namespace}/${name}`);
  }

  /** What the operator would say of the CustomDomain; `asked`: that it has acted on a Verify. */
  async say(namespace: string, name: string, hosts: readonly Said[]): Promise<void> {
    const {
      metadata: {generation = 0, annotations},
      spec,
    } = (await this.read(namespace, name))!;
    const lastHandledReconcileAt = annotations?.['doorplate.dev/requestedAt'];
    const lastHandledReissueAt = annotations?.['doorplate.dev/reissueRequestedAt'];
    const target = `${name}-${namespace}-k3v9x2m4q7w1z.apps.platform.test`;
    const status: CustomDomain['status'] = {
      observedGeneration: generation,
      ...(lastHandledReconcileAt !== undefined && {lastHandledReconcileAt}),
      ...(lastHandledReissueAt !== undefined && {lastHandledReissueAt}),
      dnsRecords: hosts.flatMap(({hostname, observed = [], state = 'Missing', records = [{}]}) => {
        const zone = hostname.split('.').slice(-2).join('.');
        return records.map((record) => ({
          hostname,
          type: 'CNAME',
          name: hostname.slice(0, -zone.length - 1) || '@',
          zone,
          value: target,
          ttl: 3600,
          state,
          observed,
          ...record,
        }));
      }),
      hosts: hosts.map((host) => ({
        role: host.hostname === spec.primary ? ('Primary' as const) : ('RedirectSource' as const),
        phase: 'AwaitingVerification' as const,
        reason: 'RecordMissing',
        message: `There is no record at ${host.hostname}. Create CNAME ${host.hostname.split('.')[0]} -> ${target} (TTL 3600) in the zone ${host.hostname.split('.').slice(-2).join('.')}.`,
        since: '2026-11-22T06:00:00Z',
        addedAt: '2026-11-22T06:00:00Z',
        waitingFor: 'Customer' as const,
        ...without(host),
      })),
    };
    await this.api.client.patch(
      customDomains,
      `${namespace}/${name}`,
      {status},
      {type: 'merge', subresource: 'status'},
    );
  }

  async stop(): Promise<void> {
    await this.#browser.close();
    await this.api.stop();
  }

  /** What went wrong in any browser. */
  get wrong(): string[] {
    return this.#visitors.flatMap((v) => v.wrong);
  }
}

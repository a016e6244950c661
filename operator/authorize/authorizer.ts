/**
 * Decides requests to the platform's own APIs by the same keys, limits and bans as those to Doorplate's: its proxy asks before it
 * passes one on. Whoever was let in is named in headers, all of which are set or taken away each time: a client can send none.
 */
import type {HeaderValues} from '../limits/headers.ts';
import type {Logger} from 'pino';
import {scopePattern} from '../api/api-key.ts';
import type {KeyCaller} from '../http/gate/caller.ts';
import type {Gate, GateDeps} from '../http/gate/gate.ts';
import {Problem} from '../http/problems.ts';

export interface AuthorizeRequest {
  /** The header `Authorization` of the request. */
  authorization: string | undefined;
  /** The client's address. */
  address: string;
  /** What the key must be allowed, `any` for every key; from the proxy's configuration, never from the client. */
  scope: string | undefined;
}

export const identityHeaders = [
  'x-doorplate-namespace',
  'x-doorplate-account',
  'x-doorplate-plan',
  'x-doorplate-key',
  'x-doorplate-scopes',
] as const;
export type CallerIdentity = Readonly<Record<(typeof identityHeaders)[number], string>>;

export interface AuthorizeDecision {
  /** 200, or what to answer the client with. */
  status: number;
  /** For the client, in any case: the limit's, and those of a refusal. Names lower case. */
  headers: Readonly<HeaderValues>;
  /** For the API behind: each of {@link identityHeaders}, '' for one that must not be there. */
  identity: CallerIdentity;
  /** Of a refusal: its type, and the whole of it (RFC 9457). */
  problem?: string;
  body?: string;
}

export interface AuthorizerDeps {
  gate: Pick<Gate, 'passKey' | 'headersFor'>;
  /** False until all caches have synced: nobody's key is known before. */
  ready: () => boolean;
  log: Logger;
  /** A request of a key was let through, for that scope. */
  letThrough: GateDeps['letThrough'];
  onDecision?: (decision: {status: number; seconds: number}) => void;
}

const scopeShape = new RegExp(scopePattern);
/** What may be asked for: a scope, or any key. */
export const isScope = (text: string): boolean => text === 'any' || scopeShape.test(text);

export class Authorizer {
  readonly #deps: AuthorizerDeps;

  constructor(deps: AuthorizerDeps) {
    this.#deps = deps;
  }

  get isReady(): boolean {
    return this.#deps.ready();
  }

  headersFor(address: string): HeaderValues {
    return this.#deps.gate.headersFor(address);
  }

  /** Never rejects. Charges one request to the key's tenant, or to the address where there is no valid key. */
  async decide({authorization, address, scope}: AuthorizeRequest): Promise<AuthorizeDecision> {
    const {gate, log, onDecision} = this.#deps;
    const began = performance.now();
    const told: HeaderValues = {};
    const decision = await this.#judge(gate, {authorization, address, scope}, told).catch(
      (error: unknown): AuthorizeDecision => {
        if (error instanceof Problem) return refused(error, told);
        log.error({err: error}, 'a request could not be decided');
        return refused(new Problem('internal-error', 'The API has an internal fault.'), {
          ...gate.headersFor(address),
          ...told,
        });
      },
    );
    onDecision?.({status: decision.status, seconds: (performance.now() - began) / 1000});
    return decision;
  }

  async #judge(
    gate: AuthorizerDeps['gate'],
    {authorization, address, scope}: AuthorizeRequest,
    told: HeaderValues,
  ): Promise<AuthorizeDecision> {
    if (!this.isReady) {
      Object.assign(told, gate.headersFor(address));
      throw new Problem('unavailable', 'The service is starting. Try again.', {headers: {'retry-after': '2'}});
    }
    const caller = await gate.passKey({authorization, address}, (headers) => Object.assign(told, headers));
    if (scope === undefined || !isScope(scope)) {
      this.#deps.log.error({scope}, 'the proxy does not say which scope a request needs, such as reports:read, or any');
      throw new Problem('internal-error', 'The proxy in front of this API names no scope in its configuration.');
    }
    if (scope !== 'any' && !caller.key.spec.scopes.includes(scope)) {
      throw new Problem('scope-missing', `This needs a key with the scope ${scope}.`, {scope});
    }
    this.#deps.letThrough(caller, scope);
    return {status: 200, headers: told, identity: identityOf(caller)};
  }
}

const nobody = Object.fromEntries(identityHeaders.map((name) => [name, ''])) as CallerIdentity;

const identityOf = ({namespace, tenant: {account, plan}, key}: KeyCaller): CallerIdentity => ({
  'x-doorplate-namespace': namespace,
  'x-doorplate-account': account ?? '',
  'x-doorplate-plan': 'missing' in plan ? '' : plan.metadata.name,
  'x-doorplate-key': key.metadata.name,
  'x-doorplate-scopes': key.spec.scopes.join(' '),
});

const refused = (problem: Problem, told: HeaderValues): AuthorizeDecision => ({
  status: problem.status,
  headers: {...told, ...problem.headers, 'content-type': 'application/problem+json'},
  identity: nobody,
  problem: problem.body.type,
  body: JSON.stringify(problem.body),
});

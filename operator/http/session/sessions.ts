/**
 * Sessions of people who use the page without a key: a link that the platform's backend requested, or a key that was typed once, opens a
 * session. Link and cookie are 256 random bits. Only their SHA-256 is stored, together with the quota, so that sessions survive a restart.
 *
 *   backend --makeLink--> link, 5 minutes --open, once--> session --its lifetime, or end, or the end of the key behind it--> nothing
 */
import {createHash, randomBytes} from 'node:crypto';
import {byText} from '../../domain/text.ts';
import type {KeyUser} from '../../limits/bans.ts';
import type {RecordStore} from '../../limits/records.ts';
import {asked} from '../asked.ts';
import {type NotRecognised, sessionEnded} from '../gate/auth.ts';
import {Problem} from '../problems.ts';

/** Permissions of a session, and their origin. */
export interface SessionGrant {
  namespace: string;
  /** Of the namespace: one of the same name that comes after it inherits nothing. */
  namespaceUID: string;
  scopes: readonly string[];
  /** The platform's URL to which the page leads back. */
  returnUrl?: string;
  /** The platform's own name for its user. */
  subject?: string;
  /** The project that the page opens first. */
  project?: string;
  /** The creator of the link, or the typed key: as in `madeBy` of keys. */
  madeBy?: string;
  /** The key that ends the session when it ends, and the network that used it; absent if the platform's link opened the session. */
  key?: KeyUser & {name: string; uid: string};
}

export interface Session extends SessionGrant {
  /** Names it without letting anybody in: the hash of its cookie. */
  id: string;
  /** Unix seconds; absent of a session that an older Doorplate began. */
  startSeconds?: number;
  /** Unix seconds. */
  endsSeconds: number;
}

export interface SessionsDeps {
  records: RecordStore;
  /** Unix ms, by the clock that records end by. */
  now: () => number;
  /** Why a session of this key goes on no longer; undefined while it does. */
  keyEnded: (grant: SessionGrant) => NotRecognised | undefined;
  /** The UID of a namespace that exists. */
  namespaceUID: (namespace: string) => string | undefined;
  /** How long a session lasts. */
  sessionSeconds: number;
  /** A session was ended here, by its id. */
  onEnd: (id: string) => void;
}

export const linkSeconds = 5 * 60;

interface Times {
  startSeconds: number;
  endsSeconds: number;
}

const newToken = (): string => randomBytes(32).toString('base64url');
const tokenShape = /^[\w-]{43}$/;
const idOf = (token: string): string => createHash('sha256').update(token).digest('hex');
/** Messages for sessions whose record was deleted or has expired, by cause. */
const ends = {
  Expired: 'The session has expired. Sign in again.',
  SignedOut: 'The user signed out of this session. Sign in again.',
  Ended: 'A request to the API ended the session. Sign in again.',
};

/** Most valid sessions that are remembered; beyond it, the least recently used one is dropped. */
const mostGood = 10_000;

export class Sessions {
  readonly #deps: SessionsDeps;
  /** Ids of sessions, in the order of their last use. */
  readonly #good = new Set<string>();

  constructor(deps: SessionsDeps) {
    this.#deps = deps;
  }

  /** A token that opens a session once. Rejects with `unavailable` while the store cannot be asked, as all methods do. */
  async makeLink(grant: SessionGrant): Promise<{token: string; endsSeconds: number}> {
    return this.#keep('link', grant, linkSeconds);
  }

  /** What a link grants; it is not used up. Throws as {@link open} does. */
  async grantOf(link: string): Promise<SessionGrant> {
    const name = `link:${idOf(link)}`;
    return this.#read(tokenShape.test(link) ? await this.#asked(this.#deps.records.get(name)) : undefined);
  }

  /** Uses a link up. Throws `link-used` where it was used before, is over, or never was. */
  async open(link: string): Promise<{token: string; session: Session}> {
    const name = `link:${idOf(link)}`;
    const taken = tokenShape.test(link) ? this.#deps.records.take(name) : Promise.resolve(undefined);
    try {
      return await this.start(this.#read(await this.#asked(taken)));
    } catch (error) {
      if (error instanceof Problem && error.type === 'unavailable') void this.#giveBack(name, taken);
      throw error;
    }
  }

  #read(text: string | undefined): SessionGrant {
    if (text === undefined)
      throw new Problem(
        'link-used',
        "This link was used before, or is older than five minutes. Follow the platform's link again.",
      );
    const grant = JSON.parse(text) as SessionGrant;
    const why = this.#whyEnded(grant);
    if (why) throw new Problem(why.problem, why.detail, {cause: why.cause});
    return grant;
  }

  /** A link that failed because the store was too slow can be followed again. */
  async #giveBack(name: string, taken: Promise<string | undefined>): Promise<void> {
    const text = await taken.catch(() => undefined);
    if (text === undefined) return;
    const {endsSeconds, namespaceUID: group} = JSON.parse(text) as SessionGrant & {endsSeconds: number};
    // If that fails as well, the platform can create other links.
    await this.#deps.records.put({name, text, endsSeconds, group}, this.#deps.now()).catch(() => {});
  }

  async start(grant: SessionGrant): Promise<{token: string; session: Session}> {
    const {token, ...times} = await this.#keep('session', grant, this.#deps.sessionSeconds);
    return {token, session: {...grant, id: idOf(token), ...times}};
  }

  /** Whether this process has seen the session of this cookie lately, and not its end. */
  wasGood(token: string): boolean {
    return this.#good.has(idOf(token));
  }

  /** The session of a cookie, or why there is none. */
  async find(token: string): Promise<Session | NotRecognised> {
    if (!tokenShape.test(token)) return sessionEnded('Expired', ends.Expired);
    const id = idOf(token);
    const text = await this.#asked(this.#deps.records.get(`session:${id}`));
    this.#good.delete(id);
    if (text === undefined) return this.#howEnded(id);
    const session = {...(JSON.parse(text) as SessionGrant & {endsSeconds: number}), id};
    const why = this.#whyEnded(session);
    if (why) return why;
    if (this.#good.size >= mostGood) this.#good.delete(this.#good.values().next().value!);
    this.#good.add(id);
    return session;
  }

  /** Ends the session of a cookie. Returns what it granted; undefined if there was none. */
  async end(token: string): Promise<SessionGrant | undefined> {
    return this.#end(idOf(token), 'SignedOut');
  }

  /** The sessions of a namespace that have not ended, by their ids. */
  async list(namespaceUID: string): Promise<Session[]> {
    const all = await this.#kept(namespaceUID);
    return all.filter((session) => this.#whyEnded(session) === undefined).toSorted((a, b) => byText(a.id, b.id));
  }

  /** Sessions of a banned key are included: they are usable again when the ban ends. */
  async #kept(namespaceUID: string): Promise<Session[]> {
    const records = await this.#asked(this.#deps.records.list('session', namespaceUID));
    return records.map(({name, text}) => ({
      ...(JSON.parse(text) as Omit<Session, 'id'>),
      id: name.slice('session:'.length),
    }));
  }

  /** Ends a session by its id. Returns what it granted; undefined if the namespace has none of this id. */
  async endById(namespaceUID: string, id: string): Promise<SessionGrant | undefined> {
    const text = await this.#asked(this.#deps.records.get(`session:${id}`));
    if (text === undefined || (JSON.parse(text) as SessionGrant).namespaceUID !== namespaceUID) return undefined;
    return this.#end(id, 'Ended');
  }

  /** Ends all sessions of a user in the namespace, and the links that the user has not used. Returns the sessions that it ended. */
  async endAll(namespaceUID: string, subject: string): Promise<SessionGrant[]> {
    // Links first: a link that is used meanwhile is a session by then.
    const links = await this.#asked(this.#deps.records.list('link', namespaceUID));
    const theirs = links.filter(({text}) => (JSON.parse(text) as SessionGrant).subject === subject);
    await Promise.all(theirs.map(({name}) => this.#asked(this.#deps.records.take(name))));
    const sessions = (await this.#kept(namespaceUID)).filter((session) => session.subject === subject);
    const grants = await Promise.all(sessions.map(({id}) => this.#end(id, 'Ended')));
    return grants.filter((grant) => grant !== undefined);
  }

  async #end(id: string, cause: keyof typeof ends): Promise<SessionGrant | undefined> {
    const text = await this.#asked(this.#deps.records.take(`session:${id}`));
    const session = text === undefined ? undefined : (JSON.parse(text) as Session);
    if (session) await this.#keepCause(id, cause, session);
    this.#deps.onEnd(id);
    return session;
  }

  /** Keeps the cause as long as the session would have lasted. If that fails, the session counts as expired. */
  async #keepCause(id: string, cause: keyof typeof ends, {endsSeconds, namespaceUID: group}: Session): Promise<void> {
    const kept = this.#deps.records.put({name: `ended:${id}`, text: cause, endsSeconds, group}, this.#deps.now());
    await this.#asked(kept).catch(() => {});
  }

  async #howEnded(id: string): Promise<NotRecognised> {
    const kept = await this.#asked(this.#deps.records.get(`ended:${id}`));
    const cause = kept === 'SignedOut' || kept === 'Ended' ? kept : 'Expired';
    return sessionEnded(cause, ends[cause]);
  }

  #whyEnded(grant: SessionGrant): NotRecognised | undefined {
    if (this.#deps.namespaceUID(grant.namespace) !== grant.namespaceUID)
      return sessionEnded('NamespaceGone', 'The session has ended with its namespace.');
    return grant.key && this.#deps.keyEnded(grant);
  }

  async #keep(kind: 'link' | 'session', grant: SessionGrant, seconds: number): Promise<{token: string} & Times> {
    const nowMs = this.#deps.now();
    const [token, startSeconds] = [newToken(), Math.floor(nowMs / 1000)];
    const times = {startSeconds, endsSeconds: startSeconds + seconds};
    await this.#asked(
      this.#deps.records.put(
        {
          name: `${kind}:${idOf(token)}`,
          text: JSON.stringify({...grant, ...times}),
          endsSeconds: times.endsSeconds,
          group: grant.namespaceUID,
        },
        nowMs,
      ),
    );
    return {token, ...times};
  }

  /** A store that gives no answer ends no session. */
  #asked<T>(answer: Promise<T>): Promise<T> {
    return asked(answer, 'Sessions cannot be looked up now. Try again.');
  }
}

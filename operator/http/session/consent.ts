/**
 * Login CSRF: an attacker's site signs a person in to the attacker's account, and the attacker gets the domains that the person adds. So a
 * sign-in needs the person's consent if the browser has a session of another namespace or user, or if another site started the sign-in.
 */
import {Problem, type signedInSchema} from '../problems.ts';
import type {z} from 'zod';
import type {SessionGrant} from './sessions.ts';

/** The owner of a session, as a person may see it. */
export type SignedIn = z.output<typeof signedInSchema>;

interface SignIn {
  /** The session that the browser has. */
  current: SessionGrant | undefined;
  next: SessionGrant;
  /** URL or origin of the page that led to the link, by `document.referrer`; undefined: a person typed a key. */
  referrer: string | undefined;
  /** Of the platform's pages. */
  origins: readonly string[];
}

const isSame = (a: SessionGrant, b: SessionGrant): boolean =>
  a.namespace === b.namespace && a.namespaceUID === b.namespaceUID && a.subject === b.subject;

/** Whether the person must confirm the sign-in. A site can hide its own referrer; it cannot send the platform's. */
export function needsConsent({current, next, referrer, origins}: SignIn): boolean {
  if (current) return !isSame(current, next);
  return referrer !== undefined && !origins.includes(URL.parse(referrer)?.origin ?? '');
}

const say = ({account, namespace, subject}: SignedIn): string =>
  `${account === null ? '' : `account ${account}, `}namespace ${namespace}${subject === null ? '' : `, as ${subject}`}`;

export const consentProblem = (current: SignedIn | null, next: SignedIn): Problem =>
  new Problem(
    'confirmation-needed',
    `You are about to sign in to ${say(next)}.${current ? ` You are signed in to ${say(current)}.` : ''} ` +
      'Send `confirmed: true` to continue.',
    {current, next},
  );

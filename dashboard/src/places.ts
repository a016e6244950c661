/** The views that a session may open. */
import type {Session} from './api.ts';

export const mayRead = ({scopes}: Session): boolean => scopes.includes('domains:read');
export const maySeeUsage = ({scopes}: Session): boolean => scopes.includes('usage:read');
export const mayMakeKeys = ({scopes}: Session): boolean => scopes.includes('keys:write');

/** Its first view. */
export const firstOf = (session: Session): string =>
  mayRead(session) ? '/' : mayMakeKeys(session) ? '/keys' : '/usage';

/** Where its link leads: to the project that it names, else to the first view. */
export const entryOf = (session: Session): string =>
  mayRead(session) && session.project !== null ? `/projects/${session.project}` : firstOf(session);

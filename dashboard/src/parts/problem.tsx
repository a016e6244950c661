/** An error in the server's own words, for as long as it lasts: until the time at which the server allows another attempt. */
import {useEffect, useState} from 'react';
import {Refused, Unreachable} from '../api.ts';
import {when} from '../words.ts';

/** The server says when it may be tried again. */
const isTimed = (error: unknown): error is Refused & {retryAfterSeconds: number} =>
  error instanceof Refused && error.retryAfterSeconds !== undefined;

export function Problem({error, trying = false}: {error: unknown; trying?: boolean}) {
  const [over, setOver] = useState<unknown>();
  useEffect(() => {
    if (trying || !isTimed(error)) return;
    const timer = setTimeout(() => setOver(error), error.retryAfterSeconds * 1000);
    return () => clearTimeout(timer);
  }, [error, trying]);
  if (over !== undefined && over === error) return null;
  return (
    <div className="notice bad" role="alert">
      <p>
        {sayError(error)}
        {trying && (isTimed(error) ? ' The page does so by itself.' : ' It is tried again by itself.')}
      </p>
    </div>
  );
}

export function sayError(error: unknown): string {
  if (error instanceof Unreachable) return navigator.onLine ? error.message : 'You are offline.';
  if (error instanceof Refused) {
    const {message, retryAfterSeconds} = error;
    const far = retryAfterSeconds !== undefined && retryAfterSeconds > 60;
    return far ? `${message} That is at ${when(Date.now() + retryAfterSeconds * 1000)}.` : message;
  }
  return error instanceof Error ? error.message : String(error);
}

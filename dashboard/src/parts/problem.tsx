/** An error in words for customers, until the time at which the server allows another attempt. */
import {useEffect, useState} from 'react';
import {Refused, Unreachable} from '../api.ts';
import {language, useTexts} from '../language.ts';
import {when} from '../words.ts';

/** The server says when it may be tried again. */
const isTimed = (error: unknown): error is Refused & {retryAfterSeconds: number} =>
  error instanceof Refused && error.retryAfterSeconds !== undefined;

/** The fault is on the server's side for a moment. */
const isOurs = (error: unknown): boolean =>
  error instanceof Refused && (error.problem === 'unavailable' || error.problem === 'kubernetes-failed');

export function Problem({error, trying = false}: {error: unknown; trying?: boolean}) {
  const {errors} = useTexts();
  const [over, setOver] = useState<unknown>();
  useEffect(() => {
    if (trying || !isTimed(error)) return;
    const timer = setTimeout(() => setOver(error), error.retryAfterSeconds * 1000);
    return () => clearTimeout(timer);
  }, [error, trying]);
  if (over !== undefined && over === error) return null;
  const next = trying ? errors.tryingAgain : isOurs(error) ? errors.tryAgain : undefined;
  return (
    <div className="notice bad" role="alert">
      <p>{next === undefined ? sayError(error) : `${sayError(error)} ${next}`}</p>
    </div>
  );
}

/** A server of another release has names that the page does not know. */
const textIn = (texts: Readonly<Record<string, string>>, name: string | undefined): string | undefined =>
  name !== undefined && Object.hasOwn(texts, name) ? texts[name] : undefined;

/** The text about the cause of a problem, or about its type. For an unknown type: the API's own text. */
function sayRefusal({problem, cause, message, retryAfterSeconds}: Refused): string {
  const {causes, problems, errors} = language().texts;
  const text = textIn(causes, cause) ?? textIn(problems, problem) ?? message;
  if (retryAfterSeconds === undefined) return text;
  if (retryAfterSeconds > 60) return `${text} ${errors.notBefore(when(Date.now() + retryAfterSeconds * 1000))}`;
  return problem === 'rate-limited' ? `${text} ${errors.inSeconds(retryAfterSeconds)}` : text;
}

export function sayError(error: unknown): string {
  const {errors} = language().texts;
  if (error instanceof Unreachable) return navigator.onLine ? errors.unreachable : errors.offline;
  if (error instanceof Refused) return sayRefusal(error);
  return error instanceof Error ? error.message : String(error);
}

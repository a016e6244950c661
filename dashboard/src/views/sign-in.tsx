/** Sign-in through the platform's link, or with an API key. */
import {useMutation} from '@tanstack/react-query';
import {Suspense, useEffect, useRef, useState} from 'react';
import type {FormEvent} from 'react';
import {useLocation} from 'wouter';
import {api} from '../api.ts';
import {Refused} from '../api.ts';
import type {Link, Session, Unconfirmed} from '../api.ts';
import {brand} from '../brand.ts';
import {useTexts} from '../language.ts';
import {tellSession} from '../live.ts';
import {Button} from '../parts/button.tsx';
import {later} from '../parts/later.ts';
import {Page} from '../parts/page.tsx';
import {Problem, sayError} from '../parts/problem.tsx';
import {Shell} from '../parts/shell.tsx';
import {entryOf} from '../places.ts';
import {setSession, tryAgain} from '../queries.ts';

const ConfirmSignIn = later(() => import('./confirm-sign-in.tsx'));

/** A sign-in that waits for its confirmation. */
interface Asked {
  by: 'link' | 'key';
  unconfirmed: Unconfirmed;
}

const isQuestion = (error: unknown): boolean => error instanceof Refused && error.unconfirmed !== undefined;

interface SignInProps {
  /** A link that somebody follows. */
  link?: Link;
  /** The account of the present session. */
  before?: string;
  /** The end of the previous session. */
  why?: Refused;
  /** Called when a person has signed in, or keeps the present session. */
  onEnd?: () => void;
}

export function SignIn({link, before, why, onEnd}: SignInProps) {
  const {key: keyLabel, signIn, signingIn: texts} = useTexts();
  const [path, go] = useLocation();
  const [key, setKey] = useState('');
  const [asked, ask] = useState<Asked>();
  const onError =
    (by: Asked['by']) =>
    (error: unknown): void => {
      if (error instanceof Refused && error.unconfirmed) ask({by, unconfirmed: error.unconfirmed});
    };
  const onSuccess = async (session: Session): Promise<void> => {
    await setSession(session);
    tellSession();
    if (path === '/sign-in') go(entryOf(session), {replace: true});
    onEnd?.();
  };
  const byKey = useMutation({
    mutationFn: (confirmed: boolean) => api.signIn({key: key.trim(), confirmed}),
    onSuccess,
    onError: onError('key'),
  });
  // Nobody has the link to try it again: it has left the address bar.
  const byLink = useMutation({
    mutationFn: ({secret, referrer, confirmed}: Link & {confirmed: boolean}) =>
      api.signIn({link: secret, referrer, confirmed}),
    onSuccess,
    onError: onError('link'),
    ...tryAgain,
  });
  const {mutate: follow} = byLink;
  // A link works once: an effect that runs twice must not use it up for nothing.
  const used = useRef(false);
  useEffect(() => {
    if (link === undefined || used.current) return;
    used.current = true;
    follow({...link, confirmed: false});
  }, [link, follow]);
  const following = link !== undefined && !byLink.isError;
  const error = byKey.error ?? byLink.failureReason;
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    byKey.mutate(false);
  };
  if (asked) {
    const {error: failure, failureReason, isPending} = asked.by === 'link' ? byLink : byKey;
    return (
      <Shell>
        <div className="narrow">
          <Suspense>
            <ConfirmSignIn
              unconfirmed={asked.unconfirmed}
              busy={isPending}
              error={isQuestion(failureReason) ? null : (failure ?? failureReason)}
              onConfirm={() => (asked.by === 'link' ? follow({...link!, confirmed: true}) : byKey.mutate(true))}
              onCancel={() => (asked.by === 'link' ? onEnd?.() : ask(undefined))}
            />
          </Suspense>
        </div>
      </Shell>
    );
  }
  return (
    <Shell>
      <div className="narrow">
        <Page title={following ? texts.title : signIn} lead={following ? undefined : <p>{texts.lead(brand.name)}</p>}>
          {why !== undefined && error === null && (
            <div className="notice" role="status">
              <p>{sayError(why)}</p>
            </div>
          )}
          {error !== null && <Problem error={error} trying={following} />}
          {!following && before !== undefined && (
            <div className="actions">
              <button type="button" onClick={onEnd}>
                {texts.continueAs(before)}
              </button>
            </div>
          )}
          {!following && (
            <form className="card stack" onSubmit={submit}>
              <label htmlFor="key">{keyLabel}</label>
              <input
                id="key"
                type="password"
                value={key}
                onChange={(e) => setKey(e.target.value)}
                required
                autoComplete="off"
                spellCheck={false}
                placeholder="dp_…"
              />
              <p className="note">{texts.keyNote}</p>
              <div className="actions">
                <Button type="submit" className="primary" busy={byKey.isPending}>
                  {signIn}
                </Button>
              </div>
            </form>
          )}
        </Page>
      </div>
    </Shell>
  );
}

/** By the platform's link, or by an API key. */
import {useMutation} from '@tanstack/react-query';
import {useEffect, useRef, useState} from 'react';
import type {FormEvent} from 'react';
import {useLocation} from 'wouter';
import {api} from '../api.ts';
import type {Session} from '../api.ts';
import {brand} from '../brand.ts';
import {tellSession} from '../live.ts';
import {Page} from '../parts/page.tsx';
import {Problem} from '../parts/problem.tsx';
import {Shell} from '../parts/shell.tsx';
import {setSession} from '../queries.ts';

/** `link`: of the address bar, which it leaves at once. `why`: why nobody is signed in any more. */
export function SignIn({link, why}: {link?: string; why?: string}) {
  const [path, go] = useLocation();
  const [key, setKey] = useState('');
  const {mutate, isPending, error} = useMutation({
    mutationFn: api.signIn,
    onSuccess: async (session: Session) => {
      await setSession(session);
      tellSession();
      if (path === '/sign-in') go(session.project === null ? '/' : `/projects/${session.project}`, {replace: true});
    },
  });
  // A link works once: an effect that runs twice must not use it up for nothing.
  const used = useRef(false);
  useEffect(() => {
    if (link === undefined || used.current) return;
    used.current = true;
    history.replaceState(null, '', '/sign-in');
    mutate({link});
  }, [link, mutate]);
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    mutate({key: key.trim()});
  };
  const lead =
    brand.name === ''
      ? 'Come by the link on your platform’s own pages'
      : `Come by the link on the pages of ${brand.name}`;
  return (
    <Shell>
      <div className="narrow">
        <Page
          title={isPending && link !== undefined ? 'Signing in …' : 'Sign in'}
          lead={<p>{lead}, or sign in by an API key.</p>}
        >
          {why !== undefined && error === null && (
            <div className="notice" role="status">
              <p>{why}</p>
            </div>
          )}
          {error !== null && <Problem error={error} />}
          <form className="card stack" onSubmit={submit}>
            <label htmlFor="key">API key</label>
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
            <p className="note">It is sent to this server once and not kept in the browser.</p>
            <div className="actions">
              <button type="submit" className="primary" disabled={isPending}>
                Sign in
              </button>
            </div>
          </form>
        </Page>
      </div>
    </Shell>
  );
}

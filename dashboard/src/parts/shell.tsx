/** What is around every view: whose page it is, where one can go, how to leave. */
import {useMutation} from '@tanstack/react-query';
import type {ReactNode} from 'react';
import {Link, useLocation} from 'wouter';
import {api} from '../api.ts';
import type {Session} from '../api.ts';
import {brand} from '../brand.ts';
import {tellSession} from '../live.ts';
import {mayMakeKeys, mayRead} from '../places.ts';
import {setSession, signedOut} from '../queries.ts';
import {Button} from './button.tsx';
import {Problem} from './problem.tsx';

function Place({to, children}: {to: string; children: ReactNode}) {
  const [path] = useLocation();
  const here = to === '/' ? path === '/' || path.startsWith('/projects') : path === to;
  return (
    <Link href={to} aria-current={here ? 'page' : undefined}>
      {children}
    </Link>
  );
}

function SignOut() {
  const {mutate, isPending, error} = useMutation({
    mutationFn: api.signOut,
    onSuccess: async () => {
      await setSession(signedOut);
      tellSession();
    },
  });
  return (
    <>
      {error && <Problem error={error} />}
      <Button className="quiet" busy={isPending} onClick={() => mutate()}>
        Sign out
      </Button>
    </>
  );
}

/** The account, the namespace and the user whose domains the page shows. */
function Whose({session: {account, namespace, subject, key}}: {session: Session}) {
  return (
    <dl className="whose">
      {account !== null && (
        <div>
          <dt>Account</dt>
          <dd>{account}</dd>
        </div>
      )}
      <div>
        <dt>Namespace</dt>
        <dd>{namespace}</dd>
      </div>
      {(subject ?? key) !== null && (
        <div>
          <dt>{subject === null ? 'API key' : 'User'}</dt>
          <dd>{subject ?? key}</dd>
        </div>
      )}
    </dl>
  );
}

export function Shell({session, children}: {session?: Session; children: ReactNode}) {
  return (
    <>
      <a className="skip" href="#main">
        Skip to content
      </a>
      <header className="top">
        <div className="bar">
          <p className="brand">
            {brand.logo === '' ? (
              <span className="mark" aria-hidden="true" />
            ) : (
              <img src={brand.logo} alt="" width="24" height="24" />
            )}
            <span>{brand.name === '' ? 'Domains' : brand.name}</span>
          </p>
          <div className="aside">
            {session?.returnUrl && (
              <a href={session.returnUrl} rel="noreferrer">
                ← Back{brand.name === '' ? '' : ` to ${brand.name}`}
              </a>
            )}
            {session && <SignOut />}
          </div>
          {session && <Whose session={session} />}
        </div>
        {session && (
          <nav className="bar places" aria-label="Pages">
            {mayRead(session) && <Place to="/">Projects</Place>}
            {mayMakeKeys(session) && <Place to="/keys">API keys</Place>}
            <Place to="/usage">Plan and usage</Place>
          </nav>
        )}
      </header>
      <main id="main" tabIndex={-1}>
        {children}
      </main>
      <footer className="bar foot">
        <span className="links">
          {brand.supportUrl !== '' && (
            <a href={brand.supportUrl} rel="noreferrer">
              Support
            </a>
          )}
          <a href="/docs">API reference</a>
        </span>
      </footer>
    </>
  );
}

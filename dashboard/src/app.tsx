/** Who is signed in sees their projects; anybody else is asked to sign in. */
import {useQuery} from '@tanstack/react-query';
import {Suspense, useEffect, useState} from 'react';
import {Redirect, Route, Switch, useLocation} from 'wouter';
import type {Session} from './api.ts';
import {follow} from './live.ts';
import type {LiveState} from './live.ts';
import {Connection} from './parts/connection.tsx';
import {later} from './parts/later.ts';
import {Page, Skeleton} from './parts/page.tsx';
import {Problem} from './parts/problem.tsx';
import {Shell} from './parts/shell.tsx';
import {accountQuery, client, sessionQuery, take} from './queries.ts';
import {DomainsView} from './views/domains.tsx';
import {ProjectsView} from './views/projects.tsx';
import {SignIn} from './views/sign-in.tsx';

// Not needed for the first view.
const KeysView = later(() => import('./views/keys.tsx'));
const UsageView = later(() => import('./views/usage.tsx'));

export function App() {
  const [path] = useLocation();
  const {data: session, error, failureReason} = useQuery(sessionQuery);
  if (path === '/sign-in' && location.hash !== '') return <SignIn link={location.hash.slice(1)} />;
  if (session === undefined) {
    const reason = error ?? failureReason;
    return (
      <Shell>
        {reason ? (
          <Page title="Domains">
            <Problem error={reason} trying />
          </Page>
        ) : (
          <Skeleton />
        )}
      </Shell>
    );
  }
  if ('signedOut' in session) return <SignIn why={session.why} />;
  return <SignedIn session={session} />;
}

function SignedIn({session}: {session: Session}) {
  const live = useLive();
  const mayMakeKeys = session.scopes.includes('keys:write');
  return (
    <Shell session={session}>
      <Connection state={live} />
      <Suspense fallback={<Skeleton />}>
        <Switch>
          <Route path="/">
            {session.project !== null && !wasHere() ? (
              <Redirect to={`/projects/${session.project}`} replace />
            ) : (
              <ProjectsView />
            )}
          </Route>
          <Route path="/projects/:project">
            {({project}) => (
              <DomainsView
                key={project}
                project={decodeURIComponent(project)}
                mayWrite={session.scopes.includes('domains:write')}
              />
            )}
          </Route>
          {mayMakeKeys && (
            <Route path="/keys">
              <KeysView session={session} />
            </Route>
          )}
          <Route path="/usage">
            <UsageView />
          </Route>
          <Route path="/sign-in">
            <Redirect to="/" replace />
          </Route>
          <Route>
            <Page title="There is nothing here">
              <p>
                Go to your <a href="/">projects</a>.
              </p>
            </Page>
          </Route>
        </Switch>
      </Suspense>
    </Shell>
  );
}

/** Whether the list of projects was asked for, and not come to by signing in. */
const wasHere = (): boolean => history.state === null || (history.state as {signedIn?: boolean}).signedIn !== true;

/** Keeps what is shown up to date, and says whether it is. */
function useLive(): LiveState {
  const [state, setState] = useState<LiveState>('connecting');
  useEffect(() => {
    void client.prefetchQuery(accountQuery);
    return follow({
      onChange: take,
      onState: setState,
      onRefused: () => void client.invalidateQueries(sessionQuery),
      onSession: () => void client.resetQueries(),
    });
  }, []);
  return state;
}

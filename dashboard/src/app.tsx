/** A signed-in person sees the projects; any other visitor is asked to sign in. */
import {useQuery} from '@tanstack/react-query';
import {Suspense, useEffect, useState} from 'react';
import {Redirect, Route, Switch} from 'wouter';
import {useLocationProperty} from 'wouter/use-browser-location';
import type {Link, Session} from './api.ts';
import {useTexts} from './language.ts';
import {follow} from './live.ts';
import type {LiveState} from './live.ts';
import {Connection} from './parts/connection.tsx';
import {later} from './parts/later.ts';
import {Page, Skeleton} from './parts/page.tsx';
import {Problem} from './parts/problem.tsx';
import {Shell} from './parts/shell.tsx';
import {firstOf, mayMakeKeys, mayRead} from './places.ts';
import {accountQuery, client, sessionQuery, take} from './queries.ts';
import {DomainsView} from './views/domains.tsx';
import type {Shown} from './views/keys.tsx';
import {SignIn} from './views/sign-in.tsx';

// Not needed for the first view of most links, which name a project.
const ProjectsView = later(() => import('./views/projects.tsx'));
const KeysView = later(() => import('./views/keys.tsx'));
const ShownKey = later(async () => ({default: (await import('./views/keys.tsx')).ShownKey}));
const UsageView = later(() => import('./views/usage.tsx'));

/** The secret of a link, behind its #. `#main` is where one skips to. */
const linkInBar = (): string | undefined =>
  location.pathname === '/sign-in' && !['', '#main'].includes(location.hash) ? location.hash.slice(1) : undefined;

// A link that comes later changes only what is behind the #: this page cannot know which page it comes from.
const atStart = linkInBar();
const linkOf = (secret: string): Link => ({
  secret,
  referrer: secret === atStart && document.referrer !== '' ? new URL(document.referrer).origin : '',
});

/** A link that somebody follows: it leaves the address bar at once, and is kept until `end` is called. */
function useLink(): {link: Link | undefined; end: () => void} {
  const followed = useLocationProperty(linkInBar);
  const [kept, keep] = useState(followed);
  useEffect(() => {
    if (followed === undefined) return;
    keep(followed);
    history.replaceState(null, '', '/sign-in');
  }, [followed]);
  const secret = followed ?? kept;
  return {link: secret === undefined ? undefined : linkOf(secret), end: () => keep(undefined)};
}

/** A new key stays visible when the session ends: rotating the key of the present session ends it at once. */
export function App() {
  const [shown, show] = useState<Shown>();
  return (
    <>
      <Visited onMade={show} />
      {shown && (
        <Suspense>
          <ShownKey {...shown} onClose={() => show(undefined)} />
        </Suspense>
      )}
    </>
  );
}

interface VisitedProps {
  /** Shows a new key once. */
  onMade: (shown: Shown) => void;
}

function Visited({onMade}: VisitedProps) {
  const texts = useTexts();
  const {link, end} = useLink();
  const {data: session, error, failureReason} = useQuery(sessionQuery);
  // A person with a session sees the failure, too: otherwise the page would look like the result of the link.
  if (link !== undefined) {
    const before = session && 'namespace' in session ? (session.account ?? session.namespace) : undefined;
    return <SignIn key={link.secret} link={link} before={before} onEnd={end} />;
  }
  if (session === undefined) {
    const reason = error ?? failureReason;
    return (
      <Shell>
        {reason ? (
          <Page title={texts.domains}>
            <Problem error={reason} trying />
          </Page>
        ) : (
          <Skeleton />
        )}
      </Shell>
    );
  }
  if ('signedOut' in session) return <SignIn why={session.why} />;
  return <SignedIn session={session} onMade={onMade} />;
}

function SignedIn({session, onMade}: VisitedProps & {session: Session}) {
  const live = useLive();
  const texts = useTexts();
  return (
    <Shell session={session}>
      <Connection state={live} />
      <Suspense fallback={<Skeleton />}>
        <Switch>
          <Route path="/">{mayRead(session) ? <ProjectsView /> : <Redirect to={firstOf(session)} replace />}</Route>
          {mayRead(session) && (
            <Route path="/projects/:project">
              {({project}) => (
                <DomainsView
                  key={project}
                  project={decodeURIComponent(project)}
                  mayWrite={session.scopes.includes('domains:write')}
                />
              )}
            </Route>
          )}
          {mayMakeKeys(session) && (
            <Route path="/keys">
              <KeysView session={session} onMade={onMade} />
            </Route>
          )}
          <Route path="/usage">
            <UsageView session={session} />
          </Route>
          <Route path="/sign-in">
            <Redirect to={firstOf(session)} replace />
          </Route>
          <Route>
            <Page title={texts.missingPage}>
              <p>
                <a href="/">{texts.toStart}</a>
              </p>
            </Page>
          </Route>
        </Switch>
      </Suspense>
    </Shell>
  );
}

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

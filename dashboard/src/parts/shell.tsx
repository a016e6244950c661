/** The header and the footer around every view. */
import {useMutation} from '@tanstack/react-query';
import type {ReactNode} from 'react';
import {Link, useLocation, useRoute} from 'wouter';
import {api} from '../api.ts';
import type {Session} from '../api.ts';
import {brand} from '../brand.ts';
import {choose, languages, useLanguage, useTexts} from '../language.ts';
import type {LanguageCode} from '../language.ts';
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
  const {signOut} = useTexts();
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
        {signOut}
      </Button>
    </>
  );
}

/** The languages of the page. */
function LanguageSwitch() {
  const {code, texts} = useLanguage();
  return (
    <select
      className="language"
      aria-label={texts.language}
      value={code}
      onChange={(e) => void choose(e.target.value as LanguageCode)}
    >
      {Object.entries(languages).map(([each, name]) => (
        <option key={each} value={each} lang={each}>
          {name}
        </option>
      ))}
    </select>
  );
}

/** The account, the project and the user whose domains the page shows. */
function Whose({session: {account, namespace, subject, key}}: {session: Session}) {
  const texts = useTexts();
  const [, place] = useRoute('/projects/:project');
  return (
    <dl className="whose">
      <div>
        <dt>{texts.account}</dt>
        <dd>{account ?? namespace}</dd>
      </div>
      {place && (
        <div>
          <dt>{texts.project}</dt>
          <dd>{decodeURIComponent(place.project)}</dd>
        </div>
      )}
      {(subject ?? key) !== null && (
        <div>
          <dt>{subject === null ? texts.key : texts.user}</dt>
          <dd>{subject ?? key}</dd>
        </div>
      )}
    </dl>
  );
}

export function Shell({session, children}: {session?: Session; children: ReactNode}) {
  const texts = useTexts();
  return (
    <>
      <a className="skip" href="#main">
        {texts.skip}
      </a>
      <header className="top">
        <div className="bar">
          <p className="brand">
            {brand.logo === '' ? (
              <span className="mark" aria-hidden="true" />
            ) : (
              <img src={brand.logo} alt="" width="24" height="24" />
            )}
            <span>{brand.name === '' ? texts.domains : brand.name}</span>
          </p>
          <div className="aside">
            {session?.returnUrl && (
              <a href={session.returnUrl} rel="noreferrer">
                ← {texts.back(brand.name)}
              </a>
            )}
            <LanguageSwitch />
            {session && <SignOut />}
          </div>
          {session && <Whose session={session} />}
        </div>
        {session && (
          <nav className="bar places" aria-label={texts.pages}>
            {mayRead(session) && <Place to="/">{texts.projects}</Place>}
            {mayMakeKeys(session) && <Place to="/keys">{texts.keys}</Place>}
            <Place to="/usage">{texts.usage}</Place>
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
              {texts.support}
            </a>
          )}
          <a href="/docs">{texts.apiReference}</a>
        </span>
      </footer>
    </>
  );
}

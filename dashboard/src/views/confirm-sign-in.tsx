/** The question before a sign-in: another site may have sent the person to an account that is not theirs. */
import type {SignedIn, Unconfirmed} from '../api.ts';
import {Button} from '../parts/button.tsx';
import {Page} from '../parts/page.tsx';
import {Problem} from '../parts/problem.tsx';

interface ConfirmSignInProps {
  unconfirmed: Unconfirmed;
  busy: boolean;
  /** The error after the person has confirmed. */
  error: unknown;
  onConfirm: () => void;
  onCancel: () => void;
}

const nameOf = ({account, namespace}: SignedIn): string => account ?? namespace;

function Whom({title, of: {account, namespace, subject}}: {title: string; of: SignedIn}) {
  return (
    <section className="card stack">
      <h2>{title}</h2>
      <dl className="facts">
        <dt>Account</dt>
        <dd>{account ?? 'none'}</dd>
        <dt>Namespace</dt>
        <dd>{namespace}</dd>
        <dt>User</dt>
        <dd>{subject ?? 'not named'}</dd>
      </dl>
    </section>
  );
}

export function ConfirmSignIn({unconfirmed: {current, next}, busy, error, onConfirm, onCancel}: ConfirmSignInProps) {
  const isSame = current !== null && nameOf(current) === nameOf(next);
  return (
    <Page
      title={current ? 'Sign in as someone else?' : `Sign in to ${nameOf(next)}?`}
      lead={<p>Continue only if this is your account. If it is not, its owner gets the domains that you add.</p>}
    >
      <Whom title="You are about to sign in to" of={next} />
      {current && <Whom title="You are signed in to" of={current} />}
      {error !== null && error !== undefined && <Problem error={error} />}
      <div className="actions">
        <button type="button" className={current ? 'primary' : undefined} onClick={onCancel}>
          {current ? `Stay in ${isSame ? current.namespace : nameOf(current)}` : 'Cancel'}
        </button>
        <Button className={current ? undefined : 'primary'} busy={busy} onClick={onConfirm}>
          Sign in to {isSame ? next.namespace : nameOf(next)}
        </Button>
      </div>
    </Page>
  );
}

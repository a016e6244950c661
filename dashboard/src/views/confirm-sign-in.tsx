/** The question before a sign-in: another site may have sent the person to an account that is not theirs. */
import type {SignedIn, Unconfirmed} from '../api.ts';
import {useTexts} from '../language.ts';
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

function Whom({title, of}: {title: string; of: SignedIn}) {
  const {account, area, user, confirm} = useTexts();
  return (
    <section className="card stack">
      <h2>{title}</h2>
      <dl className="facts">
        <dt>{account}</dt>
        <dd>{nameOf(of)}</dd>
        {nameOf(of) !== of.namespace && (
          <>
            <dt>{area}</dt>
            <dd>{of.namespace}</dd>
          </>
        )}
        <dt>{user}</dt>
        <dd>{of.subject ?? confirm.noUser}</dd>
      </dl>
    </section>
  );
}

export default function ConfirmSignIn({
  unconfirmed: {current, next},
  busy,
  error,
  onConfirm,
  onCancel,
}: ConfirmSignInProps) {
  const {cancel, confirm: texts} = useTexts();
  const isSame = current !== null && nameOf(current) === nameOf(next);
  return (
    <Page title={current ? texts.asOther : texts.to(nameOf(next))} lead={<p>{texts.lead}</p>}>
      <Whom title={texts.next} of={next} />
      {current && <Whom title={texts.current} of={current} />}
      {error !== null && error !== undefined && <Problem error={error} />}
      <div className="actions">
        <button type="button" className={current ? 'primary' : undefined} onClick={onCancel}>
          {current ? texts.stay(isSame ? current.namespace : nameOf(current)) : cancel}
        </button>
        <Button className={current ? undefined : 'primary'} busy={busy} onClick={onConfirm}>
          {texts.does(isSame ? next.namespace : nameOf(next))}
        </Button>
      </div>
    </Page>
  );
}

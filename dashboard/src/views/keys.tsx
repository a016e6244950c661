/** API keys: created here, shown once, replaced, revoked. */
import {useMutation, useQuery} from '@tanstack/react-query';
import {useState} from 'react';
import type {FormEvent} from 'react';
import {api} from '../api.ts';
import type {ApiKey, Session} from '../api.ts';
import {language, useTexts} from '../language.ts';
import {Button} from '../parts/button.tsx';
import {Copy} from '../parts/copy.tsx';
import Confirm, {Show} from '../parts/dialog.tsx';
import {Page, Skeleton} from '../parts/page.tsx';
import {Problem} from '../parts/problem.tsx';
import {client, keysQuery} from '../queries.ts';
import {textsOf, when} from '../words.ts';

/** A key's token, which is shown once. */
export interface Shown {
  name: string;
  token: string;
}

const read = (): Promise<void> => client.invalidateQueries(keysQuery);

export default function KeysView({session, onMade}: {session: Session; onMade: (shown: Shown) => void}) {
  const {keys, keyList: texts} = useTexts();
  const {data, error, failureReason} = useQuery(keysQuery);
  const reason = error ?? failureReason;
  return (
    <Page title={keys} lead={<p>{texts.lead}</p>}>
      <NewKey scopes={session.scopes} onMade={onMade} />
      {data === undefined ? (
        reason ? (
          <Problem error={reason} trying={error === null} />
        ) : (
          <Skeleton />
        )
      ) : data.length === 0 ? (
        <div className="card empty">
          <h2>{texts.empty}</h2>
          <p>{texts.emptyText}</p>
        </div>
      ) : (
        <ul className="plain stack">
          {data.map((key) => (
            <KeyCard key={key.name} apiKey={key} onRotated={onMade} />
          ))}
        </ul>
      )}
    </Page>
  );
}

export function ShownKey({name, token, onClose}: Shown & {onClose: () => void}) {
  const {keyList: texts} = useTexts();
  return (
    <Show title={texts.shown(name)} onClose={onClose}>
      <p>{texts.shownText}</p>
      <p className="token">
        <Copy text={token} what={texts.shown(name)} />
      </p>
    </Show>
  );
}

const expiries = ['', 30, 90, 365] as const;

function NewKey({scopes, onMade}: {scopes: readonly string[]; onMade: (shown: Shown) => void}) {
  const {keyList: texts} = useTexts();
  const [name, setName] = useState('');
  const [chosen, setChosen] = useState<readonly string[]>(scopes.filter((s) => s === 'domains:read'));
  const [days, setDays] = useState('90');
  const {mutate, isPending, error, data} = useMutation({
    mutationFn: () =>
      api.makeKey({
        name,
        scopes: [...chosen],
        ...(days !== '' && {expires: new Date(Date.now() + Number(days) * 86_400_000).toISOString()}),
      }),
    onSettled: read,
    onSuccess: ({token}) => {
      if (token === null) return;
      setName('');
      onMade({name, token});
    },
  });
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    mutate();
  };
  return (
    <form className="card stack" onSubmit={submit} aria-label={texts.form}>
      <div className="fields">
        <div className="field grow">
          <label htmlFor="name">{texts.name}</label>
          <input
            id="name"
            value={name}
            onChange={(e) => setName(e.target.value)}
            required
            maxLength={63}
            pattern="[a-z0-9]([\-a-z0-9.]*[a-z0-9])?"
            placeholder="ci"
            autoComplete="off"
            autoCapitalize="none"
            spellCheck={false}
            title={texts.nameRule}
          />
        </div>
        <div className="field">
          <label htmlFor="expires">{texts.expires}</label>
          <select id="expires" value={days} onChange={(e) => setDays(e.target.value)}>
            {expiries.map((value) => (
              <option key={value} value={value}>
                {texts.expiries[value]}
              </option>
            ))}
          </select>
        </div>
      </div>
      <fieldset>
        <legend>{texts.may}</legend>
        {scopes.map((scope) => (
          <label key={scope} className="check">
            <input
              type="checkbox"
              checked={chosen.includes(scope)}
              onChange={(e) => setChosen(e.target.checked ? [...chosen, scope] : chosen.filter((s) => s !== scope))}
            />
            <Permission scope={scope} />
          </label>
        ))}
      </fieldset>
      {error && <Problem error={error} />}
      {data?.token === null && (
        <div className="notice" role="alert">
          <p>{texts.exists(data.name)}</p>
        </div>
      )}
      <div className="actions">
        <Button type="submit" className="primary" busy={isPending} disabled={chosen.length === 0}>
          {texts.create}
        </Button>
      </div>
    </form>
  );
}

/** A permission in words. Other services have permissions without words on this page. */
function Permission({scope}: {scope: string}) {
  const {permissions} = language().texts.keyList;
  return Object.hasOwn(permissions, scope) ? (
    <span>
      {permissions[scope]} <code>{scope}</code>
    </span>
  ) : (
    <code>{scope}</code>
  );
}

function KeyCard({apiKey, onRotated}: {apiKey: ApiKey; onRotated: (shown: Shown) => void}) {
  const {keyList: texts} = useTexts();
  const {name, scopes, expires, lastUsed, previousTokenExpires, ready, reason} = apiKey;
  const state = textsOf(apiKey);
  const [asking, setAsking] = useState<'rotate' | 'revoke'>();
  const [overlap, setOverlap] = useState('86400');
  const close = (): void => setAsking(undefined);
  const revoke = useMutation({mutationFn: () => api.revokeKey(name), onSettled: read, onSuccess: close});
  const rotate = useMutation({
    mutationFn: () =>
      api.rotateKey(name, {overlapSeconds: Number(overlap), dropPrevious: previousTokenExpires !== null}),
    onSettled: read,
    onSuccess: ({token}) => {
      close();
      onRotated({name, token});
    },
  });
  return (
    <li className="card" data-key={name}>
      <div className="row">
        <h2>{name}</h2>
        <p className="tail">
          <span className="badge" data-tone={ready ? 'good' : reason === 'Pending' ? 'plain' : 'bad'}>
            {state.title}
          </span>
        </p>
      </div>
      {!ready && <p>{`${state.body} ${state.next}`}</p>}
      <p className="note">
        {scopes.map((s, i) => (
          <span key={s}>
            {i > 0 && ', '}
            <code>{s}</code>
          </span>
        ))}
      </p>
      <p className="note">{texts.dates(lastUsed && when(lastUsed), expires && when(expires))}</p>
      <div className="actions">
        <button
          type="button"
          onClick={() => {
            rotate.reset();
            setAsking('rotate');
          }}
        >
          {texts.rotate}
          <span className="hidden"> {name}</span>
        </button>
        <button
          type="button"
          className="quiet danger-text"
          onClick={() => {
            revoke.reset();
            setAsking('revoke');
          }}
        >
          {texts.revoke}
          <span className="hidden"> {name}</span>
        </button>
      </div>
      {asking === 'revoke' && (
        <Confirm
          title={texts.revokeTitle(name)}
          does={texts.revoke}
          dangerous
          busy={revoke.isPending}
          error={revoke.error}
          onConfirm={() => revoke.mutate()}
          onClose={close}
        >
          <p>{texts.revokeText}</p>
        </Confirm>
      )}
      {asking === 'rotate' && (
        <Confirm
          title={texts.rotateTitle(name)}
          does={texts.rotate}
          busy={rotate.isPending}
          error={rotate.error}
          onConfirm={() => rotate.mutate()}
          onClose={close}
        >
          <p>{texts.rotateText}</p>
          {previousTokenExpires !== null && <p>{texts.rotateAgain(when(previousTokenExpires))}</p>}
          <label htmlFor="overlap">{texts.overlap}</label>
          <select id="overlap" value={overlap} onChange={(e) => setOverlap(e.target.value)}>
            <option value="86400">{texts.overlaps[86_400]}</option>
            <option value="3600">{texts.overlaps[3600]}</option>
            <option value="0">{texts.overlaps[0]}</option>
          </select>
        </Confirm>
      )}
    </li>
  );
}

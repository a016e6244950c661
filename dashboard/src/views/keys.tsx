/** API keys: made here, shown once, rotated, revoked. */
import {useMutation, useQuery} from '@tanstack/react-query';
import {useState} from 'react';
import type {FormEvent} from 'react';
import {api} from '../api.ts';
import type {ApiKey, Session} from '../api.ts';
import {Button} from '../parts/button.tsx';
import {Copy} from '../parts/copy.tsx';
import Confirm, {Show} from '../parts/dialog.tsx';
import {Page, Skeleton} from '../parts/page.tsx';
import {Problem} from '../parts/problem.tsx';
import {client, keysQuery} from '../queries.ts';
import {spaced, when} from '../words.ts';

/** A key's token, which is shown once. */
export interface Shown {
  name: string;
  token: string;
}

const read = (): Promise<void> => client.invalidateQueries(keysQuery);

export default function KeysView({session, onMade}: {session: Session; onMade: (shown: Shown) => void}) {
  const {data, error, failureReason} = useQuery(keysQuery);
  const reason = error ?? failureReason;
  return (
    <Page title="API keys" lead={<p>For programs that manage domains, or use the platform’s own APIs.</p>}>
      <NewKey scopes={session.scopes} onMade={onMade} />
      {data === undefined ? (
        reason ? (
          <Problem error={reason} trying={error === null} />
        ) : (
          <Skeleton />
        )
      ) : data.length === 0 ? (
        <div className="card empty">
          <h2>No key yet</h2>
          <p>Make one above.</p>
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
  return (
    <Show title={`The key ${name}`} onClose={onClose}>
      <p>Copy it now: it is shown this once, and kept nowhere.</p>
      <p className="token">
        <Copy text={token} what={`the key ${name}`} />
      </p>
    </Show>
  );
}

const expiries = [
  ['', 'Never'],
  ['30', 'In 30 days'],
  ['90', 'In 90 days'],
  ['365', 'In a year'],
] as const;

function NewKey({scopes, onMade}: {scopes: readonly string[]; onMade: (shown: Shown) => void}) {
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
    <form className="card stack" onSubmit={submit} aria-label="Make a key">
      <div className="fields">
        <div className="field grow">
          <label htmlFor="name">Name</label>
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
            title="lower-case letters, digits, hyphens and dots"
          />
        </div>
        <div className="field">
          <label htmlFor="expires">Expires</label>
          <select id="expires" value={days} onChange={(e) => setDays(e.target.value)}>
            {expiries.map(([value, words]) => (
              <option key={value} value={value}>
                {words}
              </option>
            ))}
          </select>
        </div>
      </div>
      <fieldset>
        <legend>It may</legend>
        {scopes.map((scope) => (
          <label key={scope} className="check">
            <input
              type="checkbox"
              checked={chosen.includes(scope)}
              onChange={(e) => setChosen(e.target.checked ? [...chosen, scope] : chosen.filter((s) => s !== scope))}
            />
            <code>{scope}</code>
          </label>
        ))}
      </fieldset>
      {error && <Problem error={error} />}
      {data?.token === null && (
        <div className="notice" role="alert">
          <p>There is such a key already: {data.name}. Rotate it to get a new token.</p>
        </div>
      )}
      <div className="actions">
        <Button type="submit" className="primary" busy={isPending} disabled={chosen.length === 0}>
          Make key
        </Button>
      </div>
    </form>
  );
}

function KeyCard({
  apiKey: {name, scopes, expires, lastUsed, previousTokenExpires, ready, reason},
  onRotated,
}: {
  apiKey: ApiKey;
  onRotated: (shown: Shown) => void;
}) {
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
            {spaced(reason)}
          </span>
        </p>
      </div>
      <p className="note">
        {scopes.map((s, i) => (
          <span key={s}>
            {i > 0 && ', '}
            <code>{s}</code>
          </span>
        ))}
      </p>
      <p className="note">
        Last used: {lastUsed === null ? 'never' : when(lastUsed)}. Expires: {expires === null ? 'never' : when(expires)}
        .
      </p>
      <div className="actions">
        <button
          type="button"
          onClick={() => {
            rotate.reset();
            setAsking('rotate');
          }}
        >
          Rotate<span className="hidden"> {name}</span>
        </button>
        <button
          type="button"
          className="quiet danger-text"
          onClick={() => {
            revoke.reset();
            setAsking('revoke');
          }}
        >
          Revoke<span className="hidden"> {name}</span>
        </button>
      </div>
      {asking === 'revoke' && (
        <Confirm
          title={`Revoke ${name}?`}
          does="Revoke"
          dangerous
          busy={revoke.isPending}
          error={revoke.error}
          onConfirm={() => revoke.mutate()}
          onClose={close}
        >
          <p>Whatever uses this key is refused at once. This cannot be taken back.</p>
        </Confirm>
      )}
      {asking === 'rotate' && (
        <Confirm
          title={`Rotate ${name}?`}
          does="Rotate"
          busy={rotate.isPending}
          error={rotate.error}
          onConfirm={() => rotate.mutate()}
          onClose={close}
        >
          <p>A new key is made and shown once.</p>
          {previousTokenExpires !== null && (
            <p>
              This key was rotated before, and the token before the newest one is accepted until{' '}
              {when(previousTokenExpires)}. It ends now.
            </p>
          )}
          <label htmlFor="overlap">The one of before is accepted for</label>
          <select id="overlap" value={overlap} onChange={(e) => setOverlap(e.target.value)}>
            <option value="86400">one more day</option>
            <option value="3600">one more hour</option>
            <option value="0">no longer</option>
          </select>
        </Confirm>
      )}
    </li>
  );
}

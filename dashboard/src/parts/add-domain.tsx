/** The form that adds a domain. The page checks the input by the server's rules during typing, then the server checks it without a change. */
import {useMutation, useQuery} from '@tanstack/react-query';
import {useEffect, useState} from 'react';
import type {FormEvent} from 'react';
import {hostnameRules, needsALabel} from '../../../operator/api/hostname-rules.ts';
import {api, Refused} from '../api.ts';
import {language, useTexts} from '../language.ts';
import {client, domainsQuery} from '../queries.ts';
import {Button} from './button.tsx';
import {giveFocusBack} from './focus.ts';
import {Problem, sayError} from './problem.tsx';
import {textsOf} from '../words.ts';

const statuses = [301, 302, 307, 308] as const;
const typingMs = 400;

/** The value that was constant for `ms` at last. */
function useSettled(value: string, ms: number): string {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), ms);
    return () => clearTimeout(timer);
  }, [value, ms]);
  return settled;
}

/** The text about the rule that a name breaks. The server converts an emoji, and checks the result. */
function broken(name: string): string | undefined {
  const rule = name === '' || needsALabel(name) ? -1 : hostnameRules.findIndex(({holds}) => !holds(name));
  return rule === -1 ? undefined : language().texts.hostnameRules[rule];
}

/** The text about a refusal of the server. */
function sayRefused(error: Refused): string {
  const isInvalid = error.problem === 'invalid-input' && error.cause === undefined;
  return isInvalid ? language().texts.add.invalid : sayError(error);
}

interface AddDomainProps {
  project: string;
  primary: string | null;
  /** Reports the outcome of an action to people who do not see the page. */
  say: (outcome: string) => void;
}

export function AddDomain({project, primary, say}: AddDomainProps) {
  const {add: texts} = useTexts();
  const [typed, setTyped] = useState('');
  const [status, setStatus] = useState(301);
  const hostname = typed.trim();
  const settled = useSettled(hostname, typingMs);
  const {mutate, isPending, variables, error, reset} = useMutation({
    mutationFn: (added: string) => api.add(project, added, status),
    onSuccess: (_, added) => {
      // The person may have typed the next domain since.
      setTyped((now) => (now.trim() === added ? '' : now));
      say(texts.added(added));
    },
    onSettled: () => client.invalidateQueries(domainsQuery(project)),
  });
  // A hostname that is being added is not tried at the same time: the server would refuse it as attached already.
  const isTried = settled === hostname && !(isPending && variables === hostname);
  const tried = useQuery({
    queryKey: ['dry-run', project, settled],
    enabled: settled !== '' && isTried && broken(settled) === undefined,
    queryFn: async ({signal}) => (await api.add(project, settled, 301, {dryRun: true, signal})).value,
    gcTime: 0,
    staleTime: 0,
    retry: false,
  });
  // With the last that the plan allows the form goes.
  useEffect(() => giveFocusBack, []);
  const refused =
    isTried && tried.error instanceof Refused && tried.error.status < 429 ? sayRefused(tried.error) : undefined;
  const wrong = (settled === hostname ? broken(hostname) : undefined) ?? refused;
  const outlook = settled === hostname && hostname !== '' ? tried.data : undefined;
  const possible = [
    texts.possible(hostname),
    ...(needsALabel(hostname) && outlook ? [texts.shownAs(outlook.hostname)] : []),
    ...(primary === null ? [texts.becomesMain] : []),
  ].join(' ');
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (hostname !== '' && broken(hostname) === undefined) mutate(hostname);
  };
  return (
    <form className="card add" onSubmit={submit} aria-label={texts.title}>
      <div className="fields">
        <div className="field grow">
          <label htmlFor="hostname">{texts.domain}</label>
          <input
            id="hostname"
            value={typed}
            onChange={(e) => {
              setTyped(e.target.value);
              // While a hostname is being added, its outcome is awaited.
              if (!isPending) reset();
            }}
            placeholder="docs.example.com"
            required
            autoComplete="off"
            autoCapitalize="none"
            spellCheck={false}
            inputMode="url"
            maxLength={254}
            aria-invalid={wrong !== undefined}
            aria-describedby="hostname-said"
          />
        </div>
        {primary !== null && (
          <div className="field">
            <label htmlFor="status">{texts.redirect}</label>
            <select id="status" value={status} onChange={(e) => setStatus(Number(e.target.value))}>
              {statuses.map((code) => (
                <option key={code} value={code}>
                  {texts.statuses[code]}
                </option>
              ))}
            </select>
          </div>
        )}
        <Button type="submit" className="primary" busy={isPending} disabled={wrong !== undefined}>
          {isPending ? texts.adding : texts.add}
        </Button>
      </div>
      <p id="hostname-said" className={wrong === undefined ? 'said' : 'said bad'} aria-live="polite">
        {wrong ??
          (outlook
            ? outlook.phase === 'NotAccepted'
              ? textsOf(outlook, primary).body
              : possible
            : primary === null
              ? texts.first
              : texts.next(primary))}
      </p>
      {error && <Problem error={error} />}
    </form>
  );
}

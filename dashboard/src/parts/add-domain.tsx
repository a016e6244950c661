/** Add: what is typed is checked at once by the rules that the server has, and then by the server itself, which writes nothing yet. */
import {useMutation, useQuery} from '@tanstack/react-query';
import {useEffect, useState} from 'react';
import type {FormEvent} from 'react';
import {hostnameRules, needsALabel} from '../../../operator/api/hostname-rules.ts';
import {api, Refused} from '../api.ts';
import {client, domainsQuery} from '../queries.ts';
import {Button} from './button.tsx';
import {giveFocusBack} from './focus.ts';
import {Problem, sayError} from './problem.tsx';

const statuses = [
  [301, '301 permanent'],
  [302, '302 temporary'],
  [307, '307 temporary, method kept'],
  [308, '308 permanent, method kept'],
] as const;
const typingMs = 400;

/** The value, after it has stayed the same for a while. */
function useSettled(value: string, ms: number): string {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), ms);
    return () => clearTimeout(timer);
  }, [value, ms]);
  return settled;
}

/** The rule that a name breaks, in its own words. The server converts an emoji, and judges what becomes of it. */
const broken = (name: string): string | undefined =>
  name === '' || needsALabel(name) ? undefined : hostnameRules.find((rule) => !rule.holds(name))?.message;

interface AddDomainProps {
  project: string;
  primary: string | null;
  /** Says to who does not see the page what has become of their own action. */
  say: (outcome: string) => void;
}

export function AddDomain({project, primary, say}: AddDomainProps) {
  const [typed, setTyped] = useState('');
  const [status, setStatus] = useState(301);
  const hostname = typed.trim();
  const settled = useSettled(hostname, typingMs);
  const {mutate, isPending, variables, error, reset} = useMutation({
    mutationFn: (added: string) => api.add(project, added, status),
    onSuccess: (_, added) => {
      // Somebody may have typed the next one meanwhile.
      setTyped((now) => (now.trim() === added ? '' : now));
      say(`${added} was added.`);
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
  const rule = settled === hostname ? broken(hostname) : undefined;
  const refused =
    isTried && tried.error instanceof Refused && tried.error.status < 429 ? sayError(tried.error) : undefined;
  const wrong = rule === undefined ? refused : `It ${rule}`.replace(/^It (?!must)/, '');
  const outlook = settled === hostname && hostname !== '' ? tried.data : undefined;
  const converted = needsALabel(hostname) && outlook ? ` as ${outlook.hostname}, which most browsers show,` : '';
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (hostname !== '' && broken(hostname) === undefined) mutate(hostname);
  };
  return (
    <form className="card add" onSubmit={submit} aria-label="Add a domain">
      <div className="fields">
        <div className="field grow">
          <label htmlFor="hostname">Domain</label>
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
            <label htmlFor="status">Redirects to the primary by</label>
            <select id="status" value={status} onChange={(e) => setStatus(Number(e.target.value))}>
              {statuses.map(([code, words]) => (
                <option key={code} value={code}>
                  {words}
                </option>
              ))}
            </select>
          </div>
        )}
        <Button type="submit" className="primary" busy={isPending} disabled={wrong !== undefined}>
          {isPending ? 'Adding …' : 'Add domain'}
        </Button>
      </div>
      <p id="hostname-said" className={wrong === undefined ? 'said' : 'said bad'} aria-live="polite">
        {wrong ??
          (outlook
            ? outlook.phase === 'NotAccepted'
              ? outlook.message
              : `${hostname} can be added${converted}${primary === null ? ' and becomes the primary' : ''}.`
            : primary === null
              ? 'The first one becomes the primary and serves the project.'
              : `It will redirect to ${primary}.`)}
      </p>
      {error && <Problem error={error} />}
    </form>
  );
}

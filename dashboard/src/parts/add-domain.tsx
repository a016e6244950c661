/** Add: what is typed is checked at once by the rules that the server has, and then by the server itself, which writes nothing yet. */
import {useMutation, useQuery} from '@tanstack/react-query';
import {useEffect, useState} from 'react';
import type {FormEvent} from 'react';
import {hostnameRules} from '../../../operator/api/hostname-rules.ts';
import {api, Refused} from '../api.ts';
import {client, domainsQuery} from '../queries.ts';
import {Problem, sayError} from './problem.tsx';

const statuses = [
  [301, '301 permanent'],
  [302, '302 temporary'],
  [307, '307 temporary, method kept'],
  [308, '308 permanent, method kept'],
] as const;
const typingMs = 400;

/** The value, once it has been the same for a while. */
function useSettled(value: string, ms: number): string {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), ms);
    return () => clearTimeout(timer);
  }, [value, ms]);
  return settled;
}

/** The rule that a name breaks, in its own words. */
const broken = (name: string): string | undefined =>
  name === '' ? undefined : hostnameRules.find((rule) => !rule.holds(name))?.message;

export function AddDomain({project, primary}: {project: string; primary: string | null}) {
  const [typed, setTyped] = useState('');
  const [status, setStatus] = useState(301);
  const hostname = typed.trim();
  const settled = useSettled(hostname, typingMs);
  const tried = useQuery({
    queryKey: ['dry-run', project, settled],
    enabled: settled !== '' && settled === hostname && broken(settled) === undefined,
    queryFn: async ({signal}) => {
      await api.add(project, settled, 301, {dryRun: true, signal});
      return true;
    },
    gcTime: 0,
    staleTime: 0,
    retry: false,
  });
  const {mutate, isPending, error, reset} = useMutation({
    mutationFn: () => api.add(project, hostname, status),
    onSuccess: () => setTyped(''),
    onSettled: () => client.invalidateQueries(domainsQuery(project)),
  });
  const rule = settled === hostname ? broken(hostname) : undefined;
  const refused =
    settled === hostname && tried.error instanceof Refused && tried.error.status < 429
      ? sayError(tried.error)
      : undefined;
  const wrong = rule === undefined ? refused : `It ${rule}`.replace(/^It (?!must)/, '');
  const good = tried.isSuccess && settled === hostname && hostname !== '';
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (hostname !== '' && broken(hostname) === undefined) mutate();
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
              reset();
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
        <button type="submit" className="primary" disabled={isPending || wrong !== undefined}>
          {isPending ? 'Adding …' : 'Add domain'}
        </button>
      </div>
      <p id="hostname-said" className={wrong === undefined ? 'said' : 'said bad'} aria-live="polite">
        {wrong ??
          (good
            ? `${hostname} can be added${primary === null ? ' and becomes the primary' : ''}.`
            : primary === null
              ? 'The first one becomes the primary and serves the project.'
              : `It will redirect to ${primary}.`)}
      </p>
      {error && <Problem error={error} />}
    </form>
  );
}

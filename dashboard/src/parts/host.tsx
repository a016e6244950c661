/** A hostname: its state, its next step, and its actions. */
import {useMutation} from '@tanstack/react-query';
import {Suspense, useEffect, useRef, useState} from 'react';
import type {RefObject} from 'react';
import {api} from '../api.ts';
import type {Host} from '../api.ts';
import {client, domainsQuery} from '../queries.ts';
import {partyOf, spaced, textsOf, when} from '../words.ts';
import {Button} from './button.tsx';
import {giveFocusBack} from './focus.ts';
import {later} from './later.ts';
import {Problem} from './problem.tsx';
import {Records} from './records.tsx';
import {Timeline} from './timeline.tsx';

const Confirm = later(() => import('./dialog.tsx'));

export interface HostProps {
  project: string;
  host: Host;
  /** The hostname that serves the project. */
  primary: string | null;
  etag: string;
  readOnly: boolean;
  mayVerify: boolean;
  /** The last Verify that was acted on. */
  checkedFor: string | null;
  /** The last request for new certificates that is complete. */
  reissuedFor: string | null;
  /** Says to who does not see the page what has become of their own action. */
  say: (outcome: string) => void;
}

const toneOf = (host: Host): string => {
  const {phase, waitingFor, servedUntil} = host;
  const {tone} = textsOf(host);
  if (tone === 'bad' || phase === 'NotAccepted') return 'bad';
  if (servedUntil !== undefined || tone === 'wait') return 'wait';
  if (phase === 'Live') return 'good';
  return waitingFor === 'Customer' || waitingFor === 'Platform' ? 'wait' : 'plain';
};

const roleOf = ({role, redirect}: Host, primary: string | null): string => {
  if (role === 'Primary') return 'Primary';
  if (role === 'FormerPrimary') return 'Was the primary';
  return redirect
    ? `Redirects to ${redirect.to} (${redirect.status})`
    : `Will redirect${primary === null ? '' : ` to ${primary}`}`;
};

/** Records that exist, or could not be checked. */
const stand = (records: Host['records']): boolean =>
  records.every(({state}) => state === 'Found' || state === 'Unknown');

export function HostCard(props: HostProps) {
  const {host, primary, readOnly, mayVerify} = props;
  const {hostname, phase, waitingFor, records} = host;
  const {title, body, next, howLong} = textsOf(host);
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => giveFocusBack, []);
  const open = (phase !== 'Live' && phase !== 'Removing') || !stand(records);
  return (
    <li className="card host" data-hostname={hostname}>
      <div className="row">
        <h2 ref={heading} tabIndex={-1}>
          {phase === 'Live' ? (
            <a href={`https://${hostname}`} rel="noreferrer">
              {hostname}
            </a>
          ) : (
            hostname
          )}
        </h2>
        <p className="tail">
          <span className="badge" data-tone={toneOf(host)}>
            {spaced(phase)}
          </span>
        </p>
      </div>
      <p className="note">
        {roleOf(host, primary)} · {title}
        {waitingFor !== 'Nobody' && (
          <>
            {' '}
            · waiting for <b>{partyOf(waitingFor)}</b>
          </>
        )}
      </p>
      <p className="message">{body}</p>
      {next !== '' && <p className="message">{`${next} ${howLong}`.trim()}</p>}
      {host.servedUntil !== undefined && (
        <p className="message">
          Served until <time dateTime={host.servedUntil}>{when(host.servedUntil)}</time>.
        </p>
      )}
      {open ? (
        <Records host={host} />
      ) : (
        records.length > 0 && (
          <details>
            <summary>DNS records</summary>
            <Records host={host} />
          </details>
        )
      )}
      <Timeline host={host} />
      {(mayVerify || !readOnly) && phase !== 'Removing' && <Actions {...props} heading={heading} />}
    </li>
  );
}

function Actions({
  project,
  host,
  etag,
  readOnly,
  mayVerify,
  checkedFor,
  reissuedFor,
  say,
  heading,
}: HostProps & {heading: RefObject<HTMLHeadingElement | null>}) {
  const {hostname, role, phase} = host;
  const {body} = textsOf(host);
  const [asking, setAsking] = useState(false);
  const read = (): Promise<void> => client.invalidateQueries(domainsQuery(project));
  /** Whether somebody here waits for the outcome of a Verify. */
  const waits = useRef(false);
  const verify = useMutation({
    mutationFn: () => api.verify(project, hostname),
    onMutate: () => {
      waits.current = true;
      say('');
    },
  });
  const primary = useMutation({
    mutationFn: () => api.makePrimary(project, hostname, etag),
    onSettled: read,
    onSuccess: () => say(`${hostname} is the primary.`),
  });
  const remove = useMutation({
    mutationFn: () => api.remove(project, hostname, etag),
    onSettled: read,
    onSuccess: () => {
      setAsking(false);
      say(`${hostname} was removed.`);
    },
  });
  const checking = verify.isPending || isOpen(verify.data, checkedFor);
  useEffect(() => {
    if (checking || !waits.current) return;
    waits.current = false;
    if (verify.isSuccess) say(`${hostname}: ${spaced(phase)}. ${body}`);
  });
  // With the role a button goes.
  useEffect(() => () => giveFocusBack(heading.current), [role, heading]);
  const error = verify.error ?? primary.error;
  return (
    <>
      {error && <Problem error={error} />}
      <div className="actions">
        {mayVerify && (
          <Button busy={checking} onClick={() => verify.mutate()}>
            {checking
              ? 'Checking …'
              : phase === 'AwaitingVerification' || phase === 'NotAccepted'
                ? 'Verify'
                : 'Re-verify'}
            <span className="hidden"> {hostname}</span>
          </Button>
        )}
        {mayVerify && phase === 'Live' && (
          <Reissue project={project} hostname={hostname} reissuedFor={reissuedFor} say={say} />
        )}
        {!readOnly && role === 'RedirectSource' && (
          <Button busy={primary.isPending} onClick={() => primary.mutate()}>
            Make primary<span className="hidden"> {hostname}</span>
          </Button>
        )}
        {!readOnly && (
          <button
            type="button"
            className="quiet danger-text"
            onClick={() => {
              remove.reset();
              setAsking(true);
            }}
          >
            Remove<span className="hidden"> {hostname}</span>
          </button>
        )}
      </div>
      {asking && (
        <Suspense>
          <Confirm
            title={`Remove ${hostname}?`}
            does="Remove"
            dangerous
            busy={remove.isPending}
            error={remove.error}
            onConfirm={() => remove.mutate()}
            onClose={() => setAsking(false)}
          >
            <Removed host={host} />
          </Confirm>
        </Suspense>
      )}
    </>
  );
}

/** Whether a request is still without its answer. `answered`: the time of the last request that has one. */
const isOpen = (request: {requestedAt: string} | undefined, answered: string | null): boolean =>
  request !== undefined && (answered === null || answered < request.requestedAt);

/** The button that requests new certificates, and its question. */
function Reissue({
  project,
  hostname,
  reissuedFor,
  say,
}: Pick<HostProps, 'project' | 'reissuedFor' | 'say'> & {hostname: string}) {
  const [asking, setAsking] = useState(false);
  const reissue = useMutation({
    mutationFn: () => api.reissue(project, hostname),
    onSuccess: () => {
      setAsking(false);
      say('New certificates are on their way.');
    },
  });
  const running = isOpen(reissue.data, reissuedFor);
  return (
    <>
      <Button
        className="quiet"
        busy={running}
        onClick={() => {
          reissue.reset();
          setAsking(true);
        }}
      >
        {running ? 'Getting new certificates …' : 'Get a new certificate'}
        <span className="hidden"> {hostname}</span>
      </Button>
      {asking && (
        <Suspense>
          <Confirm
            title="Get new certificates?"
            does="Get new certificates"
            busy={reissue.isPending}
            error={reissue.error}
            onConfirm={() => reissue.mutate()}
            onClose={() => setAsking(false)}
          >
            <p>
              All domains of this project get a new certificate with a new key. Do this if a key has leaked, or support
              has asked you to.
            </p>
            <p className="note">
              Visitors notice nothing. It usually takes a few minutes. It counts against the limits of the certificate
              authority: a domain gets only a few certificates a week.
            </p>
          </Confirm>
        </Suspense>
      )}
    </>
  );
}

/** The consequences of a removal. */
function Removed({host: {hostname, phase, servedUntil, certificateExpires, records}}: {host: Host}) {
  return (
    <>
      {phase === 'Live' || servedUntil !== undefined ? (
        <p>
          Its traffic stops at once: whoever opens <b>{hostname}</b> gets an error from then on.
        </p>
      ) : (
        <p>
          <b>{hostname}</b> is not live: no traffic depends on it.
        </p>
      )}
      <p className="note">
        {certificateExpires !== undefined && stand(records)
          ? 'The hostname is kept for you for a while: adding it again needs no new proof as long as the DNS stays as it is.'
          : 'Adding it again begins with the proof by its DNS records.'}
      </p>
    </>
  );
}

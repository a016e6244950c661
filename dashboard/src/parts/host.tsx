/** A domain: its state, its next step, and its actions. */
import {useMutation} from '@tanstack/react-query';
import {Suspense, useEffect, useRef, useState} from 'react';
import type {RefObject} from 'react';
import {api} from '../api.ts';
import type {Host} from '../api.ts';
import {useTexts} from '../language.ts';
import {client, domainsQuery} from '../queries.ts';
import type {Texts} from '../texts/en.ts';
import {textsOf, when} from '../words.ts';
import {Button} from './button.tsx';
import {giveFocusBack} from './focus.ts';
import {later} from './later.ts';
import {Problem} from './problem.tsx';
import {exist, Records, usePlace} from './records.tsx';
import {Timeline} from './timeline.tsx';

const Confirm = later(() => import('./dialog.tsx'));

export interface HostProps {
  project: string;
  host: Host;
  /** The main domain of the project. */
  primary: string | null;
  etag: string;
  readOnly: boolean;
  mayVerify: boolean;
  /** The last Verify that was acted on. */
  checkedFor: string | null;
  /** The last request for new certificates that is complete. */
  reissuedFor: string | null;
  /** Reports the outcome of an action to people who do not see the page. */
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

const roleOf = ({role, redirect}: Host, primary: string | null, {roles}: Texts): string => {
  if (role === 'Primary') return roles.main;
  if (role === 'FormerPrimary') return roles.formerMain;
  return redirect
    ? roles.redirects(redirect.to, redirect.status === 301 || redirect.status === 308)
    : roles.willRedirect(primary);
};

export function HostCard(props: HostProps) {
  const texts = useTexts();
  const {host, primary, readOnly, mayVerify} = props;
  const {hostname, phase, waitingFor, records} = host;
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => giveFocusBack, []);
  const open = (phase !== 'Live' && phase !== 'Removing') || !exist(records);
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
            {texts.phases[phase]}
          </span>
        </p>
      </div>
      <p className="note">
        {roleOf(host, primary, texts)}
        {texts.waitingFor[waitingFor] !== '' && (
          <>
            {' '}
            · <b>{texts.waitingFor[waitingFor]}</b>
          </>
        )}
      </p>
      <State host={host} primary={primary} />
      {open ? (
        <Records host={host} primary={primary} />
      ) : (
        records.length > 0 && (
          <details>
            <summary>{texts.records.title}</summary>
            <Records host={host} primary={primary} />
          </details>
        )
      )}
      <Timeline host={host} />
      {(mayVerify || !readOnly) && phase !== 'Removing' && <Actions {...props} heading={heading} />}
    </li>
  );
}

/** The state in words: what was found, what happens next, how long it takes. */
function State({host, primary}: {host: Host; primary: string | null}) {
  const {host: texts} = useTexts();
  const {title, body, next, howLong} = textsOf(host, primary);
  return (
    <div className="state">
      <h3>{title}</h3>
      <p>{body}</p>
      <dl className="steps">
        {next !== '' && (
          <div>
            <dt>{texts.next}</dt>
            <dd>{next}</dd>
          </div>
        )}
        {howLong !== '' && (
          <div>
            <dt>{texts.howLong}</dt>
            <dd>{howLong}</dd>
          </div>
        )}
        {host.servedUntil !== undefined && (
          <div>
            <dt>{texts.worksUntil}</dt>
            <dd>
              <time dateTime={host.servedUntil}>{when(host.servedUntil)}</time>
            </dd>
          </div>
        )}
      </dl>
    </div>
  );
}

function Actions({
  project,
  host,
  primary: main,
  etag,
  readOnly,
  mayVerify,
  checkedFor,
  reissuedFor,
  say,
  heading,
}: HostProps & {heading: RefObject<HTMLHeadingElement | null>}) {
  const {host: texts, phases, removal} = useTexts();
  const {hostname, role, phase} = host;
  const {body} = textsOf(host, main);
  const [asking, setAsking] = useState(false);
  const read = (): Promise<void> => client.invalidateQueries(domainsQuery(project));
  /** Whether the outcome of a Verify is awaited here. */
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
    onSuccess: () => say(texts.isMain(hostname)),
  });
  const remove = useMutation({
    mutationFn: () => api.remove(project, hostname, etag),
    onSettled: read,
    onSuccess: () => {
      setAsking(false);
      say(texts.removed(hostname));
    },
  });
  const checking = verify.isPending || isOpen(verify.data, checkedFor);
  useEffect(() => {
    if (checking || !waits.current) return;
    waits.current = false;
    if (verify.isSuccess) say(`${hostname}: ${phases[phase]}. ${body}`);
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
              ? texts.checking
              : phase === 'AwaitingVerification' || phase === 'NotAccepted'
                ? texts.verify
                : texts.verifyAgain}
            <span className="hidden"> {hostname}</span>
          </Button>
        )}
        {mayVerify && phase === 'Live' && (
          <Reissue project={project} hostname={hostname} reissuedFor={reissuedFor} say={say} />
        )}
        {!readOnly && role === 'RedirectSource' && (
          <Button busy={primary.isPending} onClick={() => primary.mutate()}>
            {texts.makeMain}
            <span className="hidden"> {hostname}</span>
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
            {texts.remove}
            <span className="hidden"> {hostname}</span>
          </button>
        )}
      </div>
      {asking && (
        <Suspense>
          <Confirm
            title={removal.title(hostname)}
            does={texts.remove}
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
  const {certificates: texts} = useTexts();
  const [asking, setAsking] = useState(false);
  const reissue = useMutation({
    mutationFn: () => api.reissue(project, hostname),
    onSuccess: () => {
      setAsking(false);
      say(texts.started);
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
        {running ? texts.getting : texts.get}
        <span className="hidden"> {hostname}</span>
      </Button>
      {asking && (
        <Suspense>
          <Confirm
            title={texts.title}
            does={texts.does}
            busy={reissue.isPending}
            error={reissue.error}
            onConfirm={() => reissue.mutate()}
            onClose={() => setAsking(false)}
          >
            <p>{texts.text}</p>
            <p className="note">{texts.note}</p>
          </Confirm>
        </Suspense>
      )}
    </>
  );
}

/** Explains a removal: consequences for visitors, reservation, records to delete afterwards. */
function Removed({host: {hostname, phase, servedUntil, certificateExpires, records, zone}}: {host: Host}) {
  const {removal: texts} = useTexts();
  const place = usePlace(zone);
  const present = records.filter(({state}) => state === 'Found');
  return (
    <>
      <p>{phase === 'Live' || servedUntil !== undefined ? texts.stops(hostname) : texts.notLive(hostname)}</p>
      <p className="note">{certificateExpires !== undefined && exist(records) ? texts.kept : texts.notKept}</p>
      {present.length > 0 && (
        <>
          <p id="to-delete">{texts.records(present.length, place)}</p>
          <ul className="to-delete" aria-labelledby="to-delete">
            {present.map(({type, name, value}) => (
              <li key={type + name + value}>
                <b>{type}</b> <code>{name}</code> → <code>{value}</code>
              </li>
            ))}
          </ul>
        </>
      )}
    </>
  );
}

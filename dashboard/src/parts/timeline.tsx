import type {Host} from '../api.ts';
import {span, when, whenAfter} from '../words.ts';

/** Added, verified, live: when each was, and how long it took. */
export function Timeline({host: {hostname, addedAt, verifiedAt, liveAt}}: {host: Host}) {
  const steps = [
    {name: 'Added', time: addedAt, before: undefined},
    {name: 'Verified', time: verifiedAt, before: addedAt},
    {name: 'Live', time: liveAt, before: verifiedAt},
  ];
  return (
    <ol className="timeline" aria-label={`What has happened to ${hostname}`}>
      {steps.map(({name, time, before}) => (
        <li key={name} data-done={time !== undefined}>
          <b>{name}</b>
          {time === undefined ? (
            <span>not yet</span>
          ) : (
            <time dateTime={time} title={when(time)}>
              {before === undefined ? when(time) : whenAfter(time, before)}
            </time>
          )}
          {time !== undefined && before !== undefined && <span>after {span(before, time)}</span>}
        </li>
      ))}
    </ol>
  );
}

import type {Host} from '../api.ts';
import {recordOf, span, when, whenAfter} from '../words.ts';

/** Added, verified, live: when each was, how long it took, and which record verified the domain. */
export function Timeline({host: {hostname, addedAt, verifiedAt, verifiedBy, liveAt}}: {host: Host}) {
  const steps = [
    {name: 'Added', time: addedAt, before: undefined},
    {name: 'Verified', time: verifiedAt, before: addedAt, by: verifiedBy},
    {name: 'Live', time: liveAt, before: verifiedAt},
  ];
  return (
    <ol className="timeline" aria-label={`What has happened to ${hostname}`}>
      {steps.map(({name, time, before, by}) => (
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
          {time !== undefined && by !== undefined && <span>by {recordOf(by)}</span>}
        </li>
      ))}
    </ol>
  );
}

import type {Host} from '../api.ts';
import {useTexts} from '../language.ts';
import {span, when, whenAfter} from '../words.ts';

/** Added, verified, live: when each was, how long it took, and which record verified the domain. */
export function Timeline({host: {hostname, addedAt, verifiedAt, verifiedBy, liveAt}}: {host: Host}) {
  const {timeline: texts} = useTexts();
  const steps = [
    {name: texts.added, time: addedAt, before: undefined},
    {name: texts.verified, time: verifiedAt, before: addedAt, by: verifiedBy},
    {name: texts.live, time: liveAt, before: verifiedAt},
  ];
  return (
    <ol className="timeline" aria-label={texts.label(hostname)}>
      {steps.map(({name, time, before, by}) => (
        <li key={name} data-done={time !== undefined}>
          <b>{name}</b>
          {time === undefined ? (
            <span>{texts.notYet}</span>
          ) : (
            <time dateTime={time} title={when(time)}>
              {before === undefined ? when(time) : whenAfter(time, before)}
            </time>
          )}
          {time !== undefined && before !== undefined && <span>{texts.after(span(before, time))}</span>}
          {time !== undefined && by !== undefined && <span>{texts.by[by]}</span>}
        </li>
      ))}
    </ol>
  );
}

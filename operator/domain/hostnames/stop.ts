/** The annotation `doorplate.dev/stop`: hostnames that end at once when the spec no longer names them. */
import {longestStop, stopAnnotation} from '../../api/custom-domain.ts';
import type {CustomDomain} from '../../api/foreign.ts';
import {quote} from '../text.ts';
import type {Hostname} from './hostname.ts';
import {normalise} from './hostname.ts';

/** The hostnames in a CustomDomain's annotation, and the first value in it that is not a hostname. */
interface Stop {
  hostnames: ReadonlySet<Hostname>;
  invalid?: string | undefined;
  tooLong?: true;
}

type Annotated = Pick<CustomDomain, 'metadata'>;

/** Reads the annotation: hostnames, separated by commas, in any spelling. A value that is too long names no hostname. */
function readStop({metadata: {annotations}}: Annotated): Stop {
  const value = annotations?.[stopAnnotation] ?? '';
  // Caches cut a value that is too long, perhaps in the middle of a hostname.
  if (value.length > longestStop) return {hostnames: new Set(), tooLong: true};
  const written = value
    .split(',')
    .map((each) => each.trim())
    .filter((each) => each !== '');
  return {
    hostnames: new Set(written.flatMap((each) => normalise(each) ?? [])),
    invalid: written.find((each) => normalise(each) === undefined),
  };
}

/** Whether a hostname ends at once when the spec no longer names it. */
export const isStopped = (domain: Annotated, hostname: Hostname): boolean => readStop(domain).hostnames.has(hostname);

/** Why a part of the annotation has no effect, and what to do about it; undefined if the whole annotation has effect. */
export function stopFault(domain: Annotated, named: readonly Hostname[]): string | undefined {
  const {hostnames, invalid, tooLong} = readStop(domain);
  const subject = `The annotation ${stopAnnotation}`;
  if (tooLong)
    return `${subject} is longer than ${longestStop.toLocaleString('en-US')} characters, so it has no effect. Name fewer hostnames.`;
  if (invalid !== undefined)
    return `${subject} names "${quote(invalid, 100)}", which is not a hostname. Correct or remove it.`;
  const attached = named.find((hostname) => hostnames.has(hostname));
  if (attached === undefined) return undefined;
  return (
    `${subject} has no effect on ${attached}, because the spec names it. ` +
    'Remove it from the spec, or from the annotation.'
  );
}

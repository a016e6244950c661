/** Parameters of the texts for customers. */
import type {Parameters} from './template.ts';

/** A record as the API shows it. */
export interface DescribedRecord {
  type: string;
  name: string;
  zone: string;
  value: string;
  ttl: number;
  note?: string | undefined;
  state: string;
  observed: readonly string[];
}

/** The fields of a hostname, a project or an API key that its texts depend on, as the API shows them. */
export interface DescribedState {
  reason: string;
  waitingFor?: string | undefined;
  hostname?: string | undefined;
  records?: readonly DescribedRecord[] | undefined;
  zone?: {name: string; nameServers: readonly string[]; provider?: string | undefined} | undefined;
  servedUntil?: string | undefined;
  certificateExpires?: string | undefined;
  /** End of an API key. */
  expires?: string | null | undefined;
  redirect?: {to: string} | undefined;
  details?: Readonly<Record<string, string>> | undefined;
}

/** Names of parameters that are times (RFC 3339). */
export const timeParameters: ReadonlySet<string> = new Set(['until', 'expires', 'endTime']);

const mostFound = 4;

/** `primary`: the main domain of the project. Times are RFC 3339. A parameter without a value is absent. */
export function customerParameters(
  {
    hostname,
    waitingFor,
    records = [],
    zone,
    servedUntil,
    certificateExpires,
    expires,
    redirect,
    details,
  }: DescribedState,
  primary?: string | null,
): Parameters {
  const open = records.find(({state}) => state !== 'Found') ?? records[0];
  const found = records.flatMap(({observed}) => observed).slice(0, mostFound);
  const fields = {
    hostname,
    waitingFor,
    primary: primary !== hostname ? primary : undefined,
    record: open?.type,
    name: open?.name,
    expected: open?.value,
    found: found.length > 0 ? found.join(', ') : undefined,
    zone: zone?.name ?? open?.zone,
    provider: zone?.provider,
    target: redirect?.to,
    until: servedUntil,
    expires: certificateExpires ?? expires,
  };
  const known = Object.entries(fields).filter((field): field is [string, string] => field[1] != null);
  return {...details, ...Object.fromEntries(known)};
}

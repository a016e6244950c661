/** Climbs the DNS tree for a name's CAA records (RFC 8659, 3), and selects the resolver whose result counts. */
import {isReferral} from './finding.ts';
import {MOST_RECORDS} from './message.ts';
import {selfAndAncestors} from './names.ts';
import type {WireQuestion, Reply} from './wire.ts';
import type {Trouble} from './zones.ts';

/**
 * The CAA records that apply to a name, or the reason why they could not be read. If both are absent, no CAA records exist up to
 * the root.
 */
export interface CaaObservation {
  /** Name to which the records apply: the name itself, or the ancestor at which the climb ended. */
  of?: string;
  /** Name at which the records exist: the same name, or the end of its CNAMEs. */
  foundAt?: string;
  records?: {flags: number; tag: string; value: string}[];
  failure?: Trouble & {name: string};
  /** The resolver validated an answer during the climb (RFC 4035, 3.2.3: AD). */
  validated?: true;
}

/** Maximum number of CNAMEs followed for one name's CAA records. */
const MOST_ALIASES = 8;

/**
 * Climbs from `name` towards the root and stops at the first CAA records, as a CA does. A CNAME is followed only for the records at
 * its owner name; the climb then continues from that owner name. `askResolver` must always ask the same resolver, and never reject.
 */
export async function climb(
  name: string,
  askResolver: (question: WireQuestion) => Promise<Reply>,
): Promise<CaaObservation> {
  let validated = false;
  const ask = async (question: WireQuestion) => {
    const reply = await askResolver(question);
    validated ||= reply.kind === 'Answer' && reply.ad;
    return reply;
  };
  let seen: CaaObservation = {};
  for (const at of selfAndAncestors(name)) {
    const here = await caaAt(at, ask);
    if (!here) continue;
    seen = here;
    break;
  }
  return validated ? {...seen, validated} : seen;
}

async function caaAt(
  name: string,
  ask: (question: WireQuestion) => Promise<Reply>,
): Promise<CaaObservation | undefined> {
  let asked = name;
  for (let hops = 0; hops < MOST_ALIASES; hops++) {
    const reply = await ask({name: asked, type: 'CAA'});
    if (reply.kind === 'Failure') return {failure: {name: asked, failure: reply.failure, detail: reply.detail}};
    if (isReferral(reply))
      return {
        failure: {
          name: asked,
          failure: 'Other',
          detail: 'answered with a referral, because it does not resolve names recursively',
        },
      };
    // An unread record could be the one that forbids issuing.
    if (reply.cut)
      return {failure: {name: asked, failure: 'TooLarge', detail: `answered with more than ${MOST_RECORDS} records`}};
    const records = reply.answers.filter((record) => record.type === 'CAA');
    if (records[0])
      return {of: name, foundAt: records[0].name, records: records.map((record) => property(record.data))};
    // A resolver follows the CNAME itself; a purely authoritative server does not.
    const end = reply.answers.filter((record) => record.type === 'CNAME').at(-1)?.data;
    if (end === undefined || reply.authority.some((record) => record.type === 'SOA')) return undefined;
    asked = end;
  }
  return {failure: {name, failure: 'Other', detail: `more than ${MOST_ALIASES} CNAMEs`}};
}

/**
 * Selects the result that counts from several resolvers, given in their order. The CA validates DNSSEC (Baseline Requirements,
 * 3.2.2.8). So a validated result comes first, then a broken DNSSEC chain, then any answer, then any failure.
 */
export function decisive(seen: CaaObservation[]): CaaObservation {
  const answers = seen.filter(({failure}) => !failure);
  return (
    answers.find(({validated}) => validated) ??
    seen.find(({failure}) => failure?.failure === 'BrokenDnssec') ??
    answers[0] ??
    seen[0] ?? {failure: {name: '', failure: 'Other', detail: 'no resolver to ask'}}
  );
}

/** Parses a record's text (`Record_`). The tag contains no blank. */
function property(data: string): {flags: number; tag: string; value: string} {
  const [flags = '', tag = ''] = data.split(' ', 2);
  return {flags: Number(flags), tag, value: data.slice(flags.length + tag.length + 2)};
}

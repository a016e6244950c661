/** The climb for the CAA records of a name (RFC 8659, 3), and which resolver's result counts. */
import {isReferral} from './finding.ts';
import {MOST_RECORDS} from './message.ts';
import {selfAndAncestors} from './names.ts';
import type {WireQuestion, Reply} from './wire.ts';
import type {Trouble} from './zones.ts';

/** The CAA records that apply to a name, or the reason why they could not be read. Neither: no records exist up to the root. */
export interface CaaObservation {
  /** Whose they are: the name itself, or the ancestor at which the climb ended. */
  of?: string;
  /** Name at which the records were found: this name, or the end of its CNAMEs. */
  foundAt?: string;
  records?: {flags: number; tag: string; value: string}[];
  failure?: Trouble & {name: string};
  /** The resolver has validated an answer of the climb (RFC 4035, 3.2.3: AD). */
  validated?: true;
}

/** CNAMEs followed for the CAA records of one name. */
const MOST_ALIASES = 8;

/**
 * Climbs from `name` towards the root and stops at the first CAA records, as a CA does: a CNAME at a name is followed for that
 * name, the climb goes on from the name itself. `askResolver` asks always the same one, and never rejects.
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
        failure: {name: asked, failure: 'Other', detail: 'answered with a referral: it does not resolve for others'},
      };
    // An unread record may be the very record that forbids issuance.
    if (reply.cut)
      return {failure: {name: asked, failure: 'TooLarge', detail: `answered with more than ${MOST_RECORDS} records`}};
    const records = reply.answers.filter((record) => record.type === 'CAA');
    if (records[0])
      return {of: name, foundAt: records[0].name, records: records.map((record) => property(record.data))};
    // A resolver has followed the CNAME. A server that only knows its own zones has not.
    const end = reply.answers.filter((record) => record.type === 'CNAME').at(-1)?.data;
    if (end === undefined || reply.authority.some((record) => record.type === 'SOA')) return undefined;
    asked = end;
  }
  return {failure: {name, failure: 'Other', detail: `more than ${MOST_ALIASES} CNAMEs`}};
}

/**
 * The one that counts of what several resolvers say, in their order. The CA validates (Baseline Requirements, 3.2.2.8):
 * so what a resolver has validated counts first, then that one found the DNSSEC chain broken, then any answer, then any failure.
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

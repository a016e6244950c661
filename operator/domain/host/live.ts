/** From the routes to Live, and what is said of what is Live. */
import {edgeDelayMs, edgeGraceMs, seenOnEdge} from '../routes/edge.ts';
import {renewalOf} from './issuing.ts';
import {countOrder, recheckDns} from './ordering.ts';
import type {HostReport, Outcome} from './outcome.ts';
import {say, sayAgain} from './outcome.ts';
import {isAnsweredElsewhere, redirectReadAt} from './routing.ts';
import {reissue} from './reissuing.ts';
import type {PlannedHost} from './stages.ts';
import {stalledAt} from './finish.ts';
import {reasonOf} from '../reasons/reasons.ts';
import {originOverHttps, ownRecords} from '../verification/method.ts';
import {canVerifyByTxt, sayRecords, txtRecord} from '../verification/records.ts';
import {nextEdgeLook} from '../schedule.ts';
import {tell, writeErrorRetryMs} from '../status/write-error.ts';
import {minuteOf} from '../times.ts';

/** Its redirect is published before its routes are written. */
export const answerInPlaceOfAnother = (host: PlannedHost): Outcome | undefined =>
  isAnsweredElsewhere(host) ? (lacksPrimary(host) ? waitForPrimary(host) : sayPublished(host)) : undefined;

const waitForPrimary = ({hostname, primary}: PlannedHost): Outcome =>
  say('Verified', {
    reason: 'WaitingForPrimary',
    message: `${hostname} is ready and redirects as soon as ${primary.hostname} is Live.`,
  });

const lacksPrimary = ({role, redirect}: PlannedHost) => role === 'RedirectSource' && !redirect;

/** The edge probe succeeded before the hostname began to wait for the primary. It is repeated when the primary is Live. */
export const goOnWaitingForPrimary = (host: PlannedHost): Outcome | undefined =>
  lacksPrimary(host) && host.before?.phase === 'Verified' && host.before.reason === 'WaitingForPrimary'
    ? waitForPrimary(host)
    : undefined;

/** Every edge has presented its certificate (rule 6). */
export function awaitEdge({world, hostname, role, redirect, facts, before}: PlannedHost): Outcome | undefined {
  const {now} = world;
  const waits = before?.phase === 'Verified' && reasonOf(before.reason)?.about === 'Edge';
  const since = waits ? Date.parse(before.since) : now;
  const faulty = waits && before.reason !== 'EdgePending';
  // A new primary counts as Live only when its former redirect is gone from the edge.
  const whoAnswers = role === 'Primary' && redirect !== undefined;
  // A fault that was told was seen late enough: its own time does not begin another delay.
  const countsFrom = whoAnswers && !faulty ? since + edgeDelayMs : 0;
  const {edge: found, edgeLookedAt} = facts.edgeIncomplete ? {} : facts;
  const seen = (edgeLookedAt ?? 0) < countsFrom ? undefined : seenOnEdge(hostname, facts.certificate, found);
  if (seen?.kind === 'Seen') return undefined;
  const watch = (said: Outcome, again: number): Outcome => ({
    looks: [{hostname, what: 'edge', whoAnswers, at: Math.max(countsFrom, nextEdgeLook(since, edgeLookedAt, now))}],
    wakeAt: [since + again],
    ...said,
  });
  if (seen && seen.kind !== 'Pending' && waits && (faulty || now - since >= edgeDelayMs))
    return watch(say('Verified', {reason: seen.kind, message: seen.message}), edgeGraceMs);
  // After a restart the last finding stands.
  if (found === undefined && faulty) return watch(sayAgain(before), edgeGraceMs);
  const message = `${hostname} has its certificate; Doorplate waits until the edge presents it.`;
  return watch(
    // When what it becomes counts as seen is told by the time of this entry.
    {...(!whoAnswers && {passing: true}), ...say('Verified', {reason: 'EdgePending', message})},
    edgeDelayMs,
  );
}

export const beginWaitingForPrimary = (host: PlannedHost): Outcome | undefined =>
  lacksPrimary(host) ? waitForPrimary(host) : undefined;

/** The redirector reads status: what it shall answer is published before the host is called Live. */
export const publishRedirect = (host: PlannedHost): Outcome | undefined =>
  host.role === 'RedirectSource' && !host.before?.redirect ? sayPublished(host) : undefined;

function sayPublished(host: PlannedHost): Outcome {
  const {hostname, primary} = host;
  const readAt = redirectReadAt(host);
  const message = `${hostname} is ready; its redirect to ${primary.hostname} is being published.`;
  return {...(readAt < Infinity && {wakeAt: [readAt]}), ...say('Verified', {reason: 'RoutesPending', message})};
}

/** The edge probes of a Live hostname (rule 6). Verify is answered after a probe. */
export function probeEdge({hostname, edge, facts, servesStill}: PlannedHost): Outcome | undefined {
  if (!edge) return undefined;
  const {leafSha256, notAfter} = (servesStill ? facts.formerCertificate : facts.certificate) ?? {};
  const watches = {leafSha256, notAfter, confirms: edge.confirms};
  return {
    looks: [{hostname, what: 'edge', whoAnswers: false, watches, at: edge.nextProbe}],
    ...(edge.awaited && {unanswered: true}),
  };
}

/** The edge does not present the issued certificate. Phase and routes stay. */
export const reportEdgeFault = (host: PlannedHost): Outcome | undefined =>
  host.edge?.fault && {wakeAt: [stalledAt(host.edge.fault.reason, host)], ...say('Live', host.edge.fault)};

/** It is served although it is no longer acceptable (rule 8). */
export const reportGraceOfDowngrade = ({refusal}: PlannedHost): Outcome | undefined => refusal && say('Live', refusal);

/** It is served although DNS proves it no longer (rule 3). */
export function reportGraceOfDrift({hostname, drifted, facts, before, servedUntil}: PlannedHost): Outcome | undefined {
  if (!drifted) return undefined;
  const {verdict} = facts;
  const reason = 'DNSDrifted';
  if (verdict?.kind !== 'Refuted' && before?.reason === reason)
    return say('Live', {reason, message: before.message, details: before.details});
  const seen = verdict?.kind === 'Refuted' ? verdict.message : `${hostname} is no longer verified.`;
  return say('Live', {reason, message: `${seen} ${hostname} is served until ${minuteOf(servedUntil ?? '')}.`});
}

export function reportLateRenewal(host: PlannedHost): Outcome | undefined {
  const {step} = renewalOf(host);
  return step && say('Live', step);
}

/**
 * The service of a former primary ends before it is a redirect source. Nothing is ordered for its redirect, and what the redirect waits for
 * is not reported, except a write error.
 */
export function reportGraceOfFormerRole(host: PlannedHost): Outcome | undefined {
  const {servesStill, facts, former, world} = host;
  const grace = servesStill && (reportGraceOfDowngrade(host) ?? reportGraceOfDrift(host));
  if (!grace) return undefined;
  const {certificate, writeError} = facts;
  return {
    ...recheckDns(host),
    ...countOrder(host),
    ...(reissue(host)?.reissuing && {reissuing: true}),
    ...(!certificate && {routing: {...former, routed: false}}),
    ...(writeError ? {wakeAt: [world.now + writeErrorRetryMs], ...say('Live', tell(writeError))} : grace),
  };
}

/** The reason and message of a Live hostname, by its role. */
function sayServed(host: PlannedHost): Pick<HostReport, 'reason' | 'message' | 'details'> {
  const {hostname, role, primary, redirect, servesStill, facts} = host;
  if (servesStill)
    return {
      reason: 'Serving',
      message: `${hostname} is served as before until ${primary.hostname} is Live and its own redirect exists.`,
    };
  switch (role) {
    case 'FormerPrimary':
      return {
        reason: 'ServedUntilReplaced',
        ...(facts.isAwaited && {details: {cause: 'Moved'}}),
        message: facts.isAwaited
          ? `${hostname} is served as before until another CustomDomain of the same account serves it. That CustomDomain now names it.`
          : `${hostname} is served as before until ${primary.hostname} is Live.`,
      };
    case 'Primary':
      return {reason: 'Serving', message: `${hostname} is served over TLS.`};
    case 'RedirectSource':
      return {reason: 'Redirecting', message: `${hostname} redirects to ${redirect?.to ?? primary.hostname}.`};
  }
}

/** A CDN hides what proved it (rule 3). Nothing is told of what is seen there, which changes from check to check. */
export function reportCdn(host: PlannedHost): Outcome | undefined {
  const {facts, before, role, question, zone, ownership} = host;
  if (role === 'FormerPrimary' || ownership.byPlatform) return undefined;
  // As before, while nothing is known, or a negative that is not confirmed.
  const isAsBefore = facts.verdict?.kind !== 'Proven' && before?.reason === 'ServedBehindCDN';
  if (!ownership.hidden) return isAsBefore ? sayAgain(before) : undefined;
  const place = {apex: zone?.name === question.hostname, ...(zone && {zone})};
  const wildcard = facts.verdict?.kind === 'Refuted' ? facts.verdict.wildcard : undefined;
  const create =
    wildcard === undefined
      ? 'Create'
      : `A wildcard record leads there: first give ${ownRecords(question.hostname, wildcard)} its value, then create`;
  const remedy = canVerifyByTxt(question)
    ? `${create} ${sayRecords([txtRecord(question, place)], place)}`
    : 'Switch the CDN off for this name, so that visitors reach this platform directly';
  const message =
    `${sayServed(host).message} It is now behind a CDN, which hides the record that ` +
    `verified it. ${remedy}, so that Doorplate can verify the hostname again. ${originOverHttps('The CDN')}`;
  return say('Live', {
    reason: 'ServedBehindCDN',
    message: withReissue(host, message),
    ...(wildcard !== undefined && {details: {wildcard: `*.${wildcard}`}}),
  });
}

/** An HTTPS record, which browsers follow before an address, leads elsewhere (RFC 9460, 3). */
export function reportHttpsRecord(host: PlannedHost): Outcome | undefined {
  const {facts, before, role, ownership} = host;
  if (role === 'FormerPrimary' || ownership.byPlatform) return undefined;
  const {verdict} = facts;
  const reason = 'HTTPSRecordElsewhere';
  // Only an answer ends it.
  const go = verdict?.kind === 'Proven' ? verdict.browsersGo : 'Unknown';
  if (go === undefined || (go === 'Unknown' && before?.reason !== reason)) return undefined;
  const message =
    'Its HTTPS record leads browsers elsewhere. Delete that record; these browsers then reach this platform.';
  return say('Live', {reason, message: withReissue(host, `${sayServed(host).message} ${message}`)});
}

export function reportServed(host: PlannedHost): Outcome {
  const {reason, message, details} = sayServed(host);
  return say('Live', {reason, details, message: withReissue(host, message)});
}

const withReissue = ({reissue: requested}: PlannedHost, message: string): string =>
  requested ? `${message} ${requested.said}` : message;

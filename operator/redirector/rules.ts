import type {HostStatus} from '../api/custom-domain.ts';
import type {CustomDomain, Project} from '../api/foreign.ts';
import {phaseRows} from '../domain/status/phases.ts';
import {type ReasonName, reasonOf} from '../domain/reasons/reasons.ts';
import type {RedirectRule} from './table.ts';

/** HTTP of a hostname that serves goes to HTTPS, method and body kept. */
const toHttps = (host: string): RedirectRule => ({host, to: host, status: 308});

const status = (code: number): RedirectRule['status'] => (code === 302 || code === 307 || code === 308 ? code : 301);

/*
 * What an object tells the redirector, out of its status alone, which only the operator writes. While it is being deleted it
 * tells nothing. Plain HTTP of every name leads here, so a name of which no route over HTTPS stands is not told of: it gets 404.
 */

/**
 * While a write is refused or fails, the routes that were written before exist. The redirector must know pending routes before a request
 * comes.
 */
const withRoutes: readonly ReasonName[] = ['Routed', 'RoutesPending', 'WriteRefused', 'WriteFailed'];

const isProjectRouted = ({status: said}: Project): boolean =>
  said?.conditions?.some((c) => c.type === 'RoutesReady' && withRoutes.some((reason) => reason === c.reason)) ?? false;

/** It is Live or has been, or the edge is watched for the routes that were written. */
export const isHostRouted = ({phase, reason, liveAt}: HostStatus): boolean => {
  const {isVerified, isLive} = phaseRows[phase];
  const written = reason === 'RoutesPending' || reasonOf(reason)?.about === 'Edge';
  return isLive || (isVerified && (liveAt !== undefined || written));
};

export function rulesOfProject(project: Project): RedirectRule[] {
  const {metadata, status: said} = project;
  if (metadata.deletionTimestamp !== undefined || said?.host === undefined || !isProjectRouted(project)) return [];
  return [
    said.redirect ? {host: said.host, to: said.redirect.to, status: status(said.redirect.status)} : toHttps(said.host),
  ];
}

export function rulesOfDomain({metadata, status: said}: CustomDomain): RedirectRule[] {
  if (metadata.deletionTimestamp !== undefined) return [];
  return (said?.hosts ?? []).flatMap((h): RedirectRule[] => {
    if (!isHostRouted(h)) return [];
    if (h.redirect) return [{host: h.hostname, to: h.redirect.to, status: status(h.redirect.status)}];
    // A source without a redirect that is Live was the primary and serves still.
    return h.role !== 'RedirectSource' || phaseRows[h.phase].isLive ? [toHttps(h.hostname)] : [];
  });
}

/**
 * The table that `server.ts` reads, kept by what each owner tells; an owner's newest word replaces all its older ones. Where
 * two owners tell of one host the later counts, and when that one goes, the other again.
 */
export class Table {
  readonly #rules = new Map<string, RedirectRule>();
  readonly #byHost = new Map<string, Map<string, RedirectRule>>();
  readonly #hosts = new Map<string, string[]>();

  get rules(): ReadonlyMap<string, RedirectRule> {
    return this.#rules;
  }

  set(owner: string, rules: readonly RedirectRule[]): void {
    const told = new Set(rules.map((r) => r.host));
    for (const host of this.#hosts.get(owner) ?? []) if (!told.has(host)) this.#tell(host, owner, undefined);
    for (const rule of rules) this.#tell(rule.host, owner, rule);
    if (rules.length === 0) this.#hosts.delete(owner);
    else this.#hosts.set(owner, [...told]);
  }

  #tell(host: string, owner: string, rule: RedirectRule | undefined): void {
    const owners = this.#byHost.get(host) ?? new Map<string, RedirectRule>();
    if (rule) owners.set(owner, rule);
    else owners.delete(owner);
    const last = [...owners.values()].at(-1);
    if (last) {
      this.#byHost.set(host, owners);
      this.#rules.set(host, last);
    } else {
      this.#byHost.delete(host);
      this.#rules.delete(host);
    }
  }
}

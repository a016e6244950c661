/** Changes of a project's domains, as pure functions. Hostnames are in normal form. */
import type {RedirectStatus} from '../../api/custom-domain-spec.ts';
import type {CustomDomain} from '../../api/foreign.ts';
import type {Hostname} from '../../domain/hostnames/hostname.ts';
import {formerPrimary} from '../../domain/hostnames/hosts.ts';
import {Problem} from '../problems.ts';
import {nameOf} from '../views.ts';
import type {DomainsChange, DomainsOf} from '../store/writer.ts';

const redirectsOf = (now: DomainsOf): NonNullable<DomainsOf['redirects']> => now.redirects ?? [];
const has = (now: DomainsOf, hostname: Hostname): boolean =>
  nameOf(now.primary) === hostname || redirectsOf(now).some((r) => nameOf(r.from) === hostname);
const missing = (): Problem => new Problem('not-found', 'The project has no such hostname.');

/** The first hostname becomes the primary, others redirect to it. */
export const add =
  (hostname: Hostname, status: RedirectStatus): DomainsChange =>
  (now) => {
    if (!now) return {primary: hostname};
    if (has(now, hostname)) throw new Problem('hostname-exists', `The project has ${hostname} already.`);
    return {...now, redirects: [...redirectsOf(now), {from: hostname, status}]};
  };

/** As `add`; of a hostname that is there, the redirect's status is set. */
export const put =
  (hostname: Hostname, status: RedirectStatus): DomainsChange =>
  (now) => {
    if (!now || !has(now, hostname)) return add(hostname, status)(now);
    return {...now, redirects: redirectsOf(now).map((r) => (nameOf(r.from) === hostname ? {...r, status} : r))};
  };

/** Its traffic stops at once, also if it is the former primary. */
export const remove =
  (hostname: Hostname): DomainsChange =>
  (now, status) => {
    if (!now) throw missing();
    if (nameOf(now.primary) === hostname) return removePrimary(hostname, now, status);
    const after = {...now, redirects: redirectsOf(now).filter((r) => nameOf(r.from) !== hostname)};
    if (formerPrimary({spec: after, status}) === hostname) return {...after, stop: hostname};
    if (!has(now, hostname)) throw missing();
    return after;
  };

/** The last hostname. Throws while other hostnames depend on it. */
function removePrimary(hostname: Hostname, now: DomainsOf, status: CustomDomain['status']): undefined {
  const redirects = redirectsOf(now);
  if (redirects.length > 0) {
    throw new Problem(
      'primary-has-redirects',
      `${redirects.length === 1 ? 'A hostname redirects' : `${redirects.length} hostnames redirect`} to ${hostname}. ` +
        'Make one of them the primary, or remove them first.',
    );
  }
  const former = formerPrimary({spec: now, status});
  if (former !== undefined) {
    throw new Problem(
      'primary-has-redirects',
      `${former} was the primary and is served until ${hostname} is Live. Its traffic would stop too. Remove ${former} first.`,
    );
  }
  return undefined;
}

/** The two change places: the primary of before redirects from now on. */
export const makePrimary =
  (hostname: Hostname): DomainsChange =>
  (now) => {
    if (!now || !has(now, hostname)) throw missing();
    if (nameOf(now.primary) === hostname) return now;
    const status = redirectsOf(now).find((r) => nameOf(r.from) === hostname)!.status;
    return {
      primary: hostname,
      redirects: redirectsOf(now).map((r) => (nameOf(r.from) === hostname ? {from: nameOf(now.primary), status} : r)),
    };
  };

/** Changes of a project's domains, as pure functions. Hostnames are in normal form. */
import type {RedirectStatus} from '../../api/custom-domain.ts';
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

export const remove =
  (hostname: Hostname): DomainsChange =>
  (now, status) => {
    if (!now || !has(now, hostname)) throw missing();
    const after = {...now, redirects: redirectsOf(now).filter((r) => nameOf(r.from) !== hostname)};
    // The operator would continue to serve the hostname until the new primary is Live, because it does not know yet that the hostname only
    // redirects.
    if (formerPrimary({spec: after, status}) === hostname) {
      throw new Problem(
        'unavailable',
        `${hostname} was the primary until just now, and the operator has not taken up the new one yet. Nothing was removed: try again.`,
        {headers: {'retry-after': '2'}},
      );
    }
    const {redirects} = after;
    if (nameOf(now.primary) !== hostname) return after;
    if (redirects.length > 0) {
      throw new Problem(
        'primary-has-redirects',
        `${redirects.length === 1 ? 'A hostname redirects' : `${redirects.length} hostnames redirect`} to ${hostname}. ` +
          'Make one of them the primary, or remove them first.',
      );
    }
    return undefined;
  };

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

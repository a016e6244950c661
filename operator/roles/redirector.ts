/** The redirector: a table out of status, and an HTTP server that answers by it. */
import type {CustomDomain, Project} from '../api/foreign.ts';
import {identity} from '../resources/projections.ts';
import {customDomains, projects} from '../resources/resources.ts';
import {Cache} from '../kube/cache/cache.ts';
import {Manager} from '../kube/manager.ts';
import type {HasMeta} from '../kube/objects.ts';
import {keyOf} from '../kube/objects.ts';
import {Lookup} from '../redirector/lookup.ts';
import {rulesOfDomain, rulesOfProject, Table} from '../redirector/rules.ts';
import {startRedirector} from '../redirector/server.ts';
import type {RedirectRule} from '../redirector/table.ts';
import type {RoleParts} from './parts.ts';

/** The cached part of an object: its redirects. */
interface RedirectorRules extends HasMeta {
  rules: RedirectRule[];
}

export function redirector({client, log}: RoleParts, {port = 8080, lingerMs = 5_000} = {}): Manager {
  const table = new Table();
  const domainCache = new Cache<RedirectorRules, CustomDomain>(client, customDomains, {
    log,
    project: (d) => ({metadata: identity(d.metadata), rules: rulesOfDomain(d)}),
  });
  const projectCache = new Cache<RedirectorRules, Project>(client, projects, {
    log,
    project: (p) => ({metadata: identity(p.metadata), rules: rulesOfProject(p)}),
  });
  for (const cache of [domainCache, projectCache]) {
    cache.onChange((now, before) => table.set(`${cache.resource.kind} ${keyOf((now ?? before)!)}`, now?.rules ?? []));
  }
  const ready = () => domainCache.isSynced && projectCache.isSynced;
  const lookup = new Lookup({client, log});
  const ruleOf = (host: string) => lookup.ruleOf(host);
  let server: Awaited<ReturnType<typeof startRedirector>> | undefined;
  const http = {
    start: async () => {
      server = await startRedirector({port, table: () => table.rules, ready, ruleOf, log, lingerMs, drainMs: 15_000});
    },
    stop: async () => server?.close(),
  };
  return new Manager({client, log}).addServer(http).addCache(domainCache, projectCache);
}

/** What would become of hostnames: gathered, foreseen, told. Nothing is written. */
import {checksCaa} from '../../domain/certificates/choose-issuer.ts';
import type {CustomDomain} from '../../api/foreign.ts';
import {type Settings, toRules} from '../../config.ts';
import {check as askDns} from '../../controllers/probes/dns-check.ts';
import {customDomains, projects} from '../../resources/resources.ts';
import {DnsClient} from '../../dns/client.ts';
import {systemResolvers} from '../../dns/resolvers.ts';
import {older} from '../../domain/hostnames/acceptance.ts';
import {type HostView, hostsOf} from '../../http/views.ts';
import {keyOf} from '../../kube/objects.ts';
import type {Call} from '../command.ts';
import type {Attached} from '../domains/domains.ts';
import {UsageError} from '../errors.ts';
import {type ExitCode, exitCodeOfAll} from '../exit-code.ts';
import {explainHost, sayExplanation} from '../domains/explain.ts';
import {forPrograms, table} from '../output.ts';
import {requiredSettings} from '../settings.ts';
import type {Connection} from '../surroundings.ts';
import type {CheckCommandOptions} from './options.ts';
import {Foresight} from './foresee.ts';
import {type CheckFacts, knownOf} from './known.ts';
import {isClear} from './published.ts';
import {askedOf, type Resolver} from './resolvers.ts';
import {type Subject, subjectsIn, textsOf, withHostnames} from './subjects.ts';

/** The foreseen state of a hostname. `next`: the state after the present refusal. */
interface Foreseen extends Attached {
  next?: HostView;
}

export async function check(
  connection: Connection,
  call: Call<CheckCommandOptions> & {resolvers: readonly Resolver[]},
): Promise<ExitCode> {
  const {client} = connection;
  const {settings: place} = call.options;
  const settings = askedOf(call.resolvers, await requiredSettings(client, place));
  const [home = ''] = place.split('/');
  const foreseen: Foreseen[] = [];
  const notChecked = new Set<string>();
  for (const subject of await subjectsOf(connection, call)) {
    const known = await knownOf(client, subject, {settings, home, now: call.now()});
    for (const note of known.notChecked) notChecked.add(note);
    foreseen.push(...(await foresee(subject, known, {settings, now: call.now})));
  }
  // They come in the order in which the API server answers.
  tell(foreseen, [...notChecked].toSorted(), call);
  return exitCodeOfAll(
    foreseen.filter((one) => !isClear(one.host)).flatMap(({host, next}) => [host, next ?? []].flat()),
  );
}

async function subjectsOf(
  {client, namespace}: Connection,
  {options, operands, read}: Call<CheckCommandOptions>,
): Promise<Subject[]> {
  if (options.filename) {
    return subjectsIn(await textsOf(options.filename, read), namespace);
  }
  const project = options.project ?? (await onlyProject({client, namespace}));
  const all = (await client.list(customDomains, {namespace})).items;
  const [standing] = all.filter(({spec}) => spec.projectRef.name === project).toSorted(older);
  return [withHostnames(operands, {namespace, project, standing})];
}

async function onlyProject({client, namespace}: Connection): Promise<string> {
  const names = (await client.list(projects, {namespace})).items.map(({metadata}) => metadata.name);
  const [only, ...more] = names;
  if (only !== undefined && more.length === 0) return only;
  throw new UsageError(
    only === undefined
      ? `the namespace ${namespace} has no Project: name the future Project (--project)`
      : `name the project (--project): ${names.join(', ')}`,
  );
}

async function foresee(
  {domains}: Subject,
  known: CheckFacts,
  {settings, now}: {settings: Settings; now: () => number},
): Promise<Foreseen[]> {
  const {dns} = settings;
  const recursive = dns.recursive.length > 0 ? [...dns.recursive] : systemResolvers();
  const checking = {
    dns: new DnsClient({recursive, allowPrivateAddresses: dns.allowPrivateAddresses}),
    rules: {...toRules(settings), ...known.edge},
    mode: dns.mode,
    cas: () => known.cas.all().map((ca) => ({...ca, zone: known.policy.zone})),
  };
  const isCaaKnown = checksCaa(known.policy);
  const foresight = new Foresight(known, {ask: (question) => askDns(checking, question, isCaaKnown), now});
  const foreseen: Foreseen[] = [];
  for (const {metadata} of domains) {
    const domain = known.domains.find((other) => keyOf(other) === keyOf({metadata}))!;
    const hosts = hostsOf({...domain, status: await foresight.of(domain)});
    const isRefused = hosts.some(({phase}) => phase === 'NotAccepted');
    const next = isRefused ? hostsOf({...domain, status: await foresight.ofAccepted(domain)}) : [];
    foreseen.push(...hosts.map((host) => ({...attached(domain, host), ...nextOf(host, next)})));
  }
  return foreseen;
}

const attached = ({metadata: {namespace = '', name}}: CustomDomain, host: HostView): Attached => ({
  namespace,
  customDomain: name,
  host,
});

/** The state after a refusal, if it differs and needs an action. */
function nextOf(host: HostView, nexts: readonly HostView[]): Pick<Foreseen, 'next'> {
  const next = nexts.find(({hostname}) => hostname === host.hostname);
  return host.phase !== 'NotAccepted' || !next || next.reason === host.reason || isClear(next) ? {} : {next};
}

function tell(foreseen: readonly Foreseen[], notChecked: readonly string[], call: Call<CheckCommandOptions>): void {
  const hosts = foreseen.map(({host, next, ...of}) => ({...of, clear: isClear(host), ...host, ...(next && {next})}));
  const data = forPrograms(call.options.output, {hosts, notChecked});
  if (data !== undefined) return call.out(data);
  call.out(tableOf(foreseen, call.colours));
  for (const {next, ...one} of foreseen.filter(({host}) => !isClear(host))) {
    call.out(`\n${said(one, call)}`);
    if (next) call.out(`Then\n${said({...one, host: next}, call)}`);
  }
  if (notChecked.length > 0) call.tell(`\nNot checked: ${notChecked.join('; ')}.\n`);
}

const said = (one: Attached, {now, colours}: Call<CheckCommandOptions>): string => {
  const {since: _, ...why} = explainHost(one);
  return sayExplanation(why, {now: now(), colours});
};

const tableOf = (foreseen: readonly Foreseen[], colours: boolean): string =>
  table(
    ['HOSTNAME', 'ROLE', 'WOULD-BE', 'REASON', 'WAITING-FOR'],
    foreseen.map(({host}) => {
      const clear = isClear(host);
      const becomes = {text: clear ? 'Live' : host.phase, style: clear ? ('green' as const) : ('yellow' as const)};
      return [host.hostname, host.role, becomes, clear ? '-' : host.reason, clear ? '-' : host.waitingFor];
    }),
    colours,
  );

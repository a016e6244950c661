/** `kubectl doorplate status`: where each hostname stands. */
import type {Command} from 'commander';
import type {Phase} from '../../api/custom-domain.ts';
import {customDomains} from '../../resources/resources.ts';
import {byText} from '../../domain/text.ts';
import {type Act, describe} from '../command.ts';
import {type Attached, attachedBy, attachedNamed, domainsNamed, operand, operandHelp} from './domains.ts';
import {UsageError} from '../errors.ts';
import {exitCodeOf, exitCodes} from '../exit-code.ts';
import {type Cell, type Style, ago, json, outputOption, table} from '../output.ts';
import {connected} from '../surroundings.ts';

interface StatusOptions {
  allNamespaces?: boolean;
  waiting?: boolean;
  output: string;
}

export function addStatus(program: Command, act: Act): void {
  const command = describe(program, 'status', {
    summary: 'where each hostname stands',
    examples: [
      'kubectl doorplate status',
      'kubectl doorplate status docs -o json',
      'kubectl doorplate status -A --waiting',
    ],
  })
    .argument(operand, operandHelp)
    .option('-A, --all-namespaces', 'of the whole cluster')
    .option('--waiting', 'only what is not done, the oldest first')
    .addOption(outputOption(['table', 'json']));
  act<StatusOptions>(command, async ({options, operands: [word], ...around}) => {
    const everywhere = options.allNamespaces === true;
    if (everywhere && word !== undefined) throw new UsageError('a name, or --all-namespaces');
    await connected(options, around, async (connection) => {
      const all = everywhere
        ? (await connection.client.list(customDomains)).items.flatMap(attachedBy)
        : attachedNamed(await domainsNamed(connection, word), word);
      const found = options.waiting ? waitingOf(all) : all;
      if (options.output === 'json') around.out(json(found.map(flat)));
      else if (found.length > 0) around.out(tableOf(found, {everywhere, ...around, now: around.now()}));
      else {
        const what = all.length > 0 ? 'Nothing is left to do' : 'There is no CustomDomain';
        around.tell(`${what}${everywhere ? '' : ` in the namespace ${connection.namespace}`}.\n`);
      }
    });
  });
}

/** Hostnames that are not done, oldest first. A hostname without a status entry is the newest. */
const waitingOf = (all: readonly Attached[]): Attached[] =>
  all
    .filter(({host}) => exitCodeOf(host) !== exitCodes.Done)
    .toSorted((a, b) => byText(a.host.since ?? '~', b.host.since ?? '~'));

const flat = ({host, ...of}: Attached) => ({...of, ...host});

const styles: Readonly<Record<Phase, Style>> = {
  NotAccepted: 'red',
  AwaitingVerification: 'yellow',
  Verified: 'yellow',
  Live: 'green',
  Removing: 'yellow',
};

/** The hostname is Live and needs an action, for example after a drift. */
const styleOf = ({host}: Attached): Style =>
  host.phase === 'Live' && exitCodeOf(host) !== exitCodes.Done ? 'yellow' : styles[host.phase];

function tableOf(
  found: readonly Attached[],
  {everywhere, now, colours}: {everywhere: boolean; now: number; colours: boolean},
): string {
  const columns: [string, (one: Attached) => Cell][] = [
    ['HOSTNAME', ({host}) => host.hostname],
    ['CUSTOMDOMAIN', ({customDomain}) => customDomain],
    ['ROLE', ({host}) => host.role],
    ['PHASE', (one) => ({text: one.host.phase, style: styleOf(one)})],
    ['REASON', ({host}) => host.reason],
    ['WAITING-FOR', ({host}) => host.waitingFor],
    ['SINCE', ({host}) => ago(host.since, now)],
  ];
  if (everywhere) columns.unshift(['NAMESPACE', ({namespace}) => namespace]);
  return table(
    columns.map(([name]) => name),
    found.map((one) => columns.map(([, cell]) => cell(one))),
    colours,
  );
}

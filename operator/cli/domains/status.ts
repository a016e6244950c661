/** `kubectl doorplate status`: where each hostname stands. */
import type {Command} from 'commander';
import type {Phase} from '../../api/custom-domain.ts';
import {byText} from '../../domain/text.ts';
import {type Act, describe} from '../command.ts';
import {type Attached, attachedIn, namesOfDomains, operand, operandHelp} from './domains.ts';
import {exitCodeOf, exitCodes} from '../exit-code.ts';
import {addListing, checkListing, type ListingOptions, placeOf} from '../listing.ts';
import {type TableColumn, type Style, ago, forPrograms, tableBy} from '../output.ts';
import {connected} from '../surroundings.ts';

interface StatusOptions extends ListingOptions {
  waiting?: boolean;
}

export function addStatus(program: Command, act: Act): void {
  const command = describe(program, 'status', {
    summary: 'show the state of each hostname',
    examples: [
      'kubectl doorplate status',
      'kubectl doorplate status docs -o json',
      'kubectl doorplate status -A --waiting',
      'kubectl doorplate status -l team=web -o name',
    ],
  })
    .argument(operand, operandHelp)
    .option('--waiting', 'only hostnames that are not done, the oldest first');
  addListing(command, ['table']);
  act<StatusOptions>(command, async ({options, operands: [word], ...around}) => {
    checkListing(options, word);
    await connected(options, around, async (connection) => {
      const all = await attachedIn(connection, options, word);
      const found = options.waiting ? waitingOf(all) : all;
      const data = forPrograms(options.output, found.map(flat));
      if (data !== undefined) around.out(data);
      else if (found.length === 0) {
        const what = all.length > 0 ? 'Nothing is left to do' : 'There is no CustomDomain';
        around.tell(`${what} ${placeOf(options, connection)}.\n`);
      } else if (options.output === 'name') around.out(namesOfDomains(found));
      else around.out(tableOf(found, {everywhere: options.allNamespaces === true, ...around, now: around.now()}));
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
  const columns: TableColumn<Attached>[] = [
    ['HOSTNAME', ({host}) => host.hostname],
    ['CUSTOMDOMAIN', ({customDomain}) => customDomain],
    ['ROLE', ({host}) => host.role],
    ['PHASE', (one) => ({text: one.host.phase, style: styleOf(one)})],
    ['REASON', ({host}) => host.reason],
    ['WAITING-FOR', ({host}) => host.waitingFor],
    ['SINCE', ({host}) => ago(host.since, now)],
  ];
  if (everywhere) columns.unshift(['NAMESPACE', ({namespace}) => namespace]);
  return tableBy(columns, found, colours);
}

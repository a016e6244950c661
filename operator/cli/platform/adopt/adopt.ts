/** Hostnames that something else serves come to Doorplate with their certificates: read, planned, written, told. */
import type {Call} from '../../command.ts';
import {subjectsIn, textsOf} from '../../check/subjects.ts';
import {type ExitCode, exitCodes} from '../../exit-code.ts';
import {forPrograms, type OutputOptions, type Style, table} from '../../output.ts';
import {requiredSettings} from '../../settings.ts';
import type {Connection} from '../../surroundings.ts';
import type {Becomes} from './plan.ts';
import {type AdoptFacts, readAll, type AdoptRow} from './read.ts';
import {Adoption} from './write.ts';

export interface AdoptOptions extends OutputOptions {
  filename: string[];
  settings: string;
  dryRun?: boolean;
}

export async function adopt({client, namespace}: Connection, call: Call<AdoptOptions>): Promise<ExitCode> {
  const {filename, settings: place, dryRun = false} = call.options;
  const subjects = subjectsIn(await textsOf(filename, call.read), namespace);
  const [home = ''] = place.split('/');
  const settings = await requiredSettings(client, place);
  const found = await readAll(client, subjects, {settings, home, now: call.now()});
  const rows = dryRun ? found.rows : await new Adoption(client, found.policy, call).run(found.rows);
  tell(rows, found, call);
  return rows.some(({becomes}) => becomes === 'Refused') ? exitCodes.Platform : exitCodes.Done;
}

const styles: Partial<Record<Becomes, Style>> = {Ready: 'green', Served: 'green', NewOrder: 'yellow', Refused: 'red'};

function tell(
  rows: readonly AdoptRow[],
  {others}: AdoptFacts,
  {options, out, tell: say, colours}: Call<AdoptOptions>,
): void {
  const over = overIn(rows, others);
  const hosts = rows.map(({hostname, namespace, becomes, why}) => ({hostname, namespace, becomes, why}));
  const data = forPrograms(options.output, {hosts, ingressesOver: over});
  if (data !== undefined) return out(data);
  out(
    table(
      ['HOSTNAME', 'NAMESPACE', 'BECOMES', 'WHY'],
      rows.map(({hostname, namespace, becomes, why}) => {
        const style = styles[becomes];
        return [hostname, namespace, style ? {text: becomes, style} : becomes, why];
      }),
      colours,
    ),
  );
  const has = (what: Becomes) => rows.some(({becomes}) => becomes === what);
  if (options.dryRun) say('\nNothing was written.\n');
  else if (has('Ready') || has('NewOrder') || has('UnderWay'))
    say(
      '\nApply the CustomDomains, wait until they are Live, and run this command again. It then lists the Ingresses to delete.\n',
    );
  if (over.length > 0)
    say(`\nDoorplate serves all hostnames of these Ingresses. You can delete them:\n${over.map(toDelete).join('')}`);
}

const toDelete = ({namespace, name}: {namespace: string; name: string}): string =>
  `  kubectl delete ingress -n ${namespace} ${name}\n`;

/** The Ingresses of others of which Doorplate serves every hostname. */
function overIn(rows: readonly AdoptRow[], others: AdoptFacts['others']): {namespace: string; name: string}[] {
  const served = new Set(rows.filter(({becomes}) => becomes === 'Served').map(({hostname}) => hostname));
  return [...others].flatMap(([namespace, all]) =>
    all
      .filter(({hosts}) => hosts.length > 0 && hosts.every((host) => served.has(host)))
      .map(({name}) => ({namespace, name})),
  );
}

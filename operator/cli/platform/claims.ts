/** `kubectl doorplate claims`: DomainClaims out of the platform's own list of who has which hostname. Asks no cluster. */
import type {Command} from 'commander';
import {stringify} from 'yaml';
import {group, version} from '../../api/crd.ts';
import {type DomainClaimSpec, domainClaimKind} from '../../api/domain-claim.ts';
import {isPublicSuffix, normalise} from '../../domain/hostnames/hostname.ts';
import {textsOf} from '../check/subjects.ts';
import {type Act, type Call, describe} from '../command.ts';
import {CommandError} from '../errors.ts';

interface ClaimsOptions {
  filename: string;
}

export function addClaims(program: Command, act: Act): void {
  const command = describe(program, 'claims', {
    summary:
      'print DomainClaims, which verify hostnames, from a list with a hostname and an Account in each line. Writes nothing',
    examples: [
      'kubectl doorplate claims -f hostnames.csv | kubectl create -f -',
      'echo docs.example.com,acme | kubectl doorplate claims -f -',
    ],
  }).requiredOption(
    '-f, --filename <file>',
    'file with lines such as docs.example.com,acme; - is stdin. Lines that begin with # are ignored',
  );
  act<ClaimsOptions>(command, printClaims);
}

async function printClaims({options: {filename}, read, out}: Call<ClaimsOptions>): Promise<void> {
  const [{text = ''} = {}] = await textsOf([filename], read);
  out(claimsIn(text, filename));
}

/** A valid line of the list. */
interface Line {
  hostname: string;
  spec: DomainClaimSpec;
}

/** The claims as YAML. Throws CommandError, which names each line that is not as it must be. */
export function claimsIn(text: string, file: string): string {
  const wrong: string[] = [];
  const found = new Map<string, number>();
  const claims = text.split(/\r?\n/).flatMap((line, i) => {
    if (/^\s*(#|$)/.test(line)) return [];
    const read = lineOf(line);
    const before = typeof read === 'string' ? undefined : found.get(read.hostname);
    if (typeof read === 'string' || before !== undefined) {
      wrong.push(`line ${i + 1}: ${typeof read === 'string' ? read : `line ${before} already has the hostname`}`);
      return [];
    }
    found.set(read.hostname, i + 1);
    const {hostname: name, spec} = read;
    return [{apiVersion: `${group}/${version}`, kind: domainClaimKind.kind, metadata: {name}, spec}];
  });
  if (wrong.length > 0) throw new CommandError(`${file} has errors, so no claims are printed:\n${wrong.join('\n')}`);
  if (claims.length === 0) throw new CommandError(`${file} has no line with a hostname and an Account`);
  return claims.map((claim) => stringify(claim)).join('---\n');
}

/** The parsed line, or an error message. */
function lineOf(line: string): Line | string {
  const [written = '', account = '', ...more] = line.split(',').map((part) => part.trim());
  if (account === '' || more.length > 0) return 'must contain only a hostname, a comma and an Account';
  const hostname = normalise(written);
  if (hostname === undefined) return `${JSON.stringify(written)} is not a hostname`;
  if (isPublicSuffix(hostname)) return `${hostname} is a public suffix, which no tenant can own`;
  const {error, data} = domainClaimKind.spec.safeParse({tenant: {account}, proof: 'Platform'});
  return data
    ? {hostname, spec: data}
    : error.issues.map(({message}) => `Account ${JSON.stringify(account)}: ${message}`).join('; ');
}

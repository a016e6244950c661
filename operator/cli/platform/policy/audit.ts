/**
 * Lists requests that the admission policy would refuse if it denied instead of auditing or warning. The source is the API server's audit
 * log, which names them (https://kubernetes.io/docs/reference/labels-annotations-taints/audit-annotations/).
 */
import type {Call} from '../../command.ts';
import {CommandError} from '../../errors.ts';
import {type ExitCode, exitCodes} from '../../exit-code.ts';
import {forPrograms, type OutputOptions, table} from '../../output.ts';

/** The members of audit.k8s.io/v1 that are read here. */
interface AuditEvent {
  stage?: string;
  verb: string;
  user: {username: string};
  impersonatedUser?: {username: string};
  objectRef?: {namespace?: string; resource: string; apiGroup?: string; subresource?: string};
  annotations?: Record<string, string>;
}

/** Writes of one user to one kind in one namespace that would be refused. */
interface AuditedWrite {
  user: string;
  namespace: string;
  /** With its API group: `ingresses.networking.k8s.io`. */
  resource: string;
  verbs: string[];
  times: number;
}

const failure = 'validation.policy.admission.k8s.io/validation_failure';
/** The chart's policies that have a mode (templates/admission-policy.yaml): they begin with the names of a namespace and a release. */
const hasMode = /.-(routes|waits|secrets)$/;

export async function audit(call: Call<OutputOptions>): Promise<ExitCode> {
  const [file = ''] = call.operands;
  const text = await call.read(file).catch((error: unknown) => {
    throw new CommandError(`${file} can't be read: ${(error as Error).message}`);
  });
  const written = summed(eventsIn(text, file).filter(wouldBeRefused));
  const data = forPrograms(call.options.output, written);
  if (data !== undefined) call.out(data);
  else tell(written, call);
  return written.length > 0 ? exitCodes.Platform : exitCodes.Done;
}

/** An event a line. Throws CommandError, which names the line that is none. */
function eventsIn(text: string, file: string): AuditEvent[] {
  return text.split('\n').flatMap((line, i) => {
    if (line.trim() === '') return [];
    try {
      return JSON.parse(line) as AuditEvent;
    } catch {
      throw new CommandError(
        `${file}, line ${i + 1}: this is not an event of an audit log. The log must have one JSON event in each line`,
      );
    }
  });
}

function wouldBeRefused({stage = 'ResponseComplete', annotations = {}, objectRef}: AuditEvent): boolean {
  const failed = annotations[failure];
  if (stage !== 'ResponseComplete' || objectRef === undefined || failed === undefined) return false;
  return (JSON.parse(failed) as {policy: string}[]).some(({policy}) => hasMode.test(policy));
}

function summed(events: readonly AuditEvent[]): AuditedWrite[] {
  const sums = new Map<string, AuditedWrite>();
  for (const {
    verb,
    user,
    impersonatedUser,
    objectRef: {namespace = '', resource, apiGroup} = {resource: ''},
  } of events) {
    const one: AuditedWrite = {
      user: (impersonatedUser ?? user).username,
      namespace,
      resource: apiGroup ? `${resource}.${apiGroup}` : resource,
      verbs: [],
      times: 0,
    };
    const key = [one.user, one.namespace, one.resource].join(' ');
    const before = sums.get(key) ?? one;
    const verbs = [...new Set([...before.verbs, verb])].toSorted();
    sums.set(key, {...before, verbs, times: before.times + 1});
  }
  return [...sums].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, one]) => one);
}

function tell(written: readonly AuditedWrite[], call: Call<OutputOptions>): void {
  if (written.length === 0) {
    call.tell('The admission policy would have refused no request in the log.\n');
    return;
  }
  call.out(
    table(
      ['USER', 'NAMESPACE', 'RESOURCE', 'VERBS', 'TIMES'],
      written.map(({user, namespace, resource, verbs, times}) => [
        user,
        namespace,
        resource,
        verbs.join(','),
        `${times}`,
      ]),
      call.colours,
    ),
  );
  call.tell(
    '\nWith admissionPolicy.mode Deny and scope All, these would have been refused. If you trust a user with every hostname, add\n' +
      'the user to admissionPolicy.exceptUsers, or set the label doorplate.dev/admission=except on the namespace.\n',
  );
}

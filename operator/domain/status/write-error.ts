import type {ReasonName} from '../reasons/reasons.ts';

/** A write error: why an object that a hostname needs could not be written. The write is retried after each change. */
export type WriteError =
  /** An object of another owner has the name. That object is left alone. */
  | {kind: 'NameTaken'; object: string}
  /** The API server refuses the object; retried each minute. `says`: the server's own message. */
  | {kind: 'WriteRefused'; object: string; says: string}
  /** The write failed, and the next one may succeed: an admission webhook does not answer. Retried with the backoff of the queue. */
  | {kind: 'WriteFailed'; object: string; says: string};

/** Reasons of write errors. A Live hostname with such a reason works if its certificate is valid. */
export const writeErrors: ReadonlySet<string> = new Set<WriteError['kind']>([
  'NameTaken',
  'WriteRefused',
  'WriteFailed',
]);

/** Delay of a retry without an event, ms: no event reports that the cause of a write error is gone. */
export const writeErrorRetryMs = 60_000;

function messageOf(writeError: WriteError): string {
  const {kind, object} = writeError;
  switch (kind) {
    case 'NameTaken':
      return (
        `${object} has the name of an object that Doorplate must create, but is not Doorplate's. ` +
        'Doorplate leaves it unchanged. Delete or rename it.'
      );
    case 'WriteRefused':
      return `${object} could not be written, because the API server refuses it: ${writeError.says}`;
    case 'WriteFailed':
      return `${object} could not be written; Doorplate tries again. The API server reports: ${writeError.says}`;
  }
}

export const tell = (writeError: WriteError): {reason: ReasonName; message: string} => ({
  reason: writeError.kind,
  message: messageOf(writeError),
});

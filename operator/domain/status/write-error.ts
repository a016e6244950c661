import type {ReasonName} from '../reasons/reasons.ts';

/** A write error: why an object that a hostname needs could not be written. The write is retried each minute and after each change. */
export type Obstacle =
  /** An object of another owner has the name. That object is left alone. */
  | {kind: 'NameTaken'; object: string}
  /** The API server refuses the object. `says`: the server's own message. */
  | {kind: 'WriteRefused'; object: string; says: string};

/** Delay of a retry without an event, ms: no event reports that the cause of a write error is gone. */
export const obstacleRetryMs = 60_000;

export const tell = (obstacle: Obstacle): {reason: ReasonName; message: string} => ({
  reason: obstacle.kind,
  message:
    obstacle.kind === 'NameTaken'
      ? `${obstacle.object} is not Doorplate's and has the name of an object that must be created; it is left alone. Delete or rename it.`
      : `${obstacle.object} could not be written, as the API server refuses it: ${obstacle.says}`,
});

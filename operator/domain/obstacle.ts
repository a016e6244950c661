import type {ReasonName} from './reasons.ts';

/** A write error: the reason why an object of a hostname could not be written. The write is retried every minute and with each change. */
export type Obstacle =
  /** An object of another owner has the name. Doorplate leaves it alone. */
  | {kind: 'NameTaken'; object: string}
  /** The API server refuses it. `says`: in its own words. */
  | {kind: 'WriteRefused'; object: string; says: string};

/** After this time it is tried again, though nothing has happened: nobody tells when an obstacle goes. */
export const obstacleRetryMs = 60_000;

export const tell = (obstacle: Obstacle): {reason: ReasonName; message: string} => ({
  reason: obstacle.kind,
  message:
    obstacle.kind === 'NameTaken'
      ? `${obstacle.object} is not Doorplate's and has the name of an object that must be created; it is left alone. Delete or rename it.`
      : `${obstacle.object} could not be written, as the API server refuses it: ${obstacle.says}`,
});

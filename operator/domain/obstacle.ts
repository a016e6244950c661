import type {ReasonName} from './reasons.ts';

/** Why an object that a hostname needs could not be written. It is tried again, each minute and with each change. */
export type Obstacle =
  /** One of somebody else's has its name; that is left alone. */
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

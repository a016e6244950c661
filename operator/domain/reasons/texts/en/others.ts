import type {otherReasons} from '../../others.ts';
import type {CustomerTexts} from '../../reason.ts';
import {nothingToDo, takesEffectSoon} from './shared.ts';

export const others: Record<keyof typeof otherReasons | 'Pending' | 'Other', CustomerTexts> = {
  PlanFound: {title: 'Plan is active', body: 'Your account has a plan.', next: nothingToDo, howLong: ''},
  KeyUsable: {
    title: 'Key works',
    body: 'Requests with this key are accepted[ until {expires}].',
    next: nothingToDo,
    howLong: '',
  },
  KeyExpired: {
    title: 'Key has expired',
    body: 'Requests with this key are refused.',
    next: 'Create a new key, use it in place of this one, and revoke this one.',
    howLong: '',
  },
  KeyBanned: {
    title: 'Key is blocked for a while',
    body: 'Requests with this key are refused, because too many requests were sent before the waiting time was over.',
    next: 'Change your program so that it waits when an answer asks for it.',
    howLong: 'The block ends automatically.',
  },
  ServiceNotFound: {
    title: 'Project is not running',
    body: 'This platform cannot find the program of your project.',
    next: 'Deploy your project again, or contact support.',
    howLong: takesEffectSoon,
  },
  ServicePortNotFound: {
    title: 'Project settings do not match',
    body: 'The settings of your project name a port that its program does not have.',
    next: 'Correct the port in the settings of your project.',
    howLong: takesEffectSoon,
  },
  NoReadyEndpoint: {
    title: 'Project is not reachable',
    body: 'This platform has not found a running version of your project.',
    next: 'Deploy your project, or contact support.',
    howLong: takesEffectSoon,
  },
  Deployed: {
    title: 'Project is deployed',
    body: 'Your project was deployed successfully.',
    next: nothingToDo,
    howLong: '',
  },
  DefaultHostDisabled: {
    title: 'Project address is switched off',
    body: "The project's own address is switched off in its settings. Your domains are not affected.",
    next: nothingToDo,
    howLong: '',
  },
  Pending: {
    title: 'New and not checked yet',
    body: 'This was created just now. The first check follows automatically.',
    next: nothingToDo,
    howLong: 'The first check usually takes less than a minute.',
  },
  Other: {
    title: 'State is unknown',
    body: 'This platform reports a state that this page does not describe yet.',
    next: 'Reload this page. Contact support if this lasts.',
    howLong: '',
  },
};

/** The table of reasons, without the texts for customers (texts/). */
import {acceptanceReasons} from './acceptance.ts';
import {certificateReasons} from './certificate.ts';
import {otherReasons} from './others.ts';
import {proofReasons} from './proof.ts';
import {servingReasons} from './serving.ts';

export const table = {...acceptanceReasons, ...proofReasons, ...certificateReasons, ...servingReasons, ...otherReasons};

export type ReasonName = keyof typeof table;

import {pino} from 'pino';
import type {Logger} from 'pino';

/** JSON lines on stdout: names and times as log collectors expect them, every value escaped by JSON. */
export const makeLog = (role: string, level: string): Logger =>
  pino({
    level,
    base: {role},
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: {level: (label) => ({level: label})},
  });

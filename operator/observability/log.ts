import {pino} from 'pino';
import type {Logger} from 'pino';

export type LogFormat = 'json' | 'text';

/** Log lines on stdout, every value escaped by JSON: JSON for log collectors, or text for people. */
export function makeLog(role: string, level: string, format: LogFormat = 'json'): Logger {
  const options = {
    level,
    base: {role},
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: {level: (label: string) => ({level: label})},
  };
  return format === 'json' ? pino(options) : pino(options, {write: (line) => process.stdout.write(asText(line))});
}

/** `2026-01-31T12:00:00.000Z INFO operator starting node="v24.1.0"`, from one line of JSON. */
export function asText(line: string): string {
  const {level, time, role, msg, ...rest} = JSON.parse(line) as Record<string, unknown>;
  const fields = Object.entries(rest).map(([name, value]) => `${name}=${JSON.stringify(value)}`);
  // A message with a line break could pass for a line of its own.
  const message = typeof msg === 'string' ? JSON.stringify(msg).slice(1, -1) : '';
  return `${[time, String(level).toUpperCase(), role, message, ...fields].filter(Boolean).join(' ')}\n`;
}

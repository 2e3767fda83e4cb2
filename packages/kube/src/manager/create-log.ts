import { pino, stdTimeFunctions } from 'pino';
import type { Log } from '../log.ts';

const LEVELS = ['debug', 'info', 'warn', 'error', 'silent'];

/** A JSON logger on stdout. Its level is LOG_LEVEL (debug, info, warn, error, silent); info if that is unset. */
export function createLog(
  name: string,
  options: {
    level?: string;
    env?: Readonly<Record<string, string | undefined>>;
    destination?: { write(line: string): void };
  } = {},
): Log {
  const wanted = options.level ?? (options.env ?? process.env)['LOG_LEVEL'] ?? 'info';
  const level = wanted.toLowerCase();
  if (!LEVELS.includes(level))
    throw new RangeError(`LOG_LEVEL is "${wanted}"; use one of ${LEVELS.join(', ')}`);
  const settings = {
    name,
    level,
    timestamp: stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
    redact: { paths: SECRETS, censor: '[hidden]' },
  };
  return options.destination === undefined ? pino(settings) : pino(settings, options.destination);
}

/** Nobody should log these; if somebody does, they are not shown. */
const SECRETS = [
  'token',
  'authorization',
  'password',
  'data',
  '*.token',
  '*.authorization',
  '*.password',
  '*.data',
  '*.stringData',
];

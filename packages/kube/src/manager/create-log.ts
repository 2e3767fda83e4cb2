/** Creates a pino logger that writes JSON lines. No other module imports pino. */
import { pino, stdTimeFunctions } from 'pino';
import type { Log } from '../log.ts';

const LEVELS = ['debug', 'info', 'warn', 'error', 'silent'];

export interface LogOptions {
  /** @default LOG_LEVEL, or info */
  readonly level?: string;
  /** A JSON object per line, or text for people. @default json */
  readonly form?: 'json' | 'console';
  /** @default text, an ISO 8601 time */
  readonly time?: 'seconds' | 'milliseconds' | 'nanoseconds' | 'text';
  /** Lines of this level and above include the stack of the caller. @default none */
  readonly stackFrom?: 'info' | 'error';
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly destination?: { write(line: string): void };
}

const times = {
  text: stdTimeFunctions.isoTime,
  seconds: stdTimeFunctions.unixTime,
  milliseconds: stdTimeFunctions.epochTime,
  nanoseconds: () => `,"time":${Date.now()}000000`,
};

/** A logger on stdout. Its level is LOG_LEVEL (debug, info, warn, error, silent) unless one is given. */
export function createLog(name: string, options: LogOptions = {}): Log {
  const wanted = options.level ?? (options.env ?? process.env)['LOG_LEVEL'] ?? 'info';
  const level = wanted.toLowerCase();
  if (!LEVELS.includes(level))
    throw new RangeError(`LOG_LEVEL is "${wanted}"; use one of ${LEVELS.join(', ')}`);
  const { stackFrom } = options;
  const least = stackFrom === undefined ? Number.POSITIVE_INFINITY : pino.levels.values[stackFrom];
  const settings = {
    name,
    level,
    timestamp: times[options.time ?? 'text'],
    formatters: { level: (label: string) => ({ level: label }) },
    redact: { paths: SECRETS, censor: '[hidden]' },
    mixin: (_fields: object, of: number) => (of >= (least ?? 0) ? { stack: stackOfCaller() } : {}),
  };
  const destination = options.destination ?? { write: (line: string) => void process.stdout.write(line) };
  if (options.form === 'console')
    return pino(settings, { write: (line) => destination.write(forPeople(line)) });
  return options.destination === undefined ? pino(settings) : pino(settings, options.destination);
}

/** `2026-05-01T12:00:00.000Z INFO message key=value …`, from a JSON line. */
function forPeople(line: string): string {
  const {
    time,
    level,
    msg,
    name: _name,
    pid: _pid,
    hostname: _host,
    stack,
    ...rest
  } = JSON.parse(line) as Record<string, unknown>;
  const fields = Object.entries(rest).map(([key, value]) => ` ${key}=${JSON.stringify(value)}`);
  const trace = typeof stack === 'string' ? `\n${stack}` : '';
  return `${String(time)} ${String(level).toUpperCase()} ${String(msg)}${fields.join('')}${trace}\n`;
}

/** The frames below the logger's own. */
function stackOfCaller(): string {
  const frames = (new Error().stack ?? '').split('\n').slice(1);
  return frames.filter((frame) => !/create-log\.|node_modules\/pino/.test(frame)).join('\n');
}

/** Fields that must not be logged; redacted as a second line of defence. */
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

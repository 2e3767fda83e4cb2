/** How a program logs. The names are those of controller-runtime's programs; `LOG_LEVEL` wins over all of them. */

import { oneOf, text, toggle } from './flag-types.ts';
import { FlagError, type FlagValues } from './parse-flags.ts';

export const logFlags = {
  'log-level': text(
    '',
    'debug, info, warn or error; the environment variable LOG_LEVEL takes precedence (default info)',
  ),
  'zap-log-level': text(
    '',
    'deprecated name of --log-level; also accepts panic (error), or a number (1 and up: debug)',
  ),
  'zap-devel': toggle(false, 'development mode: console lines, and debug unless a level is set'),
  'zap-encoder': oneOf(['', 'json', 'console'], '', 'format of log lines', 'json'),
  'zap-time-encoding': oneOf(
    ['', 'epoch', 'millis', 'nano', 'iso8601', 'rfc3339', 'rfc3339nano'],
    '',
    'format of the time in log lines',
    'rfc3339',
  ),
  'zap-stacktrace-level': oneOf(
    ['', 'info', 'error', 'panic'],
    '',
    'lowest level at which log lines have a stack trace',
    'none',
  ),
};

export interface LogSettings {
  readonly level: string;
  readonly form: 'json' | 'console';
  readonly time: 'seconds' | 'milliseconds' | 'nanoseconds' | 'text';
  readonly stackFrom?: 'info' | 'error';
}

const levels = ['debug', 'info', 'warn', 'error', 'silent'];
const times = {
  '': 'text',
  iso8601: 'text',
  rfc3339: 'text',
  rfc3339nano: 'text',
  epoch: 'seconds',
  millis: 'milliseconds',
  nano: 'nanoseconds',
} as const;

export function logSettings(
  flags: FlagValues<typeof logFlags>,
  env: Readonly<Record<string, string | undefined>>,
): LogSettings {
  const fromEnv = env['LOG_LEVEL'] ?? '';
  const devel = flags['zap-devel'];
  const [wanted, source] =
    fromEnv !== ''
      ? [fromEnv, 'LOG_LEVEL']
      : flags['log-level'] !== ''
        ? [flags['log-level'], '--log-level']
        : flags['zap-log-level'] !== ''
          ? [flags['zap-log-level'], '--zap-log-level']
          : [devel ? 'debug' : 'info', ''];
  const stack = flags['zap-stacktrace-level'];
  return {
    level: readLevel(wanted, source),
    form: flags['zap-encoder'] === '' ? (devel ? 'console' : 'json') : flags['zap-encoder'],
    time: times[flags['zap-time-encoding']],
    ...(stack === 'info' || stack === 'error' ? { stackFrom: stack } : {}),
  };
}

function readLevel(wanted: string, source: string): string {
  const level = wanted.toLowerCase();
  if (levels.includes(level)) return level;
  if (level === 'warning') return 'warn';
  if (level === 'panic' || level === 'fatal') return 'error';
  if (/^[1-9]\d*$/.test(level)) return 'debug';
  throw new FlagError(`${source} is "${wanted}": use one of ${levels.join(', ')}`);
}

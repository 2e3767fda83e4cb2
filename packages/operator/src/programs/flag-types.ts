/** The types that flags have. Each says what is wrong with a value and what a right one looks like. */
import { durationMilliseconds } from '@slurm-operator/kubernetes-values';
import { isDomain } from './cluster-domain.ts';
import { type Flag, FlagError } from './parse-flags.ts';

export const text = (standard: string, about: string): Flag<string> => ({
  default: standard,
  about,
  read: (value) => value,
});

export const domain = (about: string): Flag<string> => ({
  default: '',
  about,
  read(value) {
    if (value !== '' && !isDomain(value)) throw new FlagError('use a DNS domain such as cluster.local');
    return value;
  },
});

export const toggle = (standard: boolean, about: string): Flag<boolean> => ({
  default: String(standard),
  about,
  isSwitch: true,
  read(value) {
    if (/^(1|t|true)$/i.test(value)) return true;
    if (/^(0|f|false)$/i.test(value)) return false;
    throw new FlagError('use true or false');
  },
});

/** An empty choice stands for "not given": it is accepted, and not offered. `absent`: what happens then. */
export const oneOf = <T extends string>(
  choices: readonly T[],
  standard: T,
  about: string,
  absent?: string,
): Flag<T> => {
  const offered = choices.filter((choice) => choice !== '').join(', ');
  return {
    default: standard,
    about: `${about}: ${offered}${absent === undefined ? '' : ` (default ${absent})`}`,
    read(value) {
      const found = choices.find((choice) => choice === value);
      if (found === undefined) throw new FlagError(`use one of ${offered}`);
      return found;
    },
  };
};

/** Comma-separated; empty entries do not count. */
export const list = (about: string): Flag<readonly string[]> => ({
  default: '',
  about,
  read: (value) =>
    value
      .split(',')
      .map((one) => one.trim())
      .filter((one) => one !== ''),
});

export const count = (standard: number, about: string): Flag<number> => ({
  default: String(standard),
  about,
  read(value) {
    const number = Number(value);
    if (!/^\d+$/.test(value) || number < 1 || number > 1000)
      throw new FlagError('use a whole number from 1 to 1000');
    return number;
  },
});

export interface Address {
  readonly port: number;
  /** Absent: all addresses. */
  readonly host?: string;
}

/** `:8080`, `127.0.0.1:8080`, `[::1]:8080`; 0 or nothing for "do not listen". */
export const address = (standard: string, about: string): Flag<Address | undefined> => ({
  default: standard,
  about: `${about}; 0 disables it`,
  read(value) {
    if (value === '0' || value === '') return undefined;
    const match = /^(?:\[(?<six>[0-9a-f:.%]+)\]|(?<host>[^:[\]]*)):(?<port>\d{1,5})$/i.exec(value);
    const port = Number(match?.groups?.['port']);
    if (match?.groups === undefined || port > 65_535)
      throw new FlagError('use an address such as :8081 or 127.0.0.1:8081, or 0 for none');
    const host = match.groups['six'] ?? match.groups['host'] ?? '';
    return { port, ...(host === '' ? {} : { host }) };
  },
});

/** `500ms`, `10s`, `1m30s`; in milliseconds. */
export const duration = (standard: string, about: string, atLeast = 100): Flag<number> => ({
  default: standard,
  about,
  read(value) {
    const total = durationMilliseconds(value);
    if (total === undefined) throw new FlagError('use a duration such as 500ms, 10s or 1m30s');
    if (total < atLeast || total > 24 * 3_600_000)
      throw new FlagError(`use a duration from ${atLeast}ms to 24h`);
    return total;
  },
});

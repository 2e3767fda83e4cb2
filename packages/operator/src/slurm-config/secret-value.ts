/**
 * A secret inside a configuration file. Slurm takes any printable text in quotes, with comment signs and backslashes
 * escaped; what it cannot take is refused in words that do not repeat it.
 */
import { UnsafeValueError } from './errors.ts';
import type { Setting } from './setting.ts';

// oxlint-disable-next-line no-control-regex -- control characters are the very thing that is looked for
const unspeakable = /["\u0000-\u001F\u007F\u0085\u2028\u2029]/;

export function secretSetting(key: string, value: string): Setting {
  if (value === '' || unspeakable.test(value))
    throw new UnsafeValueError(
      key,
      '…',
      'use a value that is not empty and has neither double quotes nor control characters (not even a newline at its end)',
    );
  const escaped = value.replaceAll('\\', '\\\\').replaceAll('#', '\\#');
  return { key, value: `"${escaped}"` };
}

/**
 * The atoms of a Slurm configuration file: `Key=Value` and records of several such pairs on one line. A value that
 * could leave its place (a newline, a comment sign, a quote, a backslash at the end, a blank in a record) is refused here,
 * whatever checked it before.
 */

/** A value that cannot stand in a Slurm configuration file. The message names it and says what to write instead. */
export class UnsafeValueError extends Error {
  readonly code = 'UNSAFE_CONFIG_VALUE';
  readonly key: string;

  constructor(key: string, value: string, instead: string) {
    // Quoted and cut, so that a hostile value cannot forge a line of our log either.
    super(`${key}: ${JSON.stringify(value.slice(0, 80))} is not allowed in a configuration file: ${instead}`);
    this.name = 'UnsafeValueError';
    this.key = key;
  }
}

export interface Setting {
  readonly key: string;
  readonly value: string;
}

/** A line of several pairs, such as a partition. */
export interface ConfRecord {
  readonly fields: readonly Setting[];
  /** Further pairs as a user wrote them: anything, on this line and no other. */
  readonly rest?: string | undefined;
}

const keyPattern = /^[A-Za-z][A-Za-z0-9_]*$/;
/** Line breaks of any kind, NUL and other controls; a tab is a blank. */
// oxlint-disable-next-line no-control-regex -- control characters are the very thing that is looked for
const controls = /[\u0000-\u0008\u000A-\u001F\u007F\u0085\u2028\u2029]/;

/** One pair that fills its line: Slurm would read what follows a blank as the next pair, so blanks stand in quotes. */
export function setting(key: string, value: string | number): Setting {
  checkKey(key);
  const text = oneLine(key, String(value));
  if (text.includes('"')) throw new UnsafeValueError(key, text, 'remove double quotes');
  const escaped = text.replaceAll('\\', '\\\\');
  return { key, value: /\s/.test(escaped) ? `"${escaped}"` : escaped };
}

/** The rest of a record's line, as a user wrote it. */
export function remainder(key: string, text: string): string {
  return oneLine(key, text.trim());
}

function oneLine(key: string, text: string): string {
  if (controls.test(text)) throw new UnsafeValueError(key, text, 'use one line without control characters');
  if (text.includes('#')) throw new UnsafeValueError(key, text, 'remove the comment sign #');
  if (text.endsWith('\\')) throw new UnsafeValueError(key, text, 'do not end it with a backslash');
  if (text === '' || text.trim() !== text)
    throw new UnsafeValueError(key, text, 'remove blanks at the beginning and end');
  return text;
}

/** A pair of a record: as `setting`, and without blanks or quotes, which would begin the next pair. */
export function field(key: string, value: string | number): Setting {
  if (/[\s"'\\]/.test(String(value)))
    throw new UnsafeValueError(key, String(value), 'remove blanks, quotes and backslashes');
  return setting(key, value);
}

function checkKey(key: string): void {
  if (!keyPattern.test(key))
    throw new UnsafeValueError(key, key, 'a key has only letters, digits and underscores');
}

export const renderSetting = ({ key, value }: Setting): string => `${key}=${value}`;

export const renderRecord = (record: ConfRecord): string =>
  [...record.fields.map(renderSetting), ...(record.rest === undefined ? [] : [record.rest])].join(' ');

/**
 * A secret inside a configuration file. Slurm takes any printable text in quotes, with comment signs and backslashes
 * escaped; what it cannot take is refused in words that do not repeat it.
 */
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

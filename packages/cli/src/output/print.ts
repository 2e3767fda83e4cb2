/** The answer of a command in the format that was asked for. */

import { printableLines } from '@slurm-operator/advice';
import { Scalar, stringify } from 'yaml';
import type { Io } from '../io.ts';
import { ownCodes } from './style.ts';

export const outputVersion = 'cli.slinky.slurm.net/v1';

export function asJson(kind: string, content: object): string {
  const text = JSON.stringify({ apiVersion: outputVersion, kind, ...content }, plain, 2);
  return `${escapeRest(text)}\n`;
}

export function asYaml(kind: string, content: object): string {
  const data: unknown = JSON.parse(asJson(kind, content));
  // Only text between quotation marks can have escapes.
  const quoted = (_key: unknown, value: unknown): unknown => {
    if (typeof value !== 'string' || !unescaped.test(value)) return value;
    const scalar = new Scalar(value);
    scalar.type = Scalar.QUOTE_DOUBLE;
    return scalar;
  };
  return escapeRest(stringify(data, quoted, { version: '1.1', lineWidth: 0, aliasDuplicateObjects: false }));
}

// Control characters that JSON and YAML write as they are, though a terminal obeys some of them.
// oxlint-disable-next-line no-control-regex -- they are what is looked for
const unescaped = /[\u007F-\u009F\u061C\u200E\u200F\u2028-\u202E\u2066-\u2069\uFEFF]/;
const escapeRest = (text: string): string =>
  text.replaceAll(
    new RegExp(unescaped, 'g'),
    (letter) => String.raw`\u` + letter.charCodeAt(0).toString(16).padStart(4, '0'),
  );

/** Sets and maps have no form in JSON. */
function plain(_key: string, value: unknown): unknown {
  if (value instanceof Set) return [...value];
  if (value instanceof Map) return Object.fromEntries(value);
  return value;
}

/**
 * The last barrier before the terminal: control characters that are not our own are written out, so that no name of a job, reason of a
 * drain or line of a log clears the screen, sets a title or hides a line.
 */
export function guardedIo(io: Io, colours: boolean): Io {
  const safe = (text: string): string =>
    colours
      ? text
          .split(ownCodes)
          .map((piece, index) => (index % 2 === 1 ? piece : printableLines(piece)))
          .join('')
      : printableLines(text);
  return {
    ...io,
    out: (text) => io.out(safe(text)),
    err: (text) => io.err(safe(text)),
    ask: (question) => io.ask(safe(question)),
  };
}

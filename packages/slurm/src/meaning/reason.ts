/** Reasons of drains: their format and their owner. */
import { InvalidInput } from '../errors.ts';

const maxLength = 256;

/**
 * A reason that Slurm can store and every tool can print on one line: control characters become spaces, runs of spaces
 * one, and it is cut at 256 characters.
 */
export function cleanReason(text: string): string {
  const line = text
    // oxlint-disable-next-line no-control-regex -- taking them out is the point
    .replaceAll(/[\u0000-\u001f\u007f-\u009f\u2028\u2029\s]+/gu, ' ')
    .replaceAll(/\p{Surrogate}/gu, '\ufffd')
    .trim();
  return Array.from(line).slice(0, maxLength).join('').trim();
}

/** Reasons that begin with `prefix` belong to one program; all others belong to administrators and are never changed. */
export interface ReasonOwner {
  readonly prefix: string;
  owns(reason: string): boolean;
  /** The prefix followed by `what`. */
  write(what: string): string;
  /** The text without the prefix. */
  read(reason: string): string | undefined;
}

export function reasonOwner(prefix: string): ReasonOwner {
  const clean = cleanReason(prefix);
  if (clean === '' || clean !== prefix)
    throw new InvalidInput(`the prefix "${prefix}" of a reason must be one line without spaces at its ends`);
  // "tool" must not own "toolbox is broken": the prefix must end at the end of a word.
  const owns = (reason: string) =>
    reason.startsWith(clean) && !/^[\p{L}\p{N}_-]/u.test(reason.slice(clean.length));
  return {
    prefix: clean,
    owns,
    write: (what) => cleanReason(/[\p{P}]$/u.test(clean) ? `${clean} ${what}` : `${clean}: ${what}`),
    read: (reason) => (owns(reason) ? reason.slice(clean.length).replace(/^:?\s*/, '') : undefined),
  };
}

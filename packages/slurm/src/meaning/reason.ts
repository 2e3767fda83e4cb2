/** Reasons of drains: their format. */

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

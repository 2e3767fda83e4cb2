/**
 * The last barrier before the terminal: control characters that are not our own are written out, so that no name of a job, reason of a
 * drain or line of a log clears the screen, sets a title or hides a line.
 */
import { printableLines } from '@slurm-operator/advice';
import type { Io } from './io.ts';
import { ownCodes } from './output/style.ts';

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

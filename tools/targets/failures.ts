/** Formats test failures: first in full, then one line each. Pure. */

export interface Failure {
  /** The test with its suites, or the step. */
  readonly name: string;
  /** `file:line` from the root of the repository; empty for a step. */
  readonly where: string;
  /** What went wrong, as a person reads it. */
  readonly error: string;
  /** What its file wrote until then, from the end: printed with one failure of each file. */
  readonly said?: string;
}

/** Enough for an assertion with its difference and the top of its stack. */
const errorLines = 40;
const errorCharacters = 4000;
/** Enough for the end of a log. */
const saidLines = 60;
const saidCharacters = 8000;
/** More failures than this have one cause; the list of names below still holds them all. */
const inFull = 25;

/** Nothing when nothing failed. The list of names comes last, because logs are cut at their beginning. */
export function describeFailures(failures: readonly Failure[]): string {
  if (failures.length === 0) return '';
  const details = failures
    .slice(0, inFull)
    .map((failure) => `✘ ${title(failure)}\n${indent(failure.error)}\n${lastLines(failure)}`);
  const names = failures.map((failure) => `  ✘ ${title(failure)}: ${firstLine(failure.error)}`);
  const omitted =
    failures.length > inFull ? [`… ${failures.length - inFull} more in the list of names and above.\n`] : [];
  return ['What failed:', '', ...details, ...omitted, `All ${failures.length} by name:`, ...names].join('\n');
}

function title({ name, where }: Failure): string {
  return where === '' ? name : `${name} (${where})`;
}

function indent(error: string): string {
  // The runner's own frames add nothing.
  const lines = error
    .trimEnd()
    .split('\n')
    .filter((line) => !/^\s+at .*\bnode:internal\//.test(line));
  const kept = lines.length <= errorLines ? lines : [...lines.slice(0, errorLines), '…'];
  const text = kept.map((line) => `    ${line}`.trimEnd()).join('\n');
  return text.length <= errorCharacters ? text : `${text.slice(0, errorCharacters)}…`;
}

function lastLines({ said = '' }: Failure): string {
  const lines = said.trimEnd().split('\n').slice(-saidLines);
  const text = lines.map((line) => `    │ ${line}`.trimEnd()).join('\n');
  return said.trim() === '' ? '' : `    last output of its file:\n${text.slice(-saidCharacters)}\n`;
}

function firstLine(error: string): string {
  const line = error.split('\n').find((candidate) => candidate.trim() !== '') ?? '(no message)';
  return line.length <= 200 ? line.trim() : `${line.trim().slice(0, 200)}…`;
}

/** What can be wrong with an expression, before and while it runs. */

/** A fault found while reading or checking an expression; `at` is an offset into its text. */
export interface CelIssue {
  readonly at: number;
  readonly message: string;
}

/** The expression cannot be used. The message has the shape clients know: position, reason, the line and a caret. */
export class CelCompileError extends Error {
  override readonly name = 'CelCompileError';
  readonly issues: readonly CelIssue[];

  constructor(source: string, issues: readonly CelIssue[]) {
    super(issues.map((issue) => showIssue(source, issue)).join('\n'));
    this.issues = issues;
  }
}

/** The expression failed on this value, as `no such key` or a division by zero does. */
export class CelRuntimeError extends Error {
  override readonly name = 'CelRuntimeError';
}

function showIssue(source: string, { at, message }: CelIssue): string {
  const before = source.slice(0, at);
  const line = before.split('\n').length;
  const column = at - (before.lastIndexOf('\n') + 1);
  const text = source.split('\n')[line - 1] ?? '';
  return `ERROR: <input>:${line}:${column + 1}: ${message}\n | ${text}\n | ${'.'.repeat(column)}^`;
}

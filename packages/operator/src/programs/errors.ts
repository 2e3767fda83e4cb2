/** What a person who starts a program got wrong. */
export class FlagError extends Error {
  override readonly name = 'FlagError';
  readonly code = 'BAD_FLAG';
}

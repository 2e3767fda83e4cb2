/** Something about the given cluster keeps the demo away; the message says what to do. */
export class DemoRefusedError extends Error {
  override readonly name = 'DemoRefusedError';
}

/** Waits for a condition; a wait that does not come true in time fails with what was waited for. */

export interface EventuallyOptions {
  /** Milliseconds. */
  readonly deadline: number;
}

export async function eventually(
  what: string,
  holds: () => Promise<boolean>,
  { deadline }: EventuallyOptions,
): Promise<void> {
  const end = performance.now() + deadline;
  for (let pause = 5; !(await holds()); pause = Math.min(pause * 2, 500)) {
    if (performance.now() > end) throw new Error(`not within ${deadline} ms: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, pause));
  }
}

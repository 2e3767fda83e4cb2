/** The figures of a benchmark: each is printed when it is measured, and all of them as one JSON line at the end. */
export class Figures {
  readonly #figures: { readonly key: string; readonly value: number; readonly goal: number | undefined }[] =
    [];
  readonly #print: (line: string) => void;

  constructor(print: (line: string) => void = console.log) {
    this.#print = print;
  }

  /** `goal`: at most this. */
  note(what: string, key: string, value: number, goal?: number): void {
    this.#figures.push({ key, value, goal });
    const result = goal === undefined ? '' : `   goal ${goal}: ${value <= goal ? 'met' : 'missed'}`;
    this.#print(`${what.padEnd(64)}${value.toFixed(2).padStart(10)}${result}`);
  }

  /** `about`: what the figures are of, such as a version. */
  printJson(bench: string, about: Readonly<Record<string, string>> = {}): void {
    const measured = this.#figures.flatMap(({ key, value, goal }) => [
      [key, Math.round(value * 100) / 100] as const,
      ...(goal === undefined ? [] : [[`${key}_met`, value <= goal] as const]),
    ]);
    this.#print(JSON.stringify({ bench, ...about, ...Object.fromEntries(measured) }));
  }
}

/** The table of every benchmark: a line for each figure when it is measured, and all of them as one JSON line at the end. */

/** A number: at most this. */
export type Goal = number | { readonly below: number } | { readonly least: number };

export class Figures {
  readonly #figures: { readonly key: string; readonly value: number; readonly met: boolean | undefined }[] =
    [];
  readonly #print: (line: string) => void;

  constructor(print: (line: string) => void = console.log) {
    this.#print = print;
  }

  /** `what`: with its unit, and whatever helps to read the figure. */
  note(what: string, key: string, value: number, goal?: Goal): void {
    const met = goal === undefined ? undefined : isMet(value, goal);
    this.#figures.push({ key, value, met });
    const result = goal === undefined ? '' : `   goal ${goalText(goal)}: ${met === true ? 'met' : 'missed'}`;
    this.#print(`${what.padEnd(64)}${value.toFixed(2).padStart(10)}${result}`);
  }

  get allMet(): boolean {
    return this.#figures.every(({ met }) => met !== false);
  }

  /** `about`: what the figures are of, such as a version. */
  printJson(bench: string, about: Readonly<Record<string, string | number | boolean>> = {}): void {
    const measured = this.#figures.flatMap(({ key, value, met }) => [
      [key, Math.round(value * 10_000) / 10_000] as const,
      ...(met === undefined ? [] : [[`${key}_met`, met] as const]),
    ]);
    this.#print(JSON.stringify({ bench, ...about, ...Object.fromEntries(measured) }));
  }
}

function isMet(value: number, goal: Goal): boolean {
  if (typeof goal === 'number') return value <= goal;
  return 'below' in goal ? value < goal.below : value >= goal.least;
}

function goalText(goal: Goal): string {
  if (typeof goal === 'number') return `≤ ${goal}`;
  return 'below' in goal ? `< ${goal.below}` : `≥ ${goal.least}`;
}

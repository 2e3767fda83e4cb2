/** QuickJS has no Intl. Of it, rules only format times; there they are shown in the time zone of the node. */
interface Options {
  readonly hour?: string;
  readonly weekday?: string;
  readonly year?: string;
}

const two = (number: number): string => String(number).padStart(2, '0');

export class LocalTimeFormat {
  readonly #options: Options;

  constructor(_locale: string, options: Options) {
    this.#options = options;
  }

  format(at: number): string {
    const date = new Date(at);
    const { hour, weekday, year } = this.#options;
    if (hour !== undefined) return `${two(date.getHours())}:${two(date.getMinutes())}`;
    if (weekday !== undefined) return ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'][date.getDay()] ?? '';
    if (year !== undefined) return `${two(date.getDate())}/${two(date.getMonth() + 1)}/${date.getFullYear()}`;
    throw new Error('no such format');
  }
}

/** slurmctld says no, with its own number and text. */
export class SlurmRefusal extends Error {
  readonly number: number;
  /** The HTTP status when it is the same in every release; otherwise the release decides. */
  readonly status: number | undefined;

  constructor(number: number, text: string, status?: number) {
    super(text);
    this.number = number;
    this.status = status;
  }
}

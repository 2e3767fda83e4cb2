/** Reads values whose format is the same in every API version. A missing value is `undefined`, never a guess. */

/** Slurm's number with flags: `set: false` means "no value", `infinite` "no limit". */
export interface WireNumber {
  readonly set?: boolean;
  readonly infinite?: boolean;
  readonly number?: number;
}

/** A limit: a number, no limit (`infinite`), or not reported (`undefined`). */
export type Limit = number | 'infinite' | undefined;

export function numberOf(wire: WireNumber | number | undefined): number | undefined {
  if (typeof wire === 'number') return wire;
  return wire?.set === true && wire.infinite !== true ? wire.number : undefined;
}

export function limitOf(wire: WireNumber | number | undefined): Limit {
  return typeof wire === 'object' && wire.infinite === true ? 'infinite' : numberOf(wire);
}

/** Slurm's NO_VAL and INFINITE, which occur as times in some responses. */
const noTime = 0xff_ff_ff_fe;

/** A UNIX time in seconds as milliseconds; Slurm writes 0 for "never". */
export function timeOf(wire: WireNumber | number | undefined): number | undefined {
  const seconds = numberOf(wire);
  return seconds === undefined || seconds === 0 || seconds >= noTime ? undefined : seconds * 1000;
}

/** A list that some versions write as one comma-separated string. */
export function listOf(wire: readonly string[] | string | undefined): readonly string[] {
  if (wire === undefined || wire === '') return [];
  return typeof wire === 'string' ? wire.split(',') : wire;
}

/** A number in the format of a request. */
export function wireNumber(value: number | 'infinite'): WireNumber {
  return value === 'infinite'
    ? { set: false, infinite: true }
    : { set: true, infinite: false, number: value };
}

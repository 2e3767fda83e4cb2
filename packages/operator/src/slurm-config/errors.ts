/** A value that cannot stand in a Slurm configuration file. The message names it and says what to write instead. */
export class UnsafeValueError extends Error {
  readonly code = 'UNSAFE_CONFIG_VALUE';
  readonly key: string;

  constructor(key: string, value: string, instead: string) {
    // Quoted and cut, so that a hostile value cannot forge a line of our log either.
    super(`${key}: ${JSON.stringify(value.slice(0, 80))} is not allowed in a configuration file: ${instead}`);
    this.name = 'UnsafeValueError';
    this.key = key;
  }
}

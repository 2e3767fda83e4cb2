/** The words of a command line after parsing. */
export interface CommandLine {
  readonly args: readonly string[];
  /** Words after `--`. */
  readonly rest: readonly string[];
  readonly text: (flag: string) => string | undefined;
  readonly texts: (flag: string) => readonly string[];
  readonly has: (flag: string) => boolean;
}

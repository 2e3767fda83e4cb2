/** How every program begins and ends: one sentence on stderr and exit code 1 when it cannot go on, 2 for a wrong flag. */
import { explain, shutdownSignal } from '@slurm-operator/kube';
import { FlagError } from './parse-flags.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

/** Answers what to print, if it was asked for help. */
export type Program = (
  args: readonly string[],
  env: Environment,
  signal: AbortSignal,
) => Promise<string | undefined>;

export async function runProgram(program: Program): Promise<void> {
  try {
    const text = await program(process.argv.slice(2), process.env, shutdownSignal());
    if (text !== undefined) console.log(text);
  } catch (error) {
    console.error(explain(error));
    process.exitCode = error instanceof FlagError ? 2 : 1;
  }
}

/** The options of the command line, as text. */
import { quantityNumber } from '@slurm-operator/kubernetes-values';
import { LocalClusterError } from '../errors.ts';

export interface Flags {
  readonly name: string;
  readonly nodes: string;
  readonly 'hollow-nodes': string;
  readonly port?: string;
  readonly cpu?: string;
  readonly memory?: string;
  readonly image: readonly string[];
  readonly 'node-grace-seconds'?: string;
  readonly follow: boolean;
  readonly words: readonly string[];
}

export function wholeNumber(flag: string, text: string, least: number, most: number): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < least || value > most)
    throw new LocalClusterError(
      'BadArgument',
      `--${flag} is "${text}": give a whole number from ${least} to ${most}.`,
    );
  return value;
}

/** An amount as Kubernetes writes it, handed on as text; more than nothing. */
export function amount(flag: string, text: string, example: string): string {
  if (!(quantityNumber(text) > 0))
    throw new LocalClusterError(
      'BadArgument',
      `--${flag} is "${text}": give an amount such as "${example}".`,
    );
  return text;
}

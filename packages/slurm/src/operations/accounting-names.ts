/**
 * Names of rows in the accounting database. The database compares names without regard to case and trailing blanks: a DELETE of
 * `normal%20` removes the QOS `normal`. So only names that mean exactly one row are sent.
 */
import { InvalidInput } from '../errors.ts';
import type { SlurmTres } from '../model/accounting.ts';
import { type CallOptions } from './endpoint.ts';

const pattern = /^[a-z0-9_][a-z0-9_.@+-]*$/;
/** User names of a directory may have capitals; two that differ in case only are one row to Slurm. */
const userPattern = /^[A-Za-z0-9_][A-Za-z0-9_.@+-]*$/;
const longest = 60;

/**
 * No request empties the QOS list of an association, but a QOS that is deleted leaves every list. So a list is emptied by way of a QOS of
 * this name, which exists for that moment only.
 */
export const emptyListPlaceholder = 'no-qos-placeholder';

/** Throws unless `name` can be written as the name of a QOS or an account. */
export function checkAccountingName(kind: 'QOS' | 'account' | 'cluster', name: string): void {
  if (name.length <= longest && pattern.test(name)) return;
  throw new InvalidInput(
    `"${printable(name)}" cannot be the name of a ${kind}: use 1 to ${longest} lower-case letters, digits and _ . @ + - (no leading dot or sign)`,
  );
}

export function checkUserName(name: string): void {
  if (name.length <= longest && userPattern.test(name)) return;
  throw new InvalidInput(
    `"${printable(name)}" cannot be the name of a user: use 1 to ${longest} letters, digits and _ . @ + - (no leading dot or sign)`,
  );
}

const printable = (name: string) => name.replace(/[^\x20-\x7e]/g, '?').slice(0, longest);

export type ListTres = (options?: CallOptions) => Promise<readonly SlurmTres[]>;

/** Slurm ignores a TRES that it does not have, and reports success. `used`: TRES → what limits it, in words. */
export async function checkTracked(
  used: ReadonlyMap<string, string>,
  listTres: ListTres,
  options?: CallOptions,
): Promise<void> {
  if (used.size === 0) return;
  const tracked = await listTres(options);
  const known = new Set(tracked.map(({ type, name }) => (name === '' ? type : `${type}/${name}`)));
  for (const [tres, user] of used)
    if (!known.has(tres))
      throw new InvalidInput(
        `${user} limits "${tres}", which this Slurm does not track: add it to AccountingStorageTRES (tracked: ${[...known].join(', ')})`,
      );
}

/**
 * Names of rows in the accounting database. The database compares names without regard to case and trailing blanks: a DELETE of
 * `normal%20` removes the QOS `normal`. So only names that mean exactly one row are sent.
 */
import { InvalidInput } from '../errors.ts';

const pattern = /^[a-z0-9_][a-z0-9_.@+-]*$/;
const longest = 60;

/** Throws unless `name` can be written as the name of a QOS or an account. */
export function checkAccountingName(kind: 'QOS' | 'account', name: string): void {
  if (name.length <= longest && pattern.test(name)) return;
  throw new InvalidInput(
    `"${printable(name)}" cannot be the name of a ${kind}: use 1 to ${longest} lower-case letters, digits and _ . @ + - (no leading dot or sign)`,
  );
}

const printable = (name: string) => name.replace(/[^\x20-\x7e]/g, '?').slice(0, longest);

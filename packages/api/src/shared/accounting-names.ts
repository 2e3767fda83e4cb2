/** Names of rows in Slurm's accounting database. */
import type { Rule } from '../schema/fields.ts';

/** Slurm compares names without case and trailing blanks: only names that mean one row are accepted. */
export const rowNameRule = (field: string): Rule => ({
  rule: "self.matches('^[a-z0-9_][a-z0-9_.@+-]*$')",
  message: `${field} must be 1 to 60 lower-case letters, digits and _ . @ + -, and must not begin with a dot, @ or sign`,
});

/** Names in a directory may have capitals. */
export const userNameRule = (field: string): Rule => ({
  rule: "self.matches('^[A-Za-z0-9_][A-Za-z0-9_.@+-]*$')",
  message: `${field} must be 1 to 60 letters, digits and _ . @ + -, and must not begin with a dot, @ or sign`,
});

export const longestRowName = 60;

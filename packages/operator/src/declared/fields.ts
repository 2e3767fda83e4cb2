/**
 * The fields of a row of Slurm by their path, such as `limits.perUser.tres.cpu`. A path that is not there is not set. So the same code
 * decides about a QOS, an account, a member and a reservation. Pure.
 */
export type FieldValue = string | number | boolean | readonly string[];
export type Fields = Readonly<Record<string, FieldValue>>;

export interface FieldChange {
  readonly path: string;
  /** Undefined: not set. */
  readonly from: FieldValue | undefined;
  readonly to: FieldValue | undefined;
}

export const sameValue = (one: FieldValue | undefined, other: FieldValue | undefined): boolean =>
  one === other || JSON.stringify(one) === JSON.stringify(other);

/** Every leaf of a nested value that is set. Lists are leaves; */
export function toFields(value: object, prefix = ''): Fields {
  const fields: Record<string, FieldValue> = {};
  for (const [key, leaf] of Object.entries(value)) {
    const path = `${prefix}${key}`;
    if (leaf === undefined || leaf === null) continue;
    if (typeof leaf === 'object' && !Array.isArray(leaf)) Object.assign(fields, toFields(leaf, `${path}.`));
    else fields[path] = leaf as FieldValue;
  }
  return fields;
}

/** `current` with these changes carried out. */
export function withChanges(current: Fields, changes: readonly FieldChange[]): Fields {
  const fields: Record<string, FieldValue> = { ...current };
  for (const { path, to } of changes)
    if (to === undefined) delete fields[path];
    else fields[path] = to;
  return fields;
}

/** "change priority from 10 to 1000", "unset limits.perUser.jobs (5)" */
export function describeChange({ path, from, to }: FieldChange): string {
  if (to === undefined) return `unset ${path} (${words(from)})`;
  return from === undefined
    ? `set ${path} to ${words(to)}`
    : `change ${path} from ${words(from)} to ${words(to)}`;
}

const words = (value: FieldValue | undefined): string =>
  typeof value === 'object' ? `[${value.join(', ')}]` : JSON.stringify(value);

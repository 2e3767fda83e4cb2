/** Label selectors inside objects: do they match, and are they well formed? */
import type { FieldFault } from '../errors.ts';
import { forbiddenField, invalidValue, required } from './fault.ts';
import { labelValue, qualifiedName } from './name-rules.ts';

export interface LabelSelectorObject {
  readonly matchLabels?: Readonly<Record<string, string>>;
  readonly matchExpressions?: readonly {
    readonly key: string;
    readonly operator: string;
    readonly values?: readonly string[];
  }[];
}

/** An absent selector matches nothing, an empty one everything. */
export function selectorMatches(
  selector: LabelSelectorObject | undefined | null,
  labels: Readonly<Record<string, string>> | undefined,
): boolean {
  if (!selector) return false;
  const have = labels ?? {};
  return (
    Object.entries(selector.matchLabels ?? {}).every(([key, value]) => have[key] === value) &&
    (selector.matchExpressions ?? []).every(({ key, operator, values = [] }) => {
      const value = have[key];
      switch (operator) {
        case 'In':
          return value !== undefined && values.includes(value);
        case 'NotIn':
          return value === undefined || !values.includes(value);
        case 'Exists':
          return value !== undefined;
        case 'DoesNotExist':
          return value === undefined;
        default:
          return false;
      }
    })
  );
}

/** The selector as scale subresources write it: `a=b,c in (d,e)`. */
export function selectorText(selector: LabelSelectorObject | undefined): string {
  const parts = Object.entries(selector?.matchLabels ?? {})
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, value]) => `${key}=${value}`);
  for (const { key, operator, values = [] } of selector?.matchExpressions ?? []) {
    const list = `(${values.toSorted().join(',')})`;
    if (operator === 'In') parts.push(`${key} in ${list}`);
    if (operator === 'NotIn') parts.push(`${key} notin ${list}`);
    if (operator === 'Exists') parts.push(key);
    if (operator === 'DoesNotExist') parts.push(`!${key}`);
  }
  return parts.join(',');
}

const OPERATORS = ['In', 'NotIn', 'Exists', 'DoesNotExist'];

export function validateLabelSelector(selector: LabelSelectorObject | undefined, path: string): FieldFault[] {
  const faults: FieldFault[] = [];
  for (const [key, value] of Object.entries(selector?.matchLabels ?? {})) {
    for (const text of qualifiedName(key)) faults.push(invalidValue(`${path}.matchLabels`, key, text));
    for (const text of labelValue(value)) faults.push(invalidValue(`${path}.matchLabels`, value, text));
  }
  for (const [index, { key, operator, values = [] }] of (selector?.matchExpressions ?? []).entries()) {
    const at = `${path}.matchExpressions[${index}]`;
    if (!OPERATORS.includes(operator))
      faults.push(invalidValue(`${at}.operator`, operator, 'not a valid selector operator'));
    if ((operator === 'In' || operator === 'NotIn') && values.length === 0)
      faults.push(required(`${at}.values`, "must be specified when `operator` is 'In' or 'NotIn'"));
    if ((operator === 'Exists' || operator === 'DoesNotExist') && values.length > 0)
      faults.push(
        forbiddenField(`${at}.values`, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"),
      );
    for (const text of qualifiedName(key)) faults.push(invalidValue(`${at}.key`, key, text));
    for (const [place, value] of values.entries())
      for (const text of labelValue(value)) faults.push(invalidValue(`${at}.values[${place}]`, value, text));
  }
  return faults;
}

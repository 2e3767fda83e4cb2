/** Label selectors inside objects: the structured form of workloads, and the plain map of Services and node selectors. Pure. */

type Labels = Readonly<Record<string, string>> | undefined;

export interface SelectorRule {
  readonly key: string;
  readonly operator: string;
  readonly values?: readonly string[];
}

export interface LabelSelector {
  readonly matchLabels?: Readonly<Record<string, string>>;
  readonly matchExpressions?: readonly SelectorRule[];
}

/** An empty selector matches everything; an absent one matches nothing. */
export function selectorMatches(selector: LabelSelector | undefined | null, labels: Labels): boolean {
  if (!selector) return false;
  if (!mapMatches(selector.matchLabels ?? {}, labels)) return false;
  return (selector.matchExpressions ?? []).every((rule) => ruleHolds(rule, valueOf(labels, rule.key)));
}

export function mapMatches(wanted: Readonly<Record<string, string>>, labels: Labels): boolean {
  return Object.entries(wanted).every(([key, value]) => valueOf(labels, key) === value);
}

/** Whether a value (undefined: there is none) is what a rule asks for. Gt and Lt compare whole numbers. */
export function ruleHolds({ operator, values = [] }: SelectorRule, value: string | undefined): boolean {
  switch (operator) {
    case 'In':
      return value !== undefined && values.includes(value);
    case 'NotIn':
      return value === undefined || !values.includes(value);
    case 'Exists':
      return value !== undefined;
    case 'DoesNotExist':
      return value === undefined;
    case 'Gt':
      return value !== undefined && isWholeNumber(value) && Number(value) > Number(values[0]);
    case 'Lt':
      return value !== undefined && isWholeNumber(value) && Number(value) < Number(values[0]);
    default:
      return false;
  }
}

/** The selector as scale subresources and tables write it: `a=b,c in (d,e)`, by key. */
export function selectorText(selector: LabelSelector | undefined | null): string {
  const equal = Object.entries(selector?.matchLabels ?? {}).map(([key, value]) => ({
    key,
    text: `${key}=${value}`,
  }));
  const rules = (selector?.matchExpressions ?? []).map((rule) => ({ key: rule.key, text: ruleText(rule) }));
  return [...equal, ...rules]
    .filter(({ text }) => text !== '')
    .toSorted((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0))
    .map(({ text }) => text)
    .join(',');
}

function ruleText({ key, operator, values = [] }: SelectorRule): string {
  const list = `(${values.toSorted().join(',')})`;
  const texts: Readonly<Record<string, string>> = {
    In: `${key} in ${list}`,
    NotIn: `${key} notin ${list}`,
    Exists: key,
    DoesNotExist: `!${key}`,
  };
  return texts[operator] ?? '';
}

export const isWholeNumber = (value: string): boolean => /^[+-]?\d+$/.test(value);

/** A label named like a property that every object has counts only when it is set. */
function valueOf(labels: Labels, key: string): string | undefined {
  return labels !== undefined && Object.hasOwn(labels, key) ? labels[key] : undefined;
}

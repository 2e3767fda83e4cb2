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
export function selectorMatches(selector: LabelSelector | undefined, labels: Labels): boolean {
  if (selector === undefined) return false;
  if (!mapMatches(selector.matchLabels ?? {}, labels)) return false;
  return (selector.matchExpressions ?? []).every((rule) => ruleHolds(rule, labels?.[rule.key]));
}

export function mapMatches(wanted: Readonly<Record<string, string>>, labels: Labels): boolean {
  return Object.entries(wanted).every(([key, value]) => labels?.[key] === value);
}

/** Whether a value (undefined: there is none) is what a rule asks for. Gt and Lt exist for nodes only. */
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
      return value !== undefined && Number(value) > Number(values[0]);
    case 'Lt':
      return value !== undefined && Number(value) < Number(values[0]);
    default:
      return false;
  }
}

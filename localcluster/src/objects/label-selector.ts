/** Label selectors: the structured form of workloads and the plain map of Services and node selectors. */
type Labels = Readonly<Record<string, string>> | undefined;

export interface LabelSelector {
  readonly matchLabels?: Readonly<Record<string, string>>;
  readonly matchExpressions?: readonly {
    readonly key: string;
    readonly operator: string;
    readonly values?: readonly string[];
  }[];
}

/** An empty selector matches everything; an absent one matches nothing. */
export function selectorMatches(selector: LabelSelector | undefined, labels: Labels): boolean {
  if (selector === undefined) return false;
  if (!mapMatches(selector.matchLabels ?? {}, labels)) return false;
  return (selector.matchExpressions ?? []).every((rule) => {
    const value = labels?.[rule.key];
    switch (rule.operator) {
      case 'In':
        return value !== undefined && (rule.values ?? []).includes(value);
      case 'NotIn':
        return value === undefined || !(rule.values ?? []).includes(value);
      case 'Exists':
        return value !== undefined;
      case 'DoesNotExist':
        return value === undefined;
      default:
        return false;
    }
  });
}

export function mapMatches(wanted: Readonly<Record<string, string>>, labels: Labels): boolean {
  return Object.entries(wanted).every(([key, value]) => labels?.[key] === value);
}

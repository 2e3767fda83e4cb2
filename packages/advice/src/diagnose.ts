/** Runs the rules over the evidence: causes first, what follows from them below, and what could not be checked. */
import { missing } from './evidence/evidence.ts';
import type { Context, EvidenceName, EvidenceSet, Values } from './evidence/values.ts';
import type { Finding, FindingDraft, Rule, Severity } from './finding.ts';
import { rules as allRules } from './rules/index.ts';

export interface Unchecked {
  readonly evidence: EvidenceName;
  readonly why: string;
  /** Rules that could not run without it. */
  readonly rules: readonly string[];
}

export interface Diagnosis {
  readonly findings: readonly Finding[];
  readonly unchecked: readonly Unchecked[];
  /** Number of rules that ran. */
  readonly checked: number;
}

const rank: Readonly<Record<Severity, number>> = { error: 0, warning: 1, info: 2 };

export function diagnose(
  evidence: EvidenceSet,
  context: Context,
  rules: readonly Rule[] = allRules,
): Diagnosis {
  const values: Partial<Record<EvidenceName, unknown>> = {};
  for (const [name, one] of Object.entries(evidence))
    if (one.kind === 'known') values[name as EvidenceName] = one.value;
  const drafts: { rule: Rule; draft: FindingDraft }[] = [];
  const lacking = new Map<EvidenceName, string[]>();
  let checked = 0;
  for (const rule of rules) {
    const lacks = rule.needs.filter((name) => !(name in values));
    for (const name of lacks) lacking.set(name, [...(lacking.get(name) ?? []), rule.id]);
    if (lacks.length > 0) continue;
    checked += 1;
    // What the rule needs is there; that is checked above, by name.
    for (const draft of rule.find(values as unknown as Values, context)) drafts.push({ rule, draft });
  }
  const unchecked: Unchecked[] = [];
  for (const [name, ids] of lacking) {
    const piece = evidence[name];
    // Evidence that the command did not ask for is no gap: `doctor job/7` does not read logs.
    if (piece !== undefined) unchecked.push({ evidence: name, why: missing(piece), rules: ids });
  }
  return { findings: fold(drafts), unchecked, checked };
}

/** Puts each finding below the first cause of it that was found, and sorts the rest by severity and rule. */
function fold(drafts: readonly { readonly rule: Rule; readonly draft: FindingDraft }[]): Finding[] {
  const places = new Map<string, number>();
  for (const [index, { rule, draft }] of drafts.entries())
    for (const key of [rule.id, `${rule.id} ${draft.subject.name}`])
      if (!places.has(key)) places.set(key, index);
  const causeOf = drafts.map(({ rule, draft }) => {
    for (const { rule: id, subject } of draft.after ?? []) {
      const found = id === rule.id ? undefined : places.get(subject === undefined ? id : `${id} ${subject}`);
      if (found !== undefined) return found;
    }
    return -1;
  });
  const below = Map.groupBy(drafts.keys(), (index) => rootOf(index, causeOf));
  const finding = (index: number, consequences: readonly Finding[]): Finding => {
    const { rule, draft } = drafts[index] as (typeof drafts)[number];
    const { after: _, ...rest } = draft;
    return {
      rule: rule.id,
      severity: rule.severity,
      because: [],
      fix: [],
      ...rest,
      consequences,
    };
  };
  return [...below]
    .map(([root, members]) => {
      const own = finding(root, []);
      const consequences = members
        .filter((index) => index !== root)
        .map((index) => finding(index, []))
        .toSorted(order);
      // A cause that only explains has the severity of what it causes.
      const severity = [own, ...consequences].toSorted(order)[0]?.severity ?? own.severity;
      return { ...own, severity, consequences };
    })
    .toSorted(order);
}

/** Follows causes upwards; a circle ends where it began. */
function rootOf(start: number, causeOf: readonly number[]): number {
  const seen = new Set<number>();
  let index = start;
  while ((causeOf[index] ?? -1) >= 0 && !seen.has(index)) {
    seen.add(index);
    index = causeOf[index] as number;
  }
  return seen.has(index) ? Math.min(...seen) : index;
}

function order(a: Finding, b: Finding): number {
  return (
    rank[a.severity] - rank[b.severity] ||
    a.rule.localeCompare(b.rule, 'en', { numeric: true }) ||
    a.subject.name.localeCompare(b.subject.name, 'en', { numeric: true })
  );
}

/** Runs the rules over the evidence: causes first, what follows from them below, and what could not be checked. */
import { missing } from './evidence/evidence.ts';
import type { Context, EvidenceName, EvidenceSet, Values } from './evidence/values.ts';
import type { Finding, FindingDraft, Rule, Severity } from './finding.ts';
import { rules as allRules } from './rules/index.ts';
import { printable } from './text/text.ts';

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
  /** Rules that ended with an error of their own, on an object that they did not expect. The others are not affected. */
  readonly failed: readonly { readonly rule: string; readonly why: string }[];
}

const rank: Readonly<Record<Severity, number>> = { error: 0, warning: 1, info: 2 };

/** Every text in the result is on one line and without control characters, whatever people named their jobs. */
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
  const failed: { rule: string; why: string }[] = [];
  let checked = 0;
  for (const rule of rules) {
    const lacks = rule.needs.filter((name) => !(name in values));
    for (const name of lacks) lacking.set(name, [...(lacking.get(name) ?? []), rule.id]);
    if (lacks.length > 0) continue;
    try {
      // What the rule needs is there; that is checked above, by name.
      for (const draft of rule.find(values as unknown as Values, context)) drafts.push({ rule, draft });
      checked += 1;
    } catch (error) {
      failed.push({ rule: rule.id, why: printable(error instanceof Error ? error.message : String(error)) });
    }
  }
  const unchecked: Unchecked[] = [];
  for (const [name, ids] of lacking) {
    const piece = evidence[name];
    // Evidence that the command did not ask for is no gap: `doctor job/7` does not read logs.
    if (piece !== undefined) unchecked.push({ evidence: name, why: printable(missing(piece)), rules: ids });
  }
  return { findings: fold(drafts), unchecked, checked, failed };
}

/** Puts each finding below the first cause of it that was found, and sorts the rest by severity and rule. */
function fold(drafts: readonly { readonly rule: Rule; readonly draft: FindingDraft }[]): Finding[] {
  const places = new Map<string, number>();
  for (const [index, { rule, draft }] of drafts.entries())
    for (const key of [rule.id, `${rule.id} ${draft.subject.name}`])
      if (!places.has(key)) places.set(key, index);
  const byRule = Map.groupBy(drafts.keys(), (index) => (drafts[index] as (typeof drafts)[number]).rule.id);
  const causeOf = drafts.map(({ rule, draft }) => {
    for (const { rule: id, subject, isAbout } of draft.after ?? []) {
      if (id === rule.id) continue;
      const found =
        isAbout === undefined
          ? places.get(subject === undefined ? id : `${id} ${subject}`)
          : byRule
              .get(id)
              ?.find((index) => namesOf((drafts[index] as (typeof drafts)[number]).draft).some(isAbout));
      if (found !== undefined) return found;
    }
    return -1;
  });
  const below = Map.groupBy(drafts.keys(), (index) => rootOf(index, causeOf));
  const finding = (index: number, consequences: readonly Finding[]): Finding => {
    const { rule, draft } = drafts[index] as (typeof drafts)[number];
    const { after: _, subject, says, because = [], fix = [], related, ...rest } = draft;
    return {
      rule: rule.id,
      severity: rule.severity,
      ...rest,
      subject: { kind: subject.kind, name: printable(subject.name) },
      says: printable(says),
      because: because.map(printable),
      fix: fix.map(printable),
      ...(related === undefined ? {} : { related: related.map(printable) }),
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

const namesOf = ({ subject, related = [] }: FindingDraft): readonly string[] => [subject.name, ...related];

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

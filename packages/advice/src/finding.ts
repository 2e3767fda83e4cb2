/** A finding: what is wrong, with what, why we say so, and what to do. */
import type { Context, EvidenceName, Values } from './evidence/values.ts';

/** `error` keeps something from running, `warning` soon will or may, `info` explains what is as intended. */
export type Severity = 'error' | 'warning' | 'info';

export interface Subject {
  /** `Cluster`, `NodeSet`, `Pod`, `SlurmNode`, `Job` … */
  readonly kind: string;
  readonly name: string;
}

export interface Finding {
  readonly rule: string;
  readonly severity: Severity;
  readonly subject: Subject;
  /** One or two sentences: what happened, to what, why. */
  readonly says: string;
  /** Facts that it rests on, quoted. */
  readonly because: readonly string[];
  /** Commands, or one sentence where there is no command. */
  readonly fix: readonly string[];
  /** A page below `docs/`. */
  readonly doc?: string;
  /** Names of other subjects that it mentions: a diagnosis of one job shows what is wrong with them too. */
  readonly related?: readonly string[];
  /** Findings that this one explains. */
  readonly consequences: readonly Finding[];
}

/** A rule whose finding would be the cause: about this subject, about one for which `isAbout` holds, or about any. */
export interface Cause {
  readonly rule: string;
  readonly subject?: string;
  readonly isAbout?: (name: string) => boolean;
}

/** What a rule returns; `after` names rules (and subjects) whose finding would be the cause of this one. */
export interface FindingDraft {
  readonly severity?: Severity;
  readonly subject: Subject;
  readonly says: string;
  readonly because?: readonly string[];
  readonly fix?: readonly string[];
  readonly doc?: string;
  readonly related?: readonly string[];
  readonly after?: readonly Cause[];
}

export type Family =
  | 'install'
  | 'control-plane'
  | 'accounting'
  | 'workers'
  | 'slurm-nodes'
  | 'jobs'
  | 'rollouts';

export interface Rule {
  /** Family letter and number, such as `D4`. Stable: scripts and docs refer to it. */
  readonly id: string;
  readonly family: Family;
  /** What it detects, for the reference page. */
  readonly title: string;
  readonly severity: Severity;
  readonly needs: readonly EvidenceName[];
  find(values: Values, context: Context): readonly FindingDraft[];
}

/** A rule sees only the evidence that it names. */
export function rule<const Names extends readonly EvidenceName[]>(definition: {
  readonly id: string;
  readonly title: string;
  readonly severity?: Severity;
  readonly needs: Names;
  readonly find: (
    values: Pick<Values, Names[number]>,
    context: Context,
  ) => Iterable<FindingDraft> | undefined;
}): Omit<Rule, 'family'> {
  const { find, needs } = definition;
  return {
    severity: 'error',
    ...definition,
    find: (values, context) => {
      const named = Object.fromEntries(needs.map((name) => [name, values[name]])) as Pick<
        Values,
        Names[number]
      >;
      return [...(find(named, context) ?? [])];
    },
  };
}

/** Marks every rule of a file with its family. */
export const family = (name: Family, rules: readonly Omit<Rule, 'family'>[]): readonly Rule[] =>
  rules.map((each) => ({ ...each, family: name }));

/** What is printed while something is waited for: what changed, and the whole list every 15 seconds. Pure. */

export interface ReportState {
  /** What was printed last of each subject. */
  readonly shown: ReadonlyMap<string, string>;
  /** What each subject says now, and since when. */
  readonly current: ReadonlyMap<string, { readonly why: string; readonly since: number }>;
  readonly beganAt: number;
  readonly listedAt: number;
}

export const listEveryMs = 15_000;
/** While things start they say something else every moment; only a fault is worth saying at once. */
export const settleMs = 5_000;

export const beginReport = (now: number): ReportState => ({
  shown: new Map(),
  current: new Map(),
  beganAt: now,
  listedAt: now,
});

export function report(
  state: ReportState,
  lines: readonly WaitingLine[],
  now: number,
): { readonly state: ReportState; readonly print: readonly string[] } {
  const current = new Map(
    lines.map(({ subject, why }) => {
      const before = state.current.get(subject);
      return [subject, { why, since: before?.why === why ? before.since : now }] as const;
    }),
  );
  if (lines.length > 0 && now - state.listedAt >= listEveryMs) {
    const seconds = Math.round((now - state.beganAt) / 1000);
    return {
      state: { ...state, current, shown: whys(lines), listedAt: now },
      print: [`… not ready after ${seconds} s:`, ...lines.map((line) => `  ${showLine(line)}`)],
    };
  }
  const changed = lines.filter(
    ({ subject, why, isFault }) =>
      state.shown.get(subject) !== why && (isFault || now - (current.get(subject)?.since ?? now) >= settleMs),
  );
  // What is no longer waited for is forgotten, so that it is told again should it come back.
  const shown = new Map([...state.shown].filter(([subject]) => current.has(subject)));
  for (const [subject, why] of whys(changed)) shown.set(subject, why);
  return { state: { ...state, current, shown }, print: changed.map(showLine) };
}

const whys = (lines: readonly WaitingLine[]): Map<string, string> =>
  new Map(lines.map(({ subject, why }) => [subject, why]));

/** One thing that is waited for, and why it is not there yet. */
export interface WaitingLine {
  /** Kind and name, as kubectl would be asked for it. */
  readonly subject: string;
  readonly namespace: string;
  readonly why: string;
  /** It does not pass without help, as far as the cluster tells. */
  readonly isFault: boolean;
}

const longest = 600;

/** A message of any origin as the rest of one line. */
export function oneLine(text: string): string {
  const flat = text.replaceAll(/\s+/g, ' ').trim();
  return flat.length <= longest ? flat : `${flat.slice(0, longest - 1)}…`;
}

export const showLine = ({ subject, why }: WaitingLine): string => `${subject}: ${why}`;

/** The command that shows more of what is waited for, with the kubectl of this cluster. */
export const lookFurther =
  (kubectl: string) =>
  ({ subject, namespace }: WaitingLine): string => {
    const [kind = '', name] = subject.split(' ');
    if (kind === 'API' || name === undefined) return `${kubectl} cluster-info`;
    const place = namespace === '' ? '' : ` --namespace ${namespace}`;
    return `${kubectl}${place} describe ${kind.toLowerCase()} ${name}`;
  };

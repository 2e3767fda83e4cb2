/** Waits until something is done, says all the while what is missing, and stops when nothing has advanced for long. */
import {
  AbortedError,
  type Clock,
  type DeepReadonly,
  ForbiddenError,
  KubeError,
  type Pod,
  sleep,
  systemClock,
  UnauthorizedError,
} from '@slurm-operator/kube';
import type { Evidence } from './evidence.ts';
import { beginReport, oneLine, report, showLine, type WaitingLine } from './wait-report.ts';

export interface Observation {
  readonly isDone: boolean;
  readonly lines: readonly WaitingLine[];
  /** What has been achieved so far: one that was not there before is progress. */
  readonly milestones: readonly string[];
}

export interface AwaitProgressOptions {
  readonly observe: () => Promise<Observation>;
  readonly say: (line: string) => void;
  /** The command that shows more, for a line. */
  readonly lookFurther: (line: WaitingLine) => string;
  /** Without progress for this long it stops. @default ten minutes */
  readonly stallMs?: number;
  /** @default 500 */
  readonly everyMs?: number;
  readonly clock?: Clock;
  readonly signal?: AbortSignal;
}

/** Nothing advanced for long: the message lists what is missing, why, and how to look further. */
export class StalledError extends Error {
  override readonly name = 'StalledError';
}

export async function awaitProgress(options: AwaitProgressOptions): Promise<void> {
  const { observe, say, stallMs = 600_000, everyMs = 500, clock = systemClock } = options;
  const signal = options.signal ?? new AbortController().signal;
  const achieved = new Set<string>();
  let advancedAt = clock.monotonic();
  let state = beginReport(advancedAt);
  for (;;) {
    const { isDone, lines, milestones } = await observe().catch(unanswered);
    const now = clock.monotonic();
    if (isDone) return;
    for (const milestone of milestones)
      if (!achieved.has(milestone)) {
        achieved.add(milestone);
        advancedAt = now;
      }
    if (now - advancedAt >= stallMs) throw stalled(lines, stallMs, options.lookFurther);
    const next = report(state, lines, now);
    state = next.state;
    for (const line of next.print) say(line);
    await sleep(everyMs, signal, clock);
  }
}

/** An API server that restarts is waited for like everything else. */
function unanswered(error: unknown): Observation {
  const isFinal = [AbortedError, ForbiddenError, UnauthorizedError].some((each) => error instanceof each);
  if (isFinal || !(error instanceof KubeError)) throw error;
  const line = { subject: 'API server', namespace: '', why: oneLine(error.message), isFault: true };
  return { isDone: false, lines: [line], milestones: [] };
}

function stalled(
  lines: readonly WaitingLine[],
  stallMs: number,
  lookFurther: (line: WaitingLine) => string,
): StalledError {
  const faults = lines.filter(({ isFault }) => isFault);
  const commands = new Set((faults.length > 0 ? faults : lines).slice(0, 3).map(lookFurther));
  return new StalledError(
    `nothing has advanced for ${stallMs < 120_000 ? `${stallMs / 1000} seconds` : `${Math.round(stallMs / 60_000)} minutes`}. Not ready:
${lines.map((line) => `  ${showLine(line)}`).join('\n')}
Look further with
${[...commands].map((command) => `  ${command}`).join('\n')}`,
  );
}

/** What has been achieved, as names that never repeat: a crash loop adds none. Pure. */
export function milestonesOf({ objects, pods, claims }: Evidence): string[] {
  return [
    ...objects.map(({ kind, name, isReady }) => `${kind} ${name} ${isReady ? 'is Ready' : 'exists'}`),
    ...claims
      .filter(({ status }) => status?.phase === 'Bound')
      .map(({ metadata }) => `claim ${metadata.name} is bound`),
    ...pods.flatMap(podMilestones),
  ];
}

function podMilestones({ metadata, spec, status }: DeepReadonly<Pod>): string[] {
  // A Deployment that replaces its pods again and again does not advance by their new names.
  const name = metadata.generateName ?? metadata.name;
  const containers = [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])];
  return [
    ...(spec?.nodeName === undefined ? [] : [`pod ${name} is scheduled`]),
    ...containers.flatMap((each) => [
      ...(each.state?.running === undefined ? [] : [`pod ${name}: ${each.name} has started`]),
      ...(each.ready ? [`pod ${name}: ${each.name} is ready`] : []),
    ]),
  ];
}

/** What a Job wants done next: run pods until enough have succeeded or too many have failed. */
import type { Job, Pod } from '../../objects/objects.ts';
import {
  controllerReference,
  isControlledBy,
  isFinished,
  isReady,
  isTerminating,
} from '../../objects/pods.ts';

export interface Observed {
  readonly job: Job;
  readonly pods: readonly Pod[];
}

export type Action =
  | { readonly do: 'createPod'; readonly pod: object }
  | { readonly do: 'deletePod'; readonly pod: Pod }
  | { readonly do: 'deleteJob' };

export type Status = NonNullable<Job['status']>;

export interface Plan {
  readonly actions: readonly Action[];
  readonly status: Status;
  readonly checkAgainInSeconds?: number;
}

interface Ending {
  readonly type: 'Complete' | 'Failed';
  readonly reason: string;
  readonly message: string;
}

export function planJob({ job, pods }: Observed, now: number): Plan {
  const owned = pods.filter((pod) => isControlledBy(pod, job));
  const succeeded = owned.filter((pod) => pod.status?.phase === 'Succeeded');
  const failed = owned.filter(
    (pod) => pod.status?.phase === 'Failed' || (isTerminating(pod) && !isFinished(pod)),
  );
  const active = owned.filter((pod) => !isFinished(pod) && !isTerminating(pod));
  const at = new Date(now).toISOString().replace(/\.\d+Z$/, 'Z');
  const before = job.status?.conditions ?? [];
  const ended = before.find((entry) => entry.type === 'Complete' || entry.type === 'Failed');
  const suspended = job.spec.suspend === true;
  const start = suspended ? undefined : (job.status?.startTime ?? at);
  const ending =
    ended === undefined && !suspended ? endingOf(job, succeeded, failed, active, start, now) : undefined;

  const actions: Action[] = [];
  if (ended !== undefined) actions.push(...afterlife(job, ended.lastTransitionTime, now));
  else if (ending !== undefined || suspended)
    actions.push(...active.map((pod) => ({ do: 'deletePod' as const, pod })));
  else if (!isTerminating(job)) actions.push(...grow(job, succeeded, active));

  const stopping = ending !== undefined || suspended;
  const ready = stopping ? 0 : active.filter(isReady).length;
  const conditions =
    ending === undefined
      ? before
      : [
          ...before,
          ...(ending.type === 'Complete'
            ? [conditionAt(at, 'SuccessCriteriaMet', ending.reason, ending.message)]
            : [conditionAt(at, 'FailureTarget', ending.reason, ending.message)]),
          conditionAt(at, ending.type, ending.reason, ending.message),
        ];
  const deadline = job.spec.activeDeadlineSeconds;
  const again =
    ended !== undefined
      ? remaining(job.spec.ttlSecondsAfterFinished, ended.lastTransitionTime, now)
      : remaining(deadline, start, now);
  return {
    actions,
    status: {
      ...(conditions.length === 0 ? {} : { conditions: [...conditions] }),
      ...(start === undefined ? {} : { startTime: start }),
      ...(ending?.type === 'Complete'
        ? { completionTime: at }
        : job.status?.completionTime === undefined
          ? {}
          : { completionTime: job.status.completionTime }),
      ...(stopping || active.length === 0 ? {} : { active: active.length }),
      ...(succeeded.length === 0 ? {} : { succeeded: succeeded.length }),
      ...(failed.length === 0 ? {} : { failed: failed.length }),
      terminating: owned.filter((pod) => isTerminating(pod) && !isFinished(pod)).length,
      ready,
      uncountedTerminatedPods: {},
    },
    ...(again === undefined ? {} : { checkAgainInSeconds: again }),
  };
}

function remaining(seconds: number | undefined, from: string | undefined, now: number): number | undefined {
  if (seconds === undefined || from === undefined) return undefined;
  return Math.max(1, Math.ceil((Date.parse(from) + seconds * 1000 - now) / 1000));
}

function conditionAt(at: string, type: string, reason: string, message: string) {
  return { type, status: 'True', lastProbeTime: at, lastTransitionTime: at, reason, message };
}

function endingOf(
  job: Job,
  succeeded: readonly Pod[],
  failed: readonly Pod[],
  active: readonly Pod[],
  start: string | undefined,
  now: number,
): Ending | undefined {
  const deadline = job.spec.activeDeadlineSeconds;
  if (deadline !== undefined && start !== undefined && Date.parse(start) + deadline * 1000 <= now)
    return {
      type: 'Failed',
      reason: 'DeadlineExceeded',
      message: 'Job was active longer than specified deadline',
    };
  if (failed.length > (job.spec.backoffLimit ?? 6))
    return {
      type: 'Failed',
      reason: 'BackoffLimitExceeded',
      message: 'Job has reached the specified backoff limit',
    };
  const wanted = job.spec.completions;
  const done =
    wanted === undefined ? succeeded.length > 0 && active.length === 0 : succeeded.length >= wanted;
  return done
    ? { type: 'Complete', reason: 'CompletionsReached', message: 'Reached expected number of succeeded pods' }
    : undefined;
}

function grow(job: Job, succeeded: readonly Pod[], active: readonly Pod[]): Action[] {
  const parallelism = job.spec.parallelism ?? 1;
  const left = job.spec.completions === undefined ? parallelism : job.spec.completions - succeeded.length;
  const wanted = job.spec.completions === undefined && succeeded.length > 0 ? 0 : Math.min(parallelism, left);
  const actions: Action[] = [];
  const taken = new Set(
    [...succeeded, ...active].map((pod) => pod.metadata.annotations?.[indexAnnotation] ?? ''),
  );
  for (let count = active.length, index = 0; count < wanted; count++) {
    while (taken.has(String(index))) index++;
    taken.add(String(index));
    actions.push({ do: 'createPod', pod: buildPod(job, index) });
  }
  for (const pod of active.slice(Math.max(0, wanted))) actions.push({ do: 'deletePod', pod });
  return actions;
}

const indexAnnotation = 'batch.kubernetes.io/job-completion-index';

function buildPod(job: Job, index: number): object {
  const indexed = job.spec.completionMode === 'Indexed';
  const template = job.spec.template;
  const marks = indexed ? { [indexAnnotation]: String(index) } : {};
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      generateName: indexed ? `${job.metadata.name}-${index}-` : `${job.metadata.name}-`,
      namespace: job.metadata.namespace,
      labels: { ...template.metadata?.labels, ...marks },
      ...(indexed || template.metadata?.annotations !== undefined
        ? { annotations: { ...template.metadata?.annotations, ...marks } }
        : {}),
      ownerReferences: [controllerReference(job, 'batch/v1', 'Job')],
    },
    spec: indexed
      ? {
          ...template.spec,
          hostname: `${job.metadata.name}-${index}`,
          containers: (template.spec?.containers ?? []).map((container) => ({
            ...container,
            env: [...(container.env ?? []), { name: 'JOB_COMPLETION_INDEX', value: String(index) }],
          })),
        }
      : template.spec,
  };
}

/** A finished Job with a time to live goes when it is over. */
function afterlife(job: Job, finishedAt: string | undefined, now: number): Action[] {
  const ttl = job.spec.ttlSecondsAfterFinished;
  if (ttl === undefined || finishedAt === undefined || isTerminating(job)) return [];
  return Date.parse(finishedAt) + ttl * 1000 <= now ? [{ do: 'deleteJob' }] : [];
}

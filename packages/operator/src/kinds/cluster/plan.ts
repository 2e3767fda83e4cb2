/** What to do for a Cluster: which connection to keep, what to ask Slurm, and when to ask again. Pure. */
import { backoffDelay } from '@slurm-operator/kube';
import type { CustomAction } from '../../framework/actions.ts';
import type { Outcome, Plan } from '../../framework/define-reconciler.ts';
import { keyProblem } from '../../slurm-connection/credential.ts';
import type { Failure } from '../../slurm-connection/failure.ts';
import type { Endpoint, ObservedCluster } from './observe.ts';
import type { Connected } from './status.ts';

/** How often Slurm is pinged while it is healthy. */
const pingPeriod = 10_000;
/** With accounting more often: nothing else tells that slurmdbd has lost its database. */
const accountingPeriod = 5_000;
/** Soon after a missing response that may mean nothing. */
const secondLook = 500;
/** A busy Slurm changes with every list: what was reported a moment ago is reported again, without asking or writing. */
const reportPeriod = 5_000;
const defaultBackoff = { initial: 1000, limit: 15 * 60_000 };

interface Retry {
  /** Failures in a row. */
  readonly count: number;
  readonly tryAgainAt: number;
}

export interface ClusterMemory {
  /** Slurm answered the last time. */
  readonly isConnected: boolean;
  readonly retry: Retry | undefined;
  /** slurmdbd did not respond in time the last time. */
  readonly accountingWasSilent: boolean;
  /** What Slurm answered the last time, if all was well. */
  readonly reported: Reported | undefined;
}

export interface Reported {
  readonly at: number;
  readonly answer: Connected;
}

export const emptyMemory: ClusterMemory = {
  isConnected: false,
  retry: undefined,
  accountingWasSilent: false,
  reported: undefined,
};

export type ClusterAction =
  | (CustomAction & { readonly type: 'CloseConnection' })
  /** One that is open with another server, credential or certificate is replaced. */
  | (CustomAction & { readonly type: 'OpenConnection'; readonly endpoint: Endpoint })
  | (CustomAction & {
      readonly type: 'AskSlurm';
      readonly endpoint: Endpoint;
      readonly withAccounting: boolean;
      /**
       * A key that was changed a moment ago is read again, once, if Slurm refuses the token. That opens another connection, which every object of
       * the cluster notices and reports, which in turn starts a reconcile: so only when a try is due.
       */
      readonly readKeyAgain: boolean;
    });

/** What Slurm answered, or why it did not. */
export interface Asked {
  readonly at: number;
  readonly answer: Connected | Failure;
}

export interface ClusterPlan extends Plan<ClusterAction> {
  /** Why Slurm cannot be asked. */
  readonly failure?: Failure;
  /** Slurm is not asked: this was reported a moment ago. */
  readonly reported?: Reported;
  /** When to ask again if Slurm does not answer now: at a time, or after a delay. */
  readonly retry: Retry | { readonly count: number; readonly delay: number };
  /** Milliseconds until Slurm is asked again if it does. */
  readonly pingAfter: number;
}

export interface ClusterLimits {
  readonly backoff?: { readonly initial: number; readonly limit: number } | undefined;
}

export function planCluster(
  observed: ObservedCluster,
  now: number,
  { backoff = defaultBackoff }: ClusterLimits = {},
): ClusterPlan {
  const { openFingerprint, hasAccounting, memory, jitter } = observed;
  const endpoint = usable(observed.endpoint, now);
  const common = {
    retry: nextRetry(memory.retry, now, (failures) =>
      backoffDelay(backoff, failures, { random: () => jitter }),
    ),
    pingAfter: hasAccounting ? accountingPeriod : pingPeriod,
  };
  if ('class' in endpoint)
    // A wrong object does not become right by asking again: its change triggers the next reconcile.
    return {
      ...common,
      actions: openFingerprint === undefined ? [] : [{ type: 'CloseConnection', title: 'to Slurm' }],
      problems: [],
      failure: endpoint,
    };
  const { reported } = memory;
  if (
    reported !== undefined &&
    now >= reported.at &&
    now < reported.at + reportPeriod &&
    observed.isListed &&
    endpoint.fingerprint === openFingerprint &&
    hasAccounting === (reported.answer.accounting !== undefined)
  )
    return { ...common, actions: [], problems: [], reported };
  const open: ClusterAction = {
    type: 'OpenConnection',
    title: `to ${endpoint.target.server}`,
    endpoint,
  };
  const ask: ClusterAction = {
    type: 'AskSlurm',
    title: `at ${endpoint.target.server}${hasAccounting ? ', and its accounting' : ''}`,
    endpoint,
    withAccounting: hasAccounting,
    readKeyAgain: memory.retry === undefined || now >= memory.retry.tryAgainAt,
  };
  return {
    ...common,
    actions: endpoint.fingerprint === openFingerprint ? [ask] : [open, ask],
    problems: [],
  };
}

/** A key that signs no token is a failure of the configuration. */
function usable(endpoint: Endpoint | Failure, now: number): Endpoint | Failure {
  if ('class' in endpoint) return endpoint;
  return keyProblem(endpoint.target, endpoint.credential.reveal().secret, now) ?? endpoint;
}

/**
 * Any change may trigger a try before the time of the next one, but what it finds is the same failure: a busy namespace must not
 * push the next try a quarter of an hour away.
 */
function nextRetry(
  known: Retry | undefined,
  now: number,
  delay: (failures: number) => number,
): ClusterPlan['retry'] {
  if (known !== undefined && now < known.tryAgainAt) return known;
  const failures = known?.count ?? 0;
  return { count: failures + 1, delay: delay(failures) };
}

/** What Slurm answered, or why it did not answer or was not asked. */
export function answerOf({
  plan,
  notes,
  problems: [problem],
}: Pick<Outcome<ObservedCluster, ClusterPlan, Asked>, 'plan' | 'notes' | 'problems'>): Asked['answer'] {
  const { reason = 'SlurmError', message = 'Slurm was not asked.' } = problem ?? {};
  return (
    plan.failure ?? notes.at(-1)?.answer ?? plan.reported?.answer ?? { class: 'transient', reason, message }
  );
}

export function nextMemory({ retry, reported }: ClusterPlan, notes: readonly Asked[]): ClusterMemory {
  const asked = notes.at(-1);
  if (reported !== undefined) return { ...emptyMemory, isConnected: true, reported };
  if (asked === undefined) return emptyMemory;
  const { answer, at } = asked;
  if ('class' in answer) return { ...emptyMemory, retry: retryAt(retry, at) };
  const { accounting, view } = answer;
  const isHealthy = view.kind === 'known' && (accounting === undefined || accounting.kind === 'answers');
  return {
    isConnected: true,
    retry: undefined,
    accountingWasSilent: accounting?.kind === 'silent',
    reported: isHealthy ? { at, answer } : undefined,
  };
}

/** Undefined: only a change of something watched helps. */
export function nextLook(
  { retry, pingAfter, reported }: ClusterPlan,
  notes: readonly Asked[],
  { accountingWasSilent }: ClusterMemory,
): number | undefined {
  const asked = notes.at(-1);
  if (reported !== undefined) return reported.at + reportPeriod;
  if (asked === undefined) return undefined;
  const { answer, at } = asked;
  if ('class' in answer) return answer.class === 'configuration' ? undefined : retryAt(retry, at).tryAgainAt;
  const isFirstSilence = answer.accounting?.kind === 'silent' && !accountingWasSilent;
  return at + (isFirstSilence ? secondLook : pingAfter);
}

const retryAt = (retry: ClusterPlan['retry'], at: number): Retry =>
  'delay' in retry ? { count: retry.count, tryAgainAt: at + retry.delay } : retry;

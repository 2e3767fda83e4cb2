/** What an error means for the object that it happened to: one classifier for all kinds. */
import type { Reason } from '@slurm-operator/api';
import { type Deployment, explain, ForbiddenError, type Live, NotOwnedError } from '@slurm-operator/kube';
import type { Problem } from './conditions.ts';

interface Kind {
  readonly reason: Reason;
  readonly says: RegExp;
  readonly todo: string;
}

/**
 * A 403 has many causes: a missing permission, a quota, a security policy, a namespace that is being deleted. In the words of Kubernetes
 * 1.36; the first that fits counts.
 */
const kinds: readonly Kind[] = [
  {
    reason: 'NamespaceTerminating',
    says: /because it is being terminated/,
    todo: 'The namespace is being deleted, so nothing can be created in it.',
  },
  {
    reason: 'QuotaExceeded',
    says: /exceeded quota|failed quota/,
    todo: 'Increase the named ResourceQuota, or request less.',
  },
  {
    reason: 'PodSecurityViolation',
    says: /violates PodSecurity/,
    todo: 'Label the namespace with pod-security.kubernetes.io/enforce=privileged, or make the pods unprivileged (spec.slurmd.securityContext.privileged: false).',
  },
  {
    reason: 'AccessDenied',
    says: /(User|ServiceAccount) "[^"]*" cannot \w+ resource|attempting to grant RBAC permissions/,
    todo: 'The operator lacks a permission: install the roles of its chart, or add this namespace to its --namespaces.',
  },
];

/** `doing` names the step that failed. */
export function problemOf(error: unknown, doing?: string): Problem {
  const refused = refusedRequest(error);
  const words = refused?.message ?? explain(error);
  return {
    reason: refused?.reason ?? (isOneOf(error, NotOwnedError) ? 'NameConflict' : 'ApplyFailed'),
    message: doing === undefined ? words : `${doing}: ${words}`,
  };
}

/** Undefined for what is no 403. Where Kubernetes gives another cause, its words are all there is. */
export function refusedRequest(failure: unknown): Problem | undefined {
  const refusal = findError(failure, ForbiddenError);
  if (refusal === undefined) return undefined;
  return refusedWords(explain(refusal));
}

/** The same for words that another controller repeats, in a condition of a Deployment or a StatefulSet. */
export function refusedWords(words: string): Problem {
  const kind = kinds.find(({ says }) => says.test(words));
  if (kind === undefined) return { reason: 'ApplyFailed', message: words };
  return { reason: kind.reason, message: `${words.replace(/\.?$/, '.')} ${kind.todo}` };
}

type ErrorClass<E> = new (...args: never[]) => E;

/** The error itself, or the first such among several. */
function findError<E>(failure: unknown, type: ErrorClass<E>): E | undefined {
  if (failure instanceof type) return failure;
  if (!(failure instanceof AggregateError)) return undefined;
  return failure.errors.find((each): each is E => each instanceof type);
}

const isOneOf = (failure: unknown, type: ErrorClass<unknown>): boolean =>
  findError(failure, type) !== undefined;

/** What the status of a Deployment means for the object that owns it. Pure. */
export function deploymentProblems(deployment: Live<Deployment> | undefined, replicas: number): Problem[] {
  if (replicas === 0) return [{ reason: 'ScaledToZero', message: 'spec.replicas is 0: nothing runs.' }];
  const ready = deployment?.status?.readyReplicas ?? 0;
  const { conditions = [] } = deployment?.status ?? {};
  const failed = conditions.find((one) => one.type === 'ReplicaFailure' && one.status === 'True');
  if (failed !== undefined) return [refusedWords(failed.message ?? 'Kubernetes refuses to create the pods.')];
  const stuck = conditions.find((one) => one.type === 'Progressing' && one.status === 'False');
  if (stuck !== undefined)
    return [
      {
        reason: ready > 0 ? 'RolloutStuck' : 'PodsNotReady',
        message: `${stuck.message ?? 'The pods do not become ready.'} ${ready} of ${replicas} are ready.`,
      },
    ];
  if (ready === 0) return [{ reason: 'Starting', message: 'No pod is ready yet.', passing: true }];
  return [];
}

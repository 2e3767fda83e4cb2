/** What a 403 of the API server means: it says so to a missing permission, a quota, a security policy and a namespace that is going. */
import type { Reason } from '@slurm-operator/api';
import { explain, ForbiddenError } from '@slurm-operator/kube';
import type { Trouble } from './judge.ts';

interface Kind {
  readonly reason: Reason;
  readonly says: RegExp;
  readonly todo: string;
}

/** In the words of Kubernetes 1.36; the first that fits counts. */
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

/** Undefined for what is no 403. Where Kubernetes gives another cause, its words are all there is. */
export function refusedRequest(failure: unknown): Trouble | undefined {
  const refusal = forbiddenIn(failure);
  if (refusal === undefined) return undefined;
  return refusedWords(explain(refusal));
}

/** The same for words that another controller repeats, in a condition of a Deployment or a StatefulSet. */
export function refusedWords(words: string): Trouble {
  const kind = kinds.find(({ says }) => says.test(words));
  if (kind === undefined) return { reason: 'ApplyFailed', message: words };
  return { reason: kind.reason, message: `${words.replace(/\.?$/, '.')} ${kind.todo}` };
}

function forbiddenIn(failure: unknown): ForbiddenError | undefined {
  if (failure instanceof ForbiddenError) return failure;
  if (!(failure instanceof AggregateError)) return undefined;
  return failure.errors.find((each) => each instanceof ForbiddenError);
}

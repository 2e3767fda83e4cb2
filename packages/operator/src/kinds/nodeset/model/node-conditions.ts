/** Which conditions of a Kubernetes Node concern its Slurm nodes: what `--propagated-node-conditions` names. Pure. */
import { durationMilliseconds } from '@slurm-operator/kubernetes-values';

export interface NodeConditionRule {
  readonly type: string;
  /** The status that means a problem of the node. */
  readonly status: 'True' | 'False';
  /** After so long its Slurm nodes are drained; undefined: its message only becomes the reason of a cordon. */
  readonly drainAfterMs: number | undefined;
}

/** As Kubernetes names conditions: a qualified name. */
const qualifiedName = /^([a-z0-9.-]{1,253}\/)?[A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?$/;

const longest = 24 * 3_600_000;

/** `Type`, `Type:30s`, `Type=False:30s`; undefined for anything else. */
export function parseNodeConditionRule(text: string): NodeConditionRule | undefined {
  const [, type = '', status = 'True', after] = /^([^=:]+)(?:=(True|False))?(?::(.+))?$/.exec(text) ?? [];
  if (!qualifiedName.test(type)) return undefined;
  const drainAfterMs = after === undefined ? undefined : durationMilliseconds(after);
  if (after !== undefined && (drainAfterMs === undefined || drainAfterMs > longest)) return undefined;
  return { type, status: status as NodeConditionRule['status'], drainAfterMs };
}

/** A condition that drains the Slurm nodes of its Node. */
export interface DrainingCondition {
  readonly type: string;
  /** From when on, in milliseconds; undefined: its status is Unknown, which begins no drain and ends none. */
  readonly from: number | undefined;
  /** Its reason and message, on one line. */
  readonly text: string;
}

interface Condition {
  readonly type: string;
  readonly status: string;
  readonly reason?: string | undefined;
  readonly message?: string | undefined;
  readonly lastTransitionTime?: string | undefined;
}

export const conditionText = ({ type, reason, message }: Condition): string =>
  `(${reason ?? type}: ${message ?? ''})`;

export function drainingConditions(
  conditions: readonly Condition[],
  rules: readonly NodeConditionRule[],
): DrainingCondition[] {
  return rules.flatMap(({ type, status, drainAfterMs }) => {
    const condition = conditions.find((one) => one.type === type);
    if (drainAfterMs === undefined || condition === undefined) return [];
    const text = conditionText(condition);
    if (condition.status === 'Unknown') return { type, from: undefined, text };
    if (condition.status !== status) return [];
    const since = Date.parse(condition.lastTransitionTime ?? '');
    return { type, from: Number.isNaN(since) ? 0 : since + drainAfterMs, text };
  });
}

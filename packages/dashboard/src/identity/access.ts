/** What a user may do here, as Kubernetes RBAC says. `kubectl auth can-i create clusters.slinky.slurm.net/slurm --subresource=jobs` answers the same. */
import { hash } from 'node:crypto';
import { group } from '@slurm-operator/api';
import type { ReviewedUser } from '@slurm-operator/kube';
import type { Clock } from '@slurm-operator/slurm';
import { type Right, rights } from '../live/rights.ts';

export interface ClusterRef {
  readonly namespace: string;
  readonly name: string;
}

export interface Attributes {
  readonly group: string;
  readonly resource: string;
  readonly subresource?: string;
  readonly namespace: string;
  readonly name?: string;
  readonly verb: string;
}

export interface AccessOptions {
  readonly review: (user: ReviewedUser, attributes: Attributes, signal: AbortSignal) => Promise<boolean>;
  readonly clock: Clock;
}

/** A right that was removed ends within a minute, one that was given begins within ten seconds. */
const keepMs = { yes: 60_000, no: 10_000 };
const mostKept = 20_000;

export class Access {
  readonly #options: AccessOptions;
  readonly #kept = new Map<string, { readonly allowed: boolean; readonly until: number }>();

  constructor(options: AccessOptions) {
    this.#options = options;
  }

  /** Throws if Kubernetes cannot be asked: not known is not allowed, and not refused either. */
  async may(user: ReviewedUser, right: Right, cluster: ClusterRef, signal: AbortSignal): Promise<boolean> {
    const { clock, review } = this.#options;
    const attributes: Attributes = {
      group,
      namespace: cluster.namespace,
      ...rights[right],
      ...(right === 'changeRollouts' ? {} : { name: cluster.name }),
    };
    const key = hash('sha256', JSON.stringify([user, attributes]));
    const known = this.#kept.get(key);
    if (known !== undefined && clock.now() < known.until && known.until <= clock.now() + keepMs.yes)
      return known.allowed;
    const allowed = await review(user, attributes, signal);
    this.#kept.delete(key);
    this.#kept.set(key, { allowed, until: clock.now() + (allowed ? keepMs.yes : keepMs.no) });
    for (const oldest of this.#kept.keys()) {
      if (this.#kept.size <= mostKept) break;
      this.#kept.delete(oldest);
    }
    return allowed;
  }
}

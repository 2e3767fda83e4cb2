/** Enlarges claims, and remembers which ones Kubernetes refused to enlarge, so that it is not asked at every reconcile. */
import {
  explain,
  ForbiddenError,
  InvalidError,
  type Manager,
  NotFoundError,
  persistentVolumeClaims,
} from '@slurm-operator/kube';
import type { Trouble } from '../../framework/status/judge.ts';
import { type Resize, resizeRefused } from './state-volume.ts';

/** A StorageClass may be corrected at any time, and nothing says so. */
const retryAfter = 300_000;

interface Refusal {
  readonly size: string;
  readonly at: number;
  readonly trouble: Trouble;
}

export class ClaimResizer {
  readonly #client: Manager['client'];
  readonly #refusals = new Map<string, Refusal>();

  constructor(client: Manager['client']) {
    this.#client = client;
  }

  /** What was refused, now or a while ago, and when to ask again. */
  async resize(
    namespace: string,
    claims: readonly Resize[],
    now: number,
    signal: AbortSignal,
  ): Promise<{ readonly troubles: readonly Trouble[]; readonly again: readonly number[] }> {
    const refused: Refusal[] = [];
    for (const claim of claims) {
      const key = claim.uid;
      const last = this.#refusals.get(key);
      if (last?.size === claim.size && now < last.at + retryAfter) {
        refused.push(last);
        continue;
      }
      this.#refusals.delete(key);
      const why = await this.#patch(namespace, claim, signal);
      if (why === undefined) continue;
      const refusal = { size: claim.size, at: now, trouble: resizeRefused(claim, why) };
      this.#refusals.set(key, refusal);
      refused.push(refusal);
    }
    for (const [uid, { at }] of this.#refusals) if (now >= at + 2 * retryAfter) this.#refusals.delete(uid);
    return {
      troubles: refused.map(({ trouble }) => trouble),
      again: refused.map(({ at }) => at + retryAfter - now),
    };
  }

  async #patch(namespace: string, { name, uid, size }: Resize, signal: AbortSignal) {
    const body = { metadata: { uid }, spec: { resources: { requests: { storage: size } } } };
    try {
      await this.#client.mergePatch(persistentVolumeClaims, { namespace, name }, body, { signal });
    } catch (error) {
      if (error instanceof NotFoundError) return undefined;
      // A refusal is an answer; everything else is tried again by the queue.
      if (error instanceof ForbiddenError || error instanceof InvalidError) return explain(error);
      throw error;
    }
    return undefined;
  }
}

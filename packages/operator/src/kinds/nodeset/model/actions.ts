/** What a plan may ask for. Each action is idempotent and names exactly what it touches. */
import type { CordonCause, Slot } from './observed.ts';

/** Why it is safe to delete a worker pod; checked again against a fresh list just before the delete where it says so. */
export type SafeBecause =
  | 'drained' // a list that began after our last change shows DRAIN and no work
  | 'drained-by-other' // the same, but the drain is not ours, and may be removed at any moment
  | 'unknown-to-slurm' // Slurm answered, without error, that it has no such node, and the worker had its time to join
  | 'never-started' // it has no machine, or its machine cannot start it: no container of it ever ran
  | 'powered-down' // a list that began after our last change shows it powered down and without work (autoscale)
  | 'not-accepted' // Slurm still powers its node up, long after its slurmd was ready: nothing runs there (autoscale)
  | 'stale-worker' // it does not run, and another worker is behind the Slurm node of its name
  | 'user-asked' // deletionPolicy: Delete
  | 'no-controller'; // the Slurm cluster itself was deleted

export type WhyGone =
  | 'scale-in'
  | 'sleep' // autoscale: Slurm powered its node down
  | 'slow-wake' // autoscale: its slurmd started before Slurm powered its node up, so Slurm ignores it
  | 'no-machine' // autoscale: no machine, or no image, came for it in time
  | 'update'
  | 'deletion'
  | 'wrong-mode'
  | 'duplicate'
  | 'failed'
  | 'unregistered'
  | 'hostname';

export type WorkerAction =
  | { readonly kind: 'add-finalizer' }
  | { readonly kind: 'remove-finalizer' }
  | {
      readonly kind: 'create-worker';
      readonly slot: Slot;
      /** An older one than the newest. */
      readonly revision?: string;
      /** The Kubernetes node that its ordinal returns to. */
      readonly pinnedTo?: string;
      /** A job may wait for it, see `Worker`. */
      readonly forWakeUp?: boolean;
    }
  /** A pod with our labels and name and without a controller is adopted; one whose labels were removed is released. */
  | { readonly kind: 'adopt-worker' | 'release-worker'; readonly name: string; readonly uid: string }
  | {
      readonly kind: 'patch-worker';
      readonly name: string;
      readonly uid: string;
      readonly cordon?: { readonly cordoned: boolean; readonly cause: CordonCause | undefined };
      /** With a cordon: the pod as it was seen. A person may have cordoned it since, and a cordon of theirs is never overwritten. */
      readonly resourceVersion?: string;
      /** Milliseconds, Infinity, or null to remove. */
      readonly deadline?: number | null;
      readonly protect?: boolean;
      readonly topology?: string | null;
    }
  | {
      /** The pod's conditions that mirror its Slurm node: those to set (type → message), and those that are over. */
      readonly kind: 'mirror-state';
      readonly name: string;
      readonly uid: string;
      readonly conditions: ReadonlyMap<string, string>;
      readonly over: readonly string[];
    }
  | {
      readonly kind: 'delete-worker';
      readonly name: string;
      readonly uid: string;
      readonly slurmName: string;
      readonly because: SafeBecause;
      readonly why: WhyGone;
      /** Autoscale: why its wake-up is abandoned, in the words of the scheduler or the kubelet. */
      readonly gaveUp?: string;
      /** The delete means the pod as it was seen: one that has changed since (it was bound, it was started) stays for the next plan. */
      readonly resourceVersion?: string;
    }
  | { readonly kind: 'drain'; readonly slurmName: string; readonly reason: string }
  | { readonly kind: 'undrain'; readonly slurmName: string }
  /** Drains a node that a person set DOWN, in their words: ReturnToService=2 ends a DOWN at the next registration, a drain stays. */
  | { readonly kind: 'keep-down'; readonly slurmName: string; readonly reason: string }
  | {
      /** For a slurmd that ended at this moment; one that was started since is left alone. */
      readonly kind: 'set-down';
      readonly slurmName: string;
      readonly reason: string;
      readonly endedAt: number;
    }
  /** Autoscale. Creates powered-down nodes of this shape, and writes on them whose they are. */
  | {
      readonly kind: 'create-records';
      readonly slurmNames: readonly string[];
      readonly shape: string;
      readonly comment: string;
    }
  /** Autoscale. The second half of a creation that was interrupted, or features that are others now. */
  | {
      readonly kind: 'mark-records';
      readonly slurmNames: readonly string[];
      readonly comment?: string;
      readonly features?: readonly string[];
    }
  /** Autoscale. `mark-asleep`: the pod is gone, so Slurm may power the node up again. */
  | {
      readonly kind: 'power-up' | 'power-down' | 'mark-asleep';
      readonly slurmNames: readonly string[];
    }
  /**
   * Autoscale. The pods of these are gone and never ran: they are set down, which requeues the jobs that wait for them, and powered
   * down. The jobs are told why.
   */
  | {
      readonly kind: 'fail-wake';
      readonly slurmNames: readonly string[];
      readonly reason: string;
      readonly resumeAfterSeconds: number;
      readonly jobs: readonly { readonly id: string; readonly adminComment: string }[];
    }
  /** Autoscale. These jobs could be requeued only while their wake-up was abandoned, and still can: see `fail-wake`. */
  | { readonly kind: 'forbid-requeue'; readonly jobs: readonly string[] }
  /** Autoscale. Sleeping nodes that are not offered to jobs: drained, and resumed by Slurm itself where a time is given. */
  | {
      readonly kind: 'hold-asleep';
      readonly slurmNames: readonly string[];
      readonly reason: string;
      readonly resumeAfterSeconds?: number;
    }
  | { readonly kind: 'delete-record'; readonly slurmName: string }
  | {
      readonly kind: 'update-node';
      readonly slurmName: string;
      readonly comment?: string;
      readonly features?: readonly string[];
      readonly topology?: string;
    }
  | { readonly kind: 'mark-claim'; readonly name: string; readonly uid: string; readonly scaledIn: boolean }
  | { readonly kind: 'own-claim'; readonly name: string; readonly uid: string; readonly owned: boolean }
  | { readonly kind: 'delete-claim'; readonly name: string; readonly uid: string };

/** Whether a pod may be deleted without harm to a job. */
export type Safety =
  | { readonly safe: true; readonly because: SafeBecause }
  | {
      readonly safe: false;
      readonly why: string;
      readonly blind: boolean;
      /** When time alone may make it safe. */
      readonly until?: number;
    };

/** What a plan may ask for. Each action is idempotent and names exactly what it touches. */
import type { CordonCause, Slot } from './observed.ts';

/** Why it is safe to delete a worker pod; checked again against a fresh list just before the delete where it says so. */
export type SafeBecause =
  | 'drained' // a list that began after our last change shows DRAIN and no work
  | 'drained-by-other' // the same, but the drain is somebody else's, who may take it back at any moment
  | 'unknown-to-slurm' // Slurm answered, without error, that it has no such node, and the worker had its time to join
  | 'never-started' // it has no machine, or its machine cannot start it: no container of it ever ran
  | 'stale-worker' // it does not run, and another worker is behind the Slurm node of its name
  | 'user-asked' // deletionPolicy: Delete
  | 'no-controller'; // the Slurm cluster itself was deleted

export type WhyGone =
  | 'scale-in'
  | 'update'
  | 'deletion'
  | 'wrong-mode'
  | 'duplicate'
  | 'failed'
  | 'unregistered'
  | 'hostname';

export type Action =
  | { readonly kind: 'add-finalizer' }
  | { readonly kind: 'remove-finalizer' }
  /** `revision`: an older one than the newest. */
  | { readonly kind: 'create-worker'; readonly slot: Slot; readonly revision?: string }
  /** A pod of ours by labels and name that nobody controls becomes a worker; one whose labels were taken away is let go. */
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
      /** The delete means the pod as it was seen: one that has changed since (it was bound, it was started) stays for the next plan. */
      readonly resourceVersion?: string;
    }
  | { readonly kind: 'drain'; readonly slurmName: string; readonly reason: string }
  | { readonly kind: 'undrain'; readonly slurmName: string }
  | {
      /** For a slurmd that ended at this moment; one that was started since is left alone. */
      readonly kind: 'set-down';
      readonly slurmName: string;
      readonly reason: string;
      readonly endedAt: number;
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

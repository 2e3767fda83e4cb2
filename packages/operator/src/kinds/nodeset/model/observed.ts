/**
 * Everything a decision about a NodeSet may depend on, gathered by `observe` and handed to `plan`.
 * Plain data: no clients, no clocks. Times are milliseconds since the epoch.
 */

import type { NodeBaseState } from '@slurm-operator/slurm';
import type { WorkerSize } from '../../../slurm-config/render/slurmd-conf.ts';
import type { PendingNeeds } from '../../../slurm-connection/slurm-gateway.ts';
import type { Slot } from '../objects/worker-pod.ts';
import type { Autoscale, WakingJob } from './autoscale.ts';
import type { DrainingCondition } from './node-conditions.ts';

export { type Slot, slotKey } from '../objects/worker-pod.ts';

export type ScalingMode = 'StatefulSet' | 'DaemonSet';
export type Retention = 'Retain' | 'Delete';

/** Why the operator itself cordoned a pod. Kept on the pod, so that a cordon by a person is never mistaken for ours. */
export type CordonCause = 'scale-in' | 'update' | 'deletion' | 'replacement' | 'node-cordon';

export interface PodProblem {
  readonly kind: 'unschedulable' | 'image' | 'crash';
  /** In the words of the scheduler or the kubelet. */
  readonly message: string;
}

export interface Worker {
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly slot: Slot;
  /** The name of its Slurm node. */
  readonly slurmName: string;
  /** The pod's IP; undefined before it has one. */
  readonly address: string | undefined;
  readonly revision: string;
  /** Digests of the keys and files it was started with, by the annotation that tells them. */
  readonly hashes: Readonly<Record<string, string>>;
  readonly phase: 'Pending' | 'Running' | 'Succeeded' | 'Failed' | 'Unknown';
  readonly nodeName: string | undefined;
  /** When the scheduler gave it its machine. */
  readonly placedAt: number | undefined;
  /** The Kubernetes Node is Ready, and has been for long enough that its kubelet has reported on all its pods. */
  readonly nodeReachable: boolean;
  readonly ready: boolean;
  readonly readySince: number | undefined;
  /** When its slurmd container was last started. */
  readonly startedAt: number | undefined;
  /** At least one container has started at some time (so Slurm may know it, and may have given it work). */
  readonly everStarted: boolean;
  /**
   * The kubelet says that slurmd, which never ran, waits for an image or a file that does not come. Without this a start that it has
   * not reported yet is possible on every machine.
   */
  readonly cannotStart: boolean;
  /** When it was created, Slurm had a node of its name, or may have had one: a job may wait until it has registered. */
  readonly forWakeUp: boolean;
  /** Every container is known to have ended: the kubelet said so. */
  readonly containersDead: boolean;
  /** When the last of them ended, by the clock of its machine; undefined while one lives, and where the kubelet does not say. */
  readonly endedAt: number | undefined;
  /** Why it does not come up, where Kubernetes says so. */
  readonly problem: PodProblem | undefined;
  readonly terminating: boolean;
  /** When its grace period is over; undefined if it is not being deleted. */
  readonly endsBy: number | undefined;
  readonly createdAt: number;
  /** The pod-cordon annotation says exactly "true". */
  readonly cordoned: boolean;
  readonly cordonCause: CordonCause | undefined;
  readonly deletionCost: number;
  /** The latest end of running work on it; Infinity for work without a limit. Slurm's word where there is one, else the pod's. */
  readonly deadline: number | undefined;
  /** The same as last written on the pod. */
  readonly writtenDeadline: number | undefined;
  readonly protectedFromEviction: boolean;
  readonly topology: string | undefined;
  /** The pod's conditions that mirror its Slurm node: type → message. */
  readonly slurmConditions: ReadonlyMap<string, string>;
  /** The names of the claims that the pod mounts for this NodeSet's claim templates. */
  readonly claims: readonly string[];
}

/** A pod that has the name of a worker and is none. */
export interface SlotPod {
  readonly name: string;
  readonly uid: string;
  readonly slot: Slot;
  readonly slurmName: string;
}

export interface Claim {
  readonly name: string;
  readonly uid: string;
  readonly slot: Slot;
  readonly ownedByNodeSet: boolean;
  /** Marked by us when its slot was scaled in under `whenScaled: Delete`. */
  readonly scaledIn: boolean;
  readonly terminating: boolean;
}

export interface KubeNode {
  readonly name: string;
  readonly uid: string;
  readonly unschedulable: boolean;
  /** Already sanitised, see `cordonReason`. */
  readonly cordonReason: string | undefined;
  /** Conditions that drain the Slurm nodes here, or would if their status were known. */
  readonly drainingConditions: readonly DrainingCondition[];
  readonly topology: string | undefined;
  readonly features: readonly string[];
  /** DaemonSet mode: a worker belongs here. */
  readonly eligible: boolean;
  /** DaemonSet mode: a worker that is here already may stay, although none would come any more. */
  readonly mayStay: boolean;
  /** DaemonSet mode: the hostname (and Slurm name) of its worker. */
  readonly workerHostname: string;
}

export interface SlurmNode {
  readonly name: string;
  readonly base: NodeBaseState;
  /** DRAIN, COMPLETING, NOT_RESPONDING, MAINTENANCE, … */
  readonly flags: ReadonlySet<string>;
  readonly reason: string;
  readonly comment: string;
  readonly features: readonly string[];
  readonly topology: string;
  /** What Slurm believes it has. */
  readonly size: WorkerSize;
  /** Where its slurmd registered from last. */
  readonly address: string;
  /** The uid of the pod of a slurmd that registered; not always of the last one, see `isRegisteredBy`. */
  readonly instanceId: string | undefined;
  readonly slurmdStartedAt: number | undefined;
  /** The latest end of running work on it; Infinity when some of it has no limit; unknown while no job explains the work. */
  readonly deadline: number | 'unknown' | undefined;
  /** Whether this record was made by a worker of this NodeSet. */
  readonly ours: boolean;
  readonly reservation: string | undefined;
  /** When it last had work, and when its reason was written; by Slurm's clock. */
  readonly lastBusyAt?: number | undefined;
  readonly reasonSetAt?: number | undefined;
  /** The partition of its NodeSet does not contain it. */
  readonly outsidePartition?: boolean;
  /** No partition contains it. */
  readonly inNoPartition?: boolean;
}

/** What Slurm refused to note of a worker: not requested again before its time, unless the desired value changes. */
export interface Refusal {
  /** The topology that was asked for, if one was: the part that is to blame. */
  readonly topology: string | undefined;
  /** In Slurm's words. */
  readonly message: string;
  readonly until: number;
}

/** What Slurm says: a whole node list and the moment its request began, or nothing that may be relied on. */
export type SlurmView =
  | {
      readonly kind: 'known';
      readonly at: number;
      readonly nodes: ReadonlyMap<string, SlurmNode>;
      /** Jobs whose nodes are being started (autoscale). */
      readonly jobs?: readonly WakingJob[] | undefined;
      /** Why a node that is listed as idle may still hold a suspended job; undefined once all of these are known. */
      readonly jobsUnknown: string | undefined;
      /** The jobs were listed after the nodes: no job was suspended between the two lists. */
      readonly jobsAfterNodes?: boolean;
      /** When slurmctld started; a young one may not have heard from all its nodes. */
      readonly controllerStartedAt: number | undefined;
    }
  | { readonly kind: 'unknown'; readonly since: number; readonly why: string };

export interface ConfigLines {
  /**
   * - `external`: another slurm.conf than ours counts, or none
   * - `absent`: the slurm.conf in force does not name it
   * - `present`: it does
   * - `stuck`: it does, and nothing removes it before the Controller is corrected
   */
  readonly state: 'external' | 'absent' | 'present' | 'stuck';
  /** What the Controller holds back of them, so that no job is lost: a sentence each. */
  readonly held: readonly string[];
  /** The reason of its condition ConfigApplied, while that is False. */
  readonly why?: string;
  /** A new slurm.conf is refused, or cannot be tried: nothing changes before a person corrects the Controller. */
  readonly refused?: 'ConfigRejected' | 'ConfigUntried';
}

export interface UpdatePolicy {
  readonly type: 'RollingUpdate' | 'OnDelete' | 'ScheduledUpdate';
  /** Resolved from the number or percentage against the desired count, rounded up, at least 1. */
  readonly maxUnavailable: number;
  /** StatefulSet mode: ordinals below it keep the old revision. */
  readonly partition: number;
  readonly paused: boolean;
  /** The reservation whose MAINTENANCE window allows a scheduled update. */
  readonly reservation: string | undefined;
}

export interface Observed {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly scalingMode: ScalingMode;
  /** How StatefulSet-mode workers are called in Slurm: this text and the ordinal, padded with zeros to this width. */
  readonly naming: { readonly prefix: string; readonly padding: number };
  /** StatefulSet mode only. */
  readonly replicas: number;
  /** Replaces `replicas`: Slurm decides which ordinals have a worker. */
  readonly autoscale?: Autoscale | undefined;
  readonly minReadySeconds: number;
  readonly deleting: boolean;
  readonly deletionPolicy: 'Drain' | 'CancelPending' | 'Delete';
  /** What slurm.conf says of this NodeSet. */
  readonly configLines: ConfigLines;
  /** The partition that slurm.conf gets for this NodeSet. */
  readonly partition?: string | undefined;
  /** The Controller object exists. When it does not, there is no Slurm left to ask. */
  readonly controllerExists: boolean;
  /** Its name, as the NodeSet refers to it. */
  readonly controllerName: string;
  readonly hasFinalizer: boolean;
  readonly updateRevision: string;
  /** The revision before the rollout under way, as last noted; empty before anything was. See `keptRevision`. */
  readonly currentRevision: string;
  /** Digests of the keys and files that a worker started now would get, by annotation; those that are missing are left out. */
  readonly hashes: Readonly<Record<string, string>>;
  readonly update: UpdatePolicy;
  /** A reason why no worker may be updated now (a version order that Slurm forbids, say). */
  readonly updateHeld: string | undefined;
  readonly protectBusyPods: boolean;
  readonly retention: { readonly whenScaled: Retention; readonly whenDeleted: Retention };
  readonly claimTemplates: readonly string[];
  /** The resources that slurmd is configured with; undefined where it detects them. */
  readonly size: WorkerSize;
  /** The features that slurmd registers with; undefined: records are not compared. */
  readonly features?: readonly string[] | undefined;
  /** How many nodes slurm.conf has room for, and how many of them nothing has yet; undefined where it has no limit. */
  readonly room?: { readonly limit: number; readonly free: number } | undefined;
  readonly workers: readonly Worker[];
  /** Pods that wait to be adopted, those that are to be let go, and those that were. None is a worker now, but all hold their names. */
  readonly orphans: readonly SlotPod[];
  readonly released: readonly SlotPod[];
  readonly foreignPods: readonly SlotPod[];
  /** Names in Slurm that belong to another NodeSet of this Slurm → that NodeSet. */
  readonly takenNames: ReadonlyMap<string, string>;
  /** DaemonSet mode: names of workers that are left to an older NodeSet, which selects their machines as well. */
  readonly yieldedNames: ReadonlySet<string>;
  readonly claims: readonly Claim[];
  readonly nodes: ReadonlyMap<string, KubeNode>;
  readonly slurm: SlurmView;
  /** What pending jobs ask for by name; asked for only while a record could be deleted. Undefined: not asked. */
  readonly pendingNeeds?: PendingNeeds | undefined;
  /** Slurm node name → when we last changed it. A list that began before that moment says nothing about the change. */
  readonly lastWrites: ReadonlyMap<string, number>;
  /** Its workers whose slurmd ended after the last change of configuration, in words. */
  readonly workersEnded?: { readonly reason: 'WorkersEnded'; readonly message: string } | undefined;
  /** Slot key → do not create there before this moment, because its last pods failed. */
  readonly backoff: ReadonlyMap<string, number>;
  /** Since when workers that should be registered are unknown to Slurm; undefined while none is, or nothing is remembered. */
  readonly lostSince: number | undefined;
  /** Slurm node name → what Slurm refused last. */
  readonly refusals: ReadonlyMap<string, Refusal>;
  /** Autoscale: Slurm node name → why its wake-up is abandoned; its pod is deleted, or was. */
  readonly gaveUp?: ReadonlyMap<string, string> | undefined;
  /** Autoscale: jobs that may not be requeued, and still can be: Slurm did not answer when that was to end. */
  readonly requeueable?: ReadonlySet<string> | undefined;
  readonly pruneRecords: 'Never' | 'NodeNotFound';
}

/** The Slurm name that a worker in this slot has or would have. */
export function slurmNameOf(slot: Slot, observed: Pick<Observed, 'naming' | 'nodes'>): string | undefined {
  if (slot.mode === 'DaemonSet') return observed.nodes.get(slot.nodeName)?.workerHostname;
  return `${observed.naming.prefix}${String(slot.ordinal).padStart(observed.naming.padding, '0')}`;
}

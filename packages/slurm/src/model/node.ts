/** A node, the same for every API version. */
import type { NodeState } from '../meaning/node-state.ts';

/** A node of Slurm. Times are milliseconds since the epoch. */
export interface SlurmNode {
  readonly name: string;
  readonly hostname: string;
  readonly address: string;
  readonly port: number | undefined;
  readonly state: NodeState;
  readonly reason: string;
  readonly reasonSetBy: string;
  readonly reasonSetAt: number | undefined;
  readonly comment: string;
  /** Free text that sites and tools attach to a node. */
  readonly extra: string;
  readonly features: readonly string[];
  readonly activeFeatures: readonly string[];
  readonly partitions: readonly string[];
  readonly reservation: string;
  readonly topology: string;
  readonly gres: string;
  readonly gresUsed: string;
  readonly cpus: number;
  readonly allocatedCpus: number;
  /** Megabytes, like the next two. */
  readonly memory: number;
  readonly allocatedMemory: number;
  readonly freeMemory: number | undefined;
  /** Load average times 100. */
  readonly cpuLoad: number | undefined;
  readonly instanceId: string;
  readonly instanceType: string;
  readonly architecture: string;
  readonly operatingSystem: string;
  /** Version of its slurmd; empty before it registered. */
  readonly version: string;
  readonly bootedAt: number | undefined;
  readonly slurmdStartedAt: number | undefined;
  readonly lastBusyAt: number | undefined;
  readonly resumeAfter: number | undefined;
}

/** States that Slurm accepts as a command. RESUME is an error on a healthy node: use UNDRAIN. */
export type NodeStateCommand =
  | 'DRAIN'
  | 'UNDRAIN'
  | 'DOWN'
  | 'RESUME'
  | 'IDLE'
  | 'FAIL'
  | 'POWER_UP'
  | 'POWER_DOWN'
  | 'POWER_DOWN_ASAP'
  | 'POWER_DOWN_FORCE';

export interface NodeUpdate {
  readonly state?: NodeStateCommand;
  /** One line; see `cleanReason`. */
  readonly reason?: string;
  readonly comment?: string;
  readonly extra?: string;
  readonly features?: readonly string[];
  readonly activeFeatures?: readonly string[];
  /** `topology:block` as in slurmd's `--conf topology=…`; from v0.0.43. */
  readonly topology?: string;
  readonly gres?: string;
  readonly weight?: number;
  /** Seconds after which Slurm resumes the node automatically. */
  readonly resumeAfterSeconds?: number;
}

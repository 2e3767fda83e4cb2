import type { SlurmNode } from '@slurm-operator/slurm';
import type { SlurmGateway } from '../src/slurm-connection/slurm-gateway.ts';

export interface StartedWorker {
  /** Of the Slurm node. */
  readonly name: string;
  /** What ties its registration to one pod. */
  readonly instanceId: string;
  /** What its slurmd was told with `--conf`. */
  readonly conf: string;
}

/** A Slurm on the stage of the NodeSet controller: its workers start and end with their pods, and it is looked at when the test says so. */
export interface StagedSlurm extends SlurmGateway {
  /** A pod's slurmd comes up; resolves when it has registered, with the moment at which its container started. */
  workerStarts(worker: StartedWorker): Promise<number>;
  workerEnds(name: string): Promise<void>;
  /** Looks once, for the operator; whether that brought news. */
  pollByHand(): Promise<boolean>;
  /** As an operator that has just been started sees it: not at all. */
  forgetView(): void;
  /** All nodes as they are now, whatever the operator has seen. */
  truth(): Promise<readonly SlurmNode[]>;
  close(): void;
}

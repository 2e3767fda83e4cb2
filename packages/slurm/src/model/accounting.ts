/** What slurmdbd keeps. Fields beyond these are reachable through raw access. */
import type { Limit } from '../wire/values.ts';

export interface SlurmAccount {
  readonly name: string;
  readonly description: string;
  readonly organization: string;
  readonly coordinators: readonly string[];
  readonly flags: readonly string[];
}

/** Slurm answers an empty default account for users whose default was just set: it is written, but not read back. */
export interface SlurmUser {
  readonly name: string;
  readonly defaultAccount: string;
  readonly administratorLevel: readonly string[];
  readonly flags: readonly string[];
}

export interface SlurmAssociation {
  readonly account: string;
  readonly cluster: string;
  readonly user: string;
  readonly partition: string;
  readonly parentAccount: string;
  readonly isDefault: boolean;
  readonly qos: readonly string[];
  readonly sharesRaw: number | undefined;
}

export interface SlurmClusterRecord {
  readonly name: string;
  readonly controllerHost: string;
  readonly controllerPort: number | undefined;
  /** Hostlist. */
  readonly nodes: string;
}

export interface AccountingJob {
  readonly id: number;
  readonly name: string;
  readonly user: string;
  readonly account: string;
  readonly cluster: string;
  readonly partition: string;
  readonly state: readonly string[];
  readonly stateReason: string;
  /** Hostlist; empty when it never had any. */
  readonly nodes: string;
  readonly submittedAt: number | undefined;
  readonly startedAt: number | undefined;
  readonly endedAt: number | undefined;
  readonly elapsedSeconds: number | undefined;
  /** Minutes. */
  readonly timeLimit: Limit;
  readonly exitCode: number | undefined;
  /** The batch script itself is one of them; a step is listed from its start on. */
  readonly steps: readonly AccountingStep[];
  /** Empty without `AccountingStoreFlags=job_script`. */
  readonly script: string;
}

export interface AccountingStep {
  /** Such as `43.batch` or `43.0`. */
  readonly id: string;
  readonly name: string;
  readonly state: readonly string[];
  readonly nodes: string;
  readonly tasks: number | undefined;
  readonly startedAt: number | undefined;
  readonly endedAt: number | undefined;
  readonly exitCode: number | undefined;
  readonly cpuSeconds: number | undefined;
}

export interface SlurmTres {
  readonly type: string;
  readonly name: string;
  readonly id: number | undefined;
}

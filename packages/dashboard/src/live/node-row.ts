/** A node as the page shows it: flat and short, because thousands of them are sent at once. */

/** What a node does, in the order in which a legend lists it. Each has a letter, so that colour is never the only sign. */
export const nodeUses = {
  down: 'X',
  unresponsive: '?',
  draining: 'd',
  drained: 'D',
  maintenance: 'M',
  powering: 'p',
  asleep: 'z',
  allocated: 'A',
  mixed: 'm',
  idle: 'i',
  unknown: 'U',
} as const;
export type NodeUse = keyof typeof nodeUses;

export interface NodeRow {
  readonly key: string;
  readonly use: NodeUse;
  /** As `sinfo` writes it: `IDLE+DRAIN`. */
  readonly state: string;
  /** Slurm can place jobs here now. */
  readonly open: boolean;
  readonly reason: string;
  readonly reasonBy: string;
  readonly reasonAt: number | undefined;
  readonly partitions: readonly string[];
  readonly features: readonly string[];
  /** The topology block or switch, such as `b07`. */
  readonly block: string;
  readonly cpus: number;
  readonly cpusUsed: number;
  /** Megabytes. */
  readonly memory: number;
  readonly memoryUsed: number;
  readonly gpus: number;
  readonly gpusUsed: number;
}

/** A node as the page shows it: flat and short, because thousands of them are sent at once. Runs in the browser, too. */
import { gpus } from '@slurm-operator/advice';
import {
  isBusy,
  isDown,
  isDrain,
  isInvalidRegistration,
  isMaintenance,
  isNotResponding,
  isSchedulable,
  type SlurmNode,
} from '@slurm-operator/slurm';

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

export function nodeRow(node: SlurmNode): NodeRow {
  return {
    key: node.name,
    use: nodeUse(node),
    state: [node.state.base, ...node.state.flags].join('+'),
    open: isSchedulable(node.state),
    reason: node.reason,
    reasonBy: node.reasonSetBy,
    reasonAt: node.reasonSetAt,
    partitions: node.partitions,
    features: node.activeFeatures,
    block: blockOf(node.topology),
    cpus: node.cpus,
    cpusUsed: node.allocatedCpus,
    memory: node.memory,
    memoryUsed: node.allocatedMemory,
    gpus: gpus(node.gres),
    gpusUsed: gpus(node.gresUsed),
  };
}

/** The first that applies: what stops jobs comes before what runs them. */
function nodeUse({ state }: SlurmNode): NodeUse {
  if (isDown(state) || state.flags.has('FAIL') || isInvalidRegistration(state)) return 'down';
  if (state.flags.has('POWERED_DOWN')) return 'asleep';
  if (state.flags.has('POWERING_UP') || state.flags.has('POWERING_DOWN')) return 'powering';
  if (isNotResponding(state)) return 'unresponsive';
  if (isDrain(state)) return isBusy(state) ? 'draining' : 'drained';
  if (isMaintenance(state)) return 'maintenance';
  if (state.base === 'ALLOCATED' || state.flags.has('COMPLETING')) return 'allocated';
  if (state.base === 'MIXED') return 'mixed';
  if (state.base === 'IDLE') return 'idle';
  return 'unknown';
}

/** `topo-switch:s0:s1,topo-block:b07` → `b07`; a block wins over a switch, the last unit is the nearest one. */
function blockOf(topology: string): string {
  const parts = topology.split(',').filter((part) => part !== '');
  const chosen = parts.find((part) => /block/.test(part.split(':')[0] ?? '')) ?? parts[0];
  return chosen?.split(':').at(-1) ?? '';
}

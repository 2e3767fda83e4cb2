/** Makes the row of a node out of what Slurm lists. Pure. */
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
import type { NodeRow, NodeUse } from '../live/node-row.ts';

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

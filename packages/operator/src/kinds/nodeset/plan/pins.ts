/** pinToNode: which machine each ordinal returns to. */
import type { NodeSet } from '@slurm-operator/api';
import type { Observed } from '../model/observed.ts';

/** The machine that each ordinal returns to now. One that takes no pod at the moment is left out, see {@link rememberedPins}. */
export function pins(
  nodeSet: NodeSet,
  observed: Pick<Observed, 'workers' | 'nodes'>,
): ReadonlyMap<number, string> {
  const running = new Set(observed.workers.map((worker) => worker.nodeName));
  return new Map(
    [...rememberedPins(nodeSet, observed)].filter(
      ([, node]) => observed.nodes.get(node)?.eligible || running.has(node),
    ),
  );
}

/**
 * The machine of each ordinal: where its worker runs, else where it last ran, as long as that machine exists. Empty unless the NodeSet
 * pins. A cordon or a taint passes, and the ordinal returns then.
 */
export function rememberedPins(
  nodeSet: NodeSet,
  observed: Pick<Observed, 'workers' | 'nodes'>,
): ReadonlyMap<number, string> {
  const { pinToNode, scalingMode } = nodeSet.spec;
  if (!pinToNode || scalingMode !== 'StatefulSet') return new Map();
  const pinned = new Map<number, string>();
  for (const [ordinal, node] of Object.entries(nodeSet.status?.ordinalToNode ?? {})) {
    if (observed.nodes.has(node) && /^\d+$/.test(ordinal)) pinned.set(Number(ordinal), node);
  }
  for (const worker of observed.workers) {
    if (worker.slot.mode === 'StatefulSet' && worker.phase === 'Running' && worker.nodeName !== undefined)
      pinned.set(worker.slot.ordinal, worker.nodeName);
  }
  return pinned;
}

/** As the status holds it: null takes an earlier map away. */
export function pinsForStatus(pinned: ReadonlyMap<number, string>): Record<string, string> | null {
  return pinned.size === 0
    ? null
    : Object.fromEntries(
        [...pinned].toSorted(([a], [b]) => a - b).map(([ordinal, node]) => [String(ordinal), node]),
      );
}

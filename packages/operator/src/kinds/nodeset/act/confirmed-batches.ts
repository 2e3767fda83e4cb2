import type { SlurmNode } from '@slurm-operator/slurm';
import type { NodesView } from '../../../slurm-connection/slurm-gateway.ts';
import type { ActContext, Of } from './act.ts';
import { type FreshList, isSlurmsWord, stillSafe } from './still-safe.ts';

/** What we drained gets no work, so a list of this age still tells the truth about it. */
const stillFresh = 2_000;
/** Reading one node alone costs as much as so many nodes of a list. */
const nodesPerRead = 20;

/**
 * The deletes that may be sent now, as many as are sent at once, by a list that is young enough when they are; what is not safe by it
 * stays for the next plan. A drain of ours lasts, so the newest list is enough for it. A user may end their drain at any moment, and a
 * slurmd may register under a free name at any moment: both need a list that was fetched just now.
 */
export async function* confirmedBatches(
  deletes: readonly Of<'delete-worker'>[],
  context: ActContext,
): AsyncGenerator<readonly Of<'delete-worker'>[]> {
  const {
    unasked = [],
    lasting = [],
    fleeting = [],
  } = Object.groupBy(deletes, ({ because }) => {
    if (!isSlurmsWord(because)) return 'unasked';
    return because === 'drained' ? 'lasting' : 'fleeting';
  });
  const byName = namesOnce();
  if (unasked.length > 0) yield unasked;
  for (const batch of inBatches(lasting, context.parallel))
    yield confirmed(batch, byName(await drainedView(batch, context)));
  for (const batch of inBatches(fleeting, context.parallel))
    yield confirmed(batch, byName(await freshView(context)));
}

function confirmed(
  deletes: readonly Of<'delete-worker'>[],
  list: FreshList | undefined,
): Of<'delete-worker'>[] {
  return deletes.filter((action) => stillSafe(action, list));
}

function inBatches<T>(all: readonly T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(all.length / size) }, (_, index) =>
    all.slice(index * size, (index + 1) * size),
  );
}

/** Thousands of nodes are put in order once for each list, not for each batch. */
function namesOnce(): (view: NodesView) => FreshList | undefined {
  let known: { readonly nodes: readonly SlurmNode[]; readonly names: FreshList['nodes'] } | undefined;
  return (view) => {
    if (view.kind === 'unknown') return undefined;
    const { nodes } = view;
    if (known?.nodes !== nodes) known = { nodes, names: new Map(nodes.map((node) => [node.name, node])) };
    return { nodes: known.names, jobsKnown: view.jobsUnknown === undefined };
  };
}

async function drainedView(batch: readonly Of<'delete-worker'>[], context: ActContext): Promise<NodesView> {
  const newest = context.gateway?.view();
  const age = newest?.kind === 'known' ? context.now() - newest.at : Number.NaN;
  // Below zero: the clock was set back, and its age is unknown.
  const isFresh = age >= 0 && age < stillFresh;
  if (newest?.kind === 'known' && isFresh && newest.jobsAfterNodes) return newest;
  // A drain of ours lasts, so a reading of these nodes is enough: a list of thousands would take a second.
  const names = batch.map(({ slurmName }) => slurmName);
  if (newest?.kind === 'known' && newest.nodes.length > names.length * nodesPerRead)
    return context.gateway?.freshNodes(names, context.signal) ?? freshView(context);
  return freshView(context);
}

async function freshView({ gateway, signal }: ActContext): Promise<NodesView> {
  return gateway?.freshView(signal) ?? { kind: 'unknown', since: 0, why: 'no connection' };
}

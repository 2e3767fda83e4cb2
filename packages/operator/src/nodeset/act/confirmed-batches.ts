import type { NodesView } from '../slurm-gateway.ts';
import type { ActContext, Of } from './act.ts';
import { isSlurmsWord, stillSafe } from './still-safe.ts';

/** What we drained gets no work, so a list of this age still tells the truth about it. */
const stillFresh = 2_000;

/**
 * The deletes that may be sent now, by a list that is young enough; what is not safe by it stays for the next plan. Whoever we
 * drained stays so, and one list does for all of them. A drain of somebody else is theirs to end, and where nobody works under a name
 * a slurmd may join at any moment: that is believed only of a list asked for just now, and only for as many deletes as are sent at once.
 */
export async function* confirmedBatches(
  deletes: readonly Of<'delete-worker'>[],
  context: ActContext,
): AsyncGenerator<readonly Of<'delete-worker'>[]> {
  const { fleeting = [], lasting = [] } = Object.groupBy(deletes, ({ because }) =>
    because === 'unknown-to-slurm' || because === 'drained-by-other' ? 'fleeting' : 'lasting',
  );
  if (lasting.length > 0) yield confirmed(lasting, await drainedView(lasting, context));
  for (let from = 0; from < fleeting.length; from += context.parallel) {
    const batch = fleeting.slice(from, from + context.parallel);
    yield confirmed(batch, await freshView(context));
  }
}

function confirmed(deletes: readonly Of<'delete-worker'>[], view: NodesView): Of<'delete-worker'>[] {
  const fresh = view.kind === 'known' ? new Map(view.nodes.map((node) => [node.name, node])) : undefined;
  return deletes.filter((action) => stillSafe(action, fresh));
}

async function drainedView(deletes: readonly Of<'delete-worker'>[], context: ActContext): Promise<NodesView> {
  if (!deletes.some(({ because }) => isSlurmsWord(because)))
    return { kind: 'unknown', since: 0, why: 'not needed' };
  const newest = context.gateway?.view();
  const isYoung = newest?.kind === 'known' && context.now() - newest.at < stillFresh;
  return isYoung ? newest : freshView(context);
}

async function freshView({ gateway, signal }: ActContext): Promise<NodesView> {
  return gateway?.freshView(signal) ?? { kind: 'unknown', since: 0, why: 'no connection' };
}

import type { Safety } from '../model/actions.ts';
import { askAbout, isDrained, isForeign } from '../model/node-state.ts';
import type { Observed, SlurmNode, Worker } from '../model/observed.ts';
import { hasLostState, replacedFrom, timeText, unregisteredOf } from './lost-state.ts';

/**
 * A slurmd that has just got its machine, or has just been started, or whose slurmctld has, may join Slurm at any moment and be given
 * work in the same second. Until this long after that its absence from a list says nothing about the next second.
 */
export const joinsWithin = 60_000;

/**
 * Law L1, in one place: may this worker's pod be deleted without harm to a job?
 * Whatever is not a clear yes is a no. `act` asks again, with a list it fetches for the purpose, right before the delete.
 */
export function safeToDelete(worker: Worker, observed: Observed, now: number): Safety {
  if (observed.deleting && observed.deletionPolicy === 'Delete') return { safe: true, because: 'user-asked' };
  if (observed.deleting && !observed.controllerExists) return { safe: true, because: 'no-controller' };
  // A kubelet reports a start up to seconds after slurmd has got jobs, and one that is cut off does not report it at all.
  const untold = !worker.everStarted;
  if (untold && worker.nodeName === undefined) return { safe: true, because: 'never-started' };
  const cannotStart = untold && worker.cannotStart && worker.nodeReachable;
  const answer = askAbout(worker, observed);
  switch (answer.kind) {
    case 'unknown':
      if (cannotStart) return { safe: true, because: 'never-started' };
      return {
        safe: false,
        blind: true,
        why: `Slurm's view of ${worker.slurmName} is unknown: ${answer.why}`,
      };
    case 'absent': {
      if (!cannotStart && startOf(observed) === undefined)
        return {
          safe: false,
          blind: true,
          why: `${worker.slurmName} is not in Slurm, and when slurmctld started is not known: it may have lost its state`,
        };
      const until = mayJoinUntil(worker, observed);
      if (!cannotStart && now < until)
        return {
          safe: false,
          blind: false,
          why: `${worker.slurmName} has just started and may still register with Slurm`,
          until,
        };
      const lostUntil = untold ? now : mayHaveWorkUntil(worker, observed, now);
      if (now < lostUntil)
        return {
          safe: false,
          blind: false,
          why: `Slurm has forgotten ${worker.slurmName}, which may still have work; it stays until ${timeText(lostUntil)}`,
          until: lostUntil,
        };
      const elsewhere = knownAs(worker, observed);
      if (elsewhere === undefined) return { safe: true, because: 'unknown-to-slurm' };
      return {
        safe: false,
        blind: false,
        why: `Slurm knows it as ${elsewhere} and not as ${worker.slurmName}: do not set another node name for slurmd, and use the name of the Node as the host name of the node`,
      };
    }
    case 'foreign':
      if (cannotStart) return { safe: true, because: 'never-started' };
      return { safe: false, blind: false, why: foreignNode(worker, answer.node) };
    case 'present':
      if (isDrained(answer.node) && jobsUnknown(observed) !== undefined)
        return {
          safe: false,
          blind: true,
          why: `${worker.slurmName} is drained, but may have a suspended job: ${jobsUnknown(observed)}`,
        };
      if (isDrained(answer.node))
        return { safe: true, because: isForeign(answer.node) ? 'drained-by-other' : 'drained' };
      return {
        safe: false,
        blind: false,
        why: `${worker.slurmName} is ${[answer.node.base, ...answer.node.flags].join('+')}`,
      };
    default:
      return answer satisfies never;
  }
}

/** Whether this worker is behind that node is not known, so its work may be the worker's. */
export function foreignNode(worker: Worker, node: Pick<SlurmNode, 'name' | 'comment'>): string {
  const owner = node.comment === '' ? 'it has no comment' : `its comment is ${node.comment.slice(0, 200)}`;
  return `Slurm node ${node.name} does not belong to pod ${worker.name} (${owner}): set another hostname in the NodeSet, or remove that node from Slurm`;
}

/** Slurm lists a node whose only job is suspended as idle, so without the jobs a drained node proves nothing. */
function jobsUnknown({ slurm }: Observed): string | undefined {
  return slurm.kind === 'known' ? slurm.jobsUnknown : undefined;
}

/**
 * The name of the Slurm node that this very pod registered as: its slurmd may have been given one of its own (`-N`), and on the network of
 * a machine it takes the machine's host name, which need not be that of the Node.
 */
function knownAs({ uid }: Worker, { slurm }: Observed): string | undefined {
  if (slurm.kind === 'unknown') return undefined;
  return slurm.nodes.values().find((node) => node.instanceId === uid)?.name;
}

function mayJoinUntil(worker: Worker, observed: Observed): number {
  const placed = worker.placedAt ?? worker.createdAt;
  return Math.max(placed, worker.startedAt ?? placed, startOf(observed) ?? placed) + joinsWithin;
}

const startOf = ({ slurm }: Observed): number | undefined =>
  slurm.kind === 'known' ? slurm.controllerStartedAt : undefined;

/** As long as a worker that Slurm forgot is kept: by the same rule as a worker that is not being removed. */
function mayHaveWorkUntil(worker: Worker, observed: Observed, now: number): number {
  const startedAt = startOf(observed) ?? now;
  const lost = stateLost(observed, now);
  if (worker.writtenDeadline === undefined && !lost) return now;
  return replacedFrom({ ...worker, readySince: 0 }, observed, startedAt, lost, now);
}

/** The same for every worker of one plan. */
const lostStates = new WeakMap<Observed, boolean>();

function stateLost(observed: Observed, now: number): boolean {
  const known = lostStates.get(observed);
  if (known !== undefined) return known;
  const { healthy, absent } = unregisteredOf(observed, observed.workers, new Map(), now);
  const lost = hasLostState(healthy.length, absent.length);
  lostStates.set(observed, lost);
  return lost;
}

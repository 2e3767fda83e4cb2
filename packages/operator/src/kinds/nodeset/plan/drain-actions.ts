/** The Slurm requests that bring a worker's node to its drain target. */
import { reasonPrefix } from '@slurm-operator/api';
import { cleanReason } from '@slurm-operator/slurm';
import type { WorkerAction } from '../model/actions.ts';
import { isHealthy } from '../model/availability.ts';
import {
  askAbout,
  isBusy,
  isDownByPerson,
  isForeign,
  isOfDead,
  isOperators,
  isOurDrain,
  isRegisteredBy,
} from '../model/node-state.ts';
import type { Observed, SlurmNode, Worker } from '../model/observed.ts';
import type { DrainTarget } from './drain-target.ts';

export interface DrainStep {
  readonly actions: readonly WorkerAction[];
  /** Set when the target could not be worked on because Slurm's view is unknown. */
  readonly withheld: string | undefined;
}

const nothing: DrainStep = { actions: [], withheld: undefined };

export function drainActions(worker: Worker, target: DrainTarget, observed: Observed): DrainStep {
  if (worker.terminating) return nothing;
  const answer = askAbout(worker, observed);
  if (answer.kind === 'unknown')
    return {
      actions: [],
      withheld: target.drain ? `cannot drain ${worker.slurmName}: ${answer.why}` : undefined,
    };
  if (answer.kind === 'absent' || answer.kind === 'foreign') return nothing; // law L15
  const { node } = answer;
  if (isForeign(node)) return nothing; // law L2
  if (!target.drain)
    return { actions: [...undrain(worker, node), ...keepDown(worker, node)], withheld: undefined };
  return { actions: drain(worker, node, target), withheld: undefined };
}

/** Only the slurmd that runs now may be given work again: its predecessor's registration proves nothing about it. */
function undrain(worker: Worker, node: SlurmNode): WorkerAction[] {
  const fit = isOurDrain(node) && isHealthy(worker) && isRegisteredBy(node, worker);
  return fit ? [{ kind: 'undrain', slurmName: worker.slurmName }] : [];
}

/** A person who sets a node DOWN means that it stays down. Slurm's own reasons end when slurmd registers, as they should. */
function keepDown({ slurmName }: Worker, node: SlurmNode): WorkerAction[] {
  return isDownByPerson(node) ? [{ kind: 'keep-down', slurmName, reason: node.reason }] : [];
}

/** Whether a node's reason is this one, with or without the words that were there before; Slurm gets at most so much of both. */
function says(reason: string, wanted: string): boolean {
  const clean = cleanReason(wanted);
  const kept = `${clean} (was: `;
  return reason === clean || reason.startsWith(kept) || (reason.startsWith(clean) && kept.startsWith(reason));
}

function drain(worker: Worker, node: SlurmNode, target: DrainTarget & { drain: true }): WorkerAction[] {
  const { slurmName } = worker;
  if (!isOurDrain(node)) {
    const theirs = node.reason !== '' && !isOperators(node.reason) ? node.reason : undefined;
    // A node that is down for a reason of its own is left alone, unless its worker must go: then its words are kept.
    if (theirs !== undefined && !target.isRemoved) return [];
    return [
      {
        kind: 'drain',
        slurmName,
        reason: theirs === undefined ? target.reason : `${target.reason} (was: ${theirs})`,
      },
    ];
  }
  // Law L11: only if the kubelet reports that the containers ended are the jobs that Slurm still counts as running stale.
  const { endedAt } = worker;
  if (target.isRemoved && endedAt !== undefined && isOfDead(node, endedAt) && isBusy(node)) {
    const reason = `${reasonPrefix}the containers of Pod (${worker.name}) have ended`;
    return [{ kind: 'set-down', slurmName, reason, endedAt }];
  }
  if (target.keeps !== undefined && node.reason.startsWith(target.keeps)) return [];
  if (!says(node.reason, target.reason)) return [{ kind: 'drain', slurmName, reason: target.reason }];
  return [];
}

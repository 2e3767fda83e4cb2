/** Which worker goes first when some must go: the one whose loss costs least. */
import type { Worker } from '../model/observed.ts';

const phaseRank: Record<Worker['phase'], number> = {
  Failed: 0,
  Succeeded: 0,
  Pending: 1,
  Unknown: 2,
  Running: 3,
};

/**
 * A worker that is being removed already stays the choice while another would be done less than this much sooner. Without it a
 * worker that happens to be idle for a moment takes the place of one that has been draining for minutes, and under load neither
 * would ever be done.
 */
const persistence = 60 * 60_000;

/** Compares at a moment: negative when `a` goes before `b`. Total: two different workers never compare as equal. */
export function removalOrder(now: number): (a: Worker, b: Worker) => number {
  return (a, b) =>
    Number(a.nodeName !== undefined) - Number(b.nodeName !== undefined) ||
    phaseRank[a.phase] - phaseRank[b.phase] ||
    Number(a.ready) - Number(b.ready) ||
    a.deletionCost - b.deletionCost ||
    compare(doneBy(a, now), doneBy(b, now)) ||
    Number(b.cordoned) - Number(a.cordoned) ||
    compare(ordinal(b), ordinal(a)) ||
    compare(b.readySince ?? Number.POSITIVE_INFINITY, a.readySince ?? Number.POSITIVE_INFINITY) ||
    compare(b.createdAt, a.createdAt) ||
    (a.name < b.name ? -1 : a.name > b.name ? 1 : 0);
}

/** When its work is over: now if it has none. */
function doneBy(worker: Worker, now: number): number {
  const end = worker.deadline === undefined ? now : Math.max(worker.deadline, now + 1);
  const leaving = worker.cordoned && (worker.cordonCause === 'update' || worker.cordonCause === 'scale-in');
  return leaving ? end - persistence : end;
}

function ordinal(worker: Worker): number {
  return worker.slot.mode === 'StatefulSet' ? worker.slot.ordinal : 0;
}

/** Subtraction would make NaN of two infinities. */
function compare(a: number, b: number): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Which worker goes first when some must go: the one whose loss costs least. */
import type { Worker } from './observed.ts';

const phaseRank: Record<Worker['phase'], number> = {
  Failed: 0,
  Succeeded: 0,
  Pending: 1,
  Unknown: 2,
  Running: 3,
};

/** Negative when `a` goes before `b`. Total: two different workers never compare as equal. */
export function victimOrder(a: Worker, b: Worker): number {
  return (
    Number(a.nodeName !== undefined) - Number(b.nodeName !== undefined) ||
    phaseRank[a.phase] - phaseRank[b.phase] ||
    Number(a.ready) - Number(b.ready) ||
    a.deletionCost - b.deletionCost ||
    compare(a.deadline ?? Number.NEGATIVE_INFINITY, b.deadline ?? Number.NEGATIVE_INFINITY) ||
    Number(b.cordoned) - Number(a.cordoned) ||
    compare(ordinal(b), ordinal(a)) ||
    compare(b.readySince ?? Number.POSITIVE_INFINITY, a.readySince ?? Number.POSITIVE_INFINITY) ||
    compare(b.createdAt, a.createdAt) ||
    (a.name < b.name ? -1 : a.name > b.name ? 1 : 0)
  );
}

function ordinal(worker: Worker): number {
  return worker.slot.mode === 'StatefulSet' ? worker.slot.ordinal : 0;
}

/** Subtraction would make NaN of two infinities. */
function compare(a: number, b: number): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

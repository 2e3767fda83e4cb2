/**
 * Which piece of work starts next. Pure: no clock, no process, no file is known here.
 *
 * Work goes in three lanes. What computes needs a core of its own; what waits (for daemons, probes, timers) needs one now and
 * then, so that several share a core; what prepares fetches and builds what others start from. Each lane has capacity for so much
 * at a time, and gives it to the longest work first, so that nothing long is left alone at the end.
 */
export type Lane = 'computing' | 'waiting' | 'preparing';

export interface Work {
  readonly name: string;
  readonly lane: Lane;
  /** How much of its lane's capacity it takes: more for what fails beside too many others. */
  readonly share: number;
  /** How long it takes on a quiet machine, about. */
  readonly seconds: number;
  /** Names of the work that has to be over first; names of nothing are over. */
  readonly after: readonly string[];
}

export type Capacity = Readonly<Record<Lane, number>>;

/** Undefined: nothing can start until something ends or capacity is made. */
export function nextWork<W extends Work>(
  pending: readonly W[],
  running: readonly W[],
  capacity: Capacity,
): W | undefined {
  const unfinished = new Set([...pending, ...running].map(({ name }) => name));
  const ready = pending.filter(({ after }) => !after.some((name) => unfinished.has(name)));
  const rank = (work: Work) => work.seconds + longestAfter(work, pending);
  const heads = lanes.flatMap((lane) => {
    const head = ready.filter((work) => work.lane === lane).toSorted((a, b) => rank(b) - rank(a))[0];
    return head === undefined ? [] : [head];
  });
  // Nothing overtakes the first of a lane: work that needs much capacity would otherwise come last.
  return heads.find((head) => {
    const taken = running
      .filter(({ lane }) => lane === head.lane)
      .reduce((total, work) => total + work.share, 0);
    return (
      taken === 0 || taken + head.share <= capacity[head.lane] + lent(head.lane, pending, running, capacity)
    );
  });
}

const lanes: readonly Lane[] = ['preparing', 'computing', 'waiting'];

/** Work that others wait for is as urgent as the longest of them. */
function longestAfter(work: Work, pending: readonly Work[]): number {
  return Math.max(
    0,
    ...pending.filter(({ after }) => after.includes(work.name)).map(({ seconds }) => seconds),
  );
}

/** A core that no lane needs any more is given to the one that is left. */
function lent(lane: Lane, pending: readonly Work[], running: readonly Work[], capacity: Capacity): number {
  const over = (other: Lane) => ![...pending, ...running].some((work) => work.lane === other);
  if (lane === 'computing' && over('waiting') && over('preparing')) return capacity.computing;
  if (lane === 'waiting' && over('computing') && over('preparing')) return Math.floor(capacity.waiting / 4);
  return 0;
}

/**
 * Slurm records without a worker that pending jobs need. Slurm ends a pending job that asks for a node by name when slurmctld restarts or
 * reads its files without that node, and puts one on hold for good whose feature no node has (BadConstraints; seen on 24.11 and 26.05).
 * A drained record without a slurmd keeps both eligible. Pure.
 */
import { featurePrefix } from '@slurm-operator/api';
import type { PendingNeed } from '../../../slurm-connection/slurm-gateway.ts';
import { isOurDrain } from './node-state.ts';
import type { Observed, SlurmNode } from './observed.ts';

export interface KeptRecord {
  readonly name: string;
  /** Jobs that need it; empty: Slurm does not say which. */
  readonly jobs: readonly string[];
  readonly why: 'name' | 'feature' | 'unknown';
  /** Its slot is vacant, and the worker that comes would take a feature away: it is created when the record is gone. */
  readonly slotWaits?: boolean;
}

/** As many jobs of each record are remembered. */
const mostJobs = 5;

const none: ReadonlySet<string> = new Set();

/**
 * Which of these records, that nothing else needs, stay. One that is `replaced` at once by that of its successor is missing for a moment
 * only, and the guard lets nothing restart meanwhile: it stays for the features that the successor does not have.
 */
export function keptRecords(
  all: readonly SlurmNode[],
  observed: Observed,
  replaced: ReadonlySet<string> = none,
): KeptRecord[] {
  const { pendingNeeds, deleting, deletionPolicy } = observed;
  const deletable = all.filter((node) => !replaced.has(node.name) || lostWith(node, observed).length > 0);
  // Another policy ends the jobs that wait for its workers.
  if (deletable.length === 0 || (deleting && deletionPolicy !== 'Drain')) return [];
  if (pendingNeeds?.kind !== 'known')
    return deletable.map(({ name }) => ({ name, jobs: [], why: 'unknown', ...slotOf(name, replaced) }));
  const named = deletable.flatMap(({ name }): KeptRecord[] => {
    if (replaced.has(name)) return [];
    const jobs = idsOf(pendingNeeds.jobs.filter(({ nodes }) => nodes.includes(name)));
    return jobs.length === 0 ? [] : [{ name, jobs, why: 'name' }];
  });
  // With the NodeSet its features go, and Slurm says so of the jobs that ask for them.
  return deleting ? named : [...named, ...lastOfFeatures(deletable, named, replaced, observed)];
}

const slotOf = (name: string, replaced: ReadonlySet<string>) =>
  replaced.has(name) ? ({ slotWaits: true } as const) : {};

/** What no worker of the NodeSet has any more; those of the machine come back with the worker. */
const lostWith = ({ features }: SlurmNode, observed: Observed): string[] =>
  features.filter((name) => !name.startsWith(featurePrefix) && observed.features?.includes(name) !== true);

/** One record of each feature is enough: the first by name, among those that would all be deleted; one that no slot waits for before others. */
function lastOfFeatures(
  deletable: readonly SlurmNode[],
  named: readonly KeptRecord[],
  replaced: ReadonlySet<string>,
  observed: Observed,
): KeptRecord[] {
  const { slurm, pendingNeeds } = observed;
  if (slurm.kind === 'unknown' || pendingNeeds?.kind !== 'known') return [];
  const { jobs } = pendingNeeds;
  const going = new Set(deletable.map(({ name }) => name));
  for (const { name } of named) going.delete(name);
  // A record that another NodeSet drains may be deleted at the same moment.
  const staying = [...slurm.nodes.values()].filter((node) => !going.has(node.name) && !isOurDrain(node));
  const present = new Set([
    ...staying.flatMap(({ features }) => features),
    ...named.flatMap(({ name }) => slurm.nodes.get(name)?.features ?? []),
  ]);
  const kept: KeptRecord[] = [];
  const slotWaits = ({ name }: SlurmNode) => Number(replaced.has(name));
  const candidates = deletable
    .filter(({ name }) => going.has(name))
    .toSorted((a, b) => slotWaits(a) - slotWaits(b) || byName(a, b));
  for (const node of candidates) {
    const lost = replaced.has(node.name) ? lostWith(node, observed) : node.features;
    const missing = lost.filter((feature) => !present.has(feature));
    const waiting = idsOf(jobs.filter(({ features }) => features.some((name) => missing.includes(name))));
    if (waiting.length === 0) continue;
    for (const feature of node.features) present.add(feature);
    kept.push({ name: node.name, jobs: waiting, why: 'feature', ...slotOf(node.name, replaced) });
  }
  return kept;
}

const idsOf = (jobs: readonly PendingNeed[]): string[] => jobs.slice(0, mostJobs).map(({ id }) => id);

const byName = (a: SlurmNode, b: SlurmNode): number => (a.name < b.name ? -1 : 1);

/** A sentence for the status; undefined where nothing is kept for jobs. */
export function describeKept(kept: readonly KeptRecord[]): string | undefined {
  const needed = kept.filter(({ why }) => why !== 'unknown');
  const [first] = needed;
  if (first === undefined) return undefined;
  const more = needed.length > 1 ? ` The same applies to ${needed.length - 1} more records.` : '';
  const asks =
    first.why === 'name' ? 'asks for it by name (--nodelist)' : 'asks for one of its features (--constraint)';
  const remedy =
    first.slotWaits === true
      ? 'Its next worker has other features, and is created once another node has that feature, or the job is gone: cancel'
      : 'Scale out until a worker of that name runs, or cancel';
  return `Slurm node ${first.name} stays, drained and without a pod, because pending job ${first.jobs.join(', ')} ${asks} and would be lost without it. ${remedy} with "scancel ${first.jobs.join(' ')}".${more}`;
}

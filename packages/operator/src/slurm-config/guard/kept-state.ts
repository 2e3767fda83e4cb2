/**
 * What jobs in the state of slurmctld need of slurm.conf. It is noted on the claim of that state, because the ConfigMap goes with its
 * Controller and the claim stays: slurmctld fails every pending job whose partition is missing when it loads its state. Pure.
 */
import { gunzipSync, gzipSync } from 'node:zlib';
import { renderPairs } from '../parse.ts';
import { type ConfContent, readConf, renderEntry } from './conf-content.ts';
import { mostNodes } from './recover-in-force.ts';
import { settingsThatJobsNeed } from './settings-that-cost-jobs.ts';
import { onlyNodes } from './static-nodes.ts';

/** Kubernetes allows 256 KiB for all annotations of an object. */
const mostCharacters = 160_000;
const mostPlain = 16_000;
const packed = 'gzip:';
/** What a note may unpack to: as much as fits into a ConfigMap. */
const mostUnpacked = 1_048_576;

/** The lines of this slurm.conf that a pending job may need; undefined where they do not fit into an annotation. */
export function noteOfState(slurmConf: string): string | undefined {
  const conf = readConf(slurmConf);
  const lines = linesOf(conf, conf, settingsThatJobsNeed(conf));
  if (lines.length <= mostPlain) return lines;
  const note = `${packed}${gzipSync(lines).toString('base64')}`;
  return note.length <= mostCharacters ? note : undefined;
}

/** The desired slurm.conf with what the note has and it lacks, as if that were in force. */
export function withNotedLines(desired: string, note: string): string {
  const to = readConf(desired);
  const from = readConf(unpack(note));
  const needed = settingsThatJobsNeed(to);
  const settings = [...settingsThatJobsNeed(from)].filter(([key, value]) =>
    isKept(key, value, needed.get(key)),
  );
  // Records come first: a DEFAULT line of the desired text counts for all that follow it.
  const records = linesOf(from, missingIn(from, to), new Map());
  const values = linesOf(from, noRecords, new Map(settings));
  return records + values === '' ? desired : `${records}${desired.trimEnd()}\n${values}`;
}

const noRecords = { partitions: new Map(), nodeSets: new Map(), nodes: new Map() };

const counts = new Set(['MaxNodeCount', 'MaxJobCount', 'MaxArraySize']);
/** What Slurm takes as one of them, and not what would make it reserve all memory. */
const count = /^\d{1,7}$/;

/** slurmctld ends on a number that it cannot read. */
function isKept(key: string, noted: string, desired: string | undefined): boolean {
  if (counts.has(key) && !count.test(noted)) return false;
  return key === 'MaxNodeCount'
    ? Number(noted) > Number(desired ?? 0) && Number(noted) <= mostNodes
    : noted !== desired;
}

function missingIn(
  from: ConfContent,
  to: ConfContent,
): Pick<ConfContent, 'partitions' | 'nodeSets' | 'nodes'> {
  const missing = <T>(all: ReadonlyMap<string, T>, there: ReadonlyMap<string, T>) =>
    new Map([...all].filter(([name]) => !there.has(name)));
  return {
    partitions: missing(from.partitions, to.partitions),
    nodeSets: missing(from.nodeSets, to.nodeSets),
    nodes: missing(from.nodes, to.nodes),
  };
}

function linesOf(
  { nodes }: ConfContent,
  some: Pick<ConfContent, 'partitions' | 'nodeSets' | 'nodes'>,
  settings: ReadonlyMap<string, string>,
): string {
  const kept = new Set(some.nodes.keys());
  const lines = [
    ...[...settings].map(([key, value]) => renderPairs([{ key, value }])),
    ...[...new Set([...kept].flatMap((name) => nodes.get(name) ?? []))].map((entry) =>
      renderEntry('NodeName', onlyNodes(entry, kept)),
    ),
    ...[...some.nodeSets.values()].map((entry) => renderEntry('NodeSet', entry)),
    ...[...some.partitions.values()].map((entry) => renderEntry('PartitionName', entry)),
  ];
  return lines.length === 0 ? '' : `${lines.join('\n')}\n`;
}

/** An annotation that someone edited may hold anything: what cannot be read notes nothing. */
function unpack(note: string): string {
  if (!note.startsWith(packed)) return note;
  try {
    const bytes = Buffer.from(note.slice(packed.length), 'base64');
    return gunzipSync(bytes, { maxOutputLength: mostUnpacked }).toString('utf8');
  } catch {
    return '';
  }
}

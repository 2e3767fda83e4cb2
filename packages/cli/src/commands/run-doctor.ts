/** doctor: why something does not run, and what to do. */
import { type Context, type Diagnosis, diagnose, type EvidenceSet } from '@slurm-operator/advice';
import { label } from '@slurm-operator/api';
import { CliError, exitCode } from '../errors.ts';
import { gatherEvidence } from '../gather/evidence.ts';
import { writeReport } from '../gather/report.ts';
import type { CommandLine } from '../line.ts';
import { about, jobHeadline, type Target } from '../output/about.ts';
import { findingsText, uncheckedText } from '../output/findings.ts';
import type { Session } from '../session/session.ts';

const kinds = ['job', 'worker', 'node', 'nodeset'] as const;

function targetOf(word: string | undefined): Target {
  if (word === undefined) return { kind: 'cluster', name: '' };
  if (/^\d+(_\d+)?$/.test(word)) return { kind: 'job', name: word };
  if (/^[\w.-]+$/.test(word)) return { kind: 'node', name: word };
  const [kind = '', name = ''] = word.split('/');
  const found = kinds.find((each) => each === kind);
  if (found === undefined || name === '')
    throw new CliError(
      `"${word}" is none of job/ID, worker/NAME, node/NAME or nodeset/NAME, nor the ID or NAME alone; leave it out to check the whole cluster.`,
    );
  if (found === 'job' && !/^\d+(_\d+)?$/.test(name))
    throw new CliError(`"${name}" is not the number of a job.`);
  return { kind: found, name };
}

/** A name without its kind may be that of a NodeSet. */
const orNodeSet = (target: Target, word: string | undefined, { nodeSets }: EvidenceSet): Target =>
  word === target.name &&
  target.kind === 'node' &&
  nodeSets?.kind === 'known' &&
  nodeSets.value.some(({ metadata }) => metadata.name === word)
    ? { ...target, kind: 'nodeset' }
    : target;

/** A task of an array has a number of its own, which evidence and findings name. */
async function withOwnNumber(session: Session, target: Target): Promise<Target> {
  if (target.kind !== 'job' || !target.name.includes('_')) return target;
  const found = await (await session.slurm()).jobs.get(target.name, { signal: session.signal });
  if (found === undefined) throw new CliError(`Slurm does not know job ${target.name}.`);
  return { ...target, name: String(found.id) };
}

export async function runDoctor(session: Session, line: CommandLine): Promise<number> {
  const [word] = line.args;
  const asked = await withOwnNumber(session, targetOf(word));
  const cluster = await session.cluster();
  const { io } = session;
  const began = performance.now();
  session.progress(`Looking at ${cluster.metadata.namespace}/${cluster.metadata.name} …`);
  const job = asked.kind === 'job' ? Number(asked.name) : undefined;
  const evidence = await gatherEvidence(session, {
    installation: asked.kind === 'cluster',
    logs: asked.kind !== 'job',
    ...(job === undefined ? {} : { job }),
  });
  const target = orNodeSet(asked, word, evidence);
  const context: Context = {
    now: await session.serverNow(),
    namespace: cluster.metadata.namespace,
    cluster: cluster.metadata.name,
    timeZone: io.timeZone,
    ...(job === undefined ? {} : { job }),
  };
  const diagnosis = diagnose(evidence, context);
  const findings = about(target, diagnosis);
  const report = line.text('report');
  if (report !== undefined) {
    await writeReport(report, { evidence, diagnosis, context });
    session.note(
      `Wrote ${report}: values of Secrets, tokens and environment variables are left out. Read it before you send it.`,
    );
  }
  if (job !== undefined) assertJob(evidence, job);
  else assertExists(target, evidence);
  const serious = findings.some(({ severity }) => severity !== 'info');
  const gaps = gapsOf(evidence, diagnosis);
  const data = {
    target,
    findings,
    unchecked: diagnosis.unchecked,
    rules: diagnosis.checked,
    failed: diagnosis.failed,
  };
  const names = findings.map(({ rule, subject }) => `${rule} ${subject.kind.toLowerCase()}/${subject.name}`);
  if (!session.printObject('Diagnosis', data, names))
    print(session, { target, evidence, gaps }, { ...diagnosis, findings }, performance.now() - began);
  if (serious) return exitCode.findings;
  // Not to have found anything means nothing where one could not look.
  return gaps === 'unknown' ? exitCode.failed : exitCode.good;
}

/** `forbidden`: only what this user may not read is missing. `unknown`: a read failed, or next to nothing may be read. */
type Gaps = 'none' | 'forbidden' | 'unknown';

function gapsOf(evidence: EvidenceSet, { checked, failed }: Diagnosis): Gaps {
  const found = new Set(Object.values(evidence).map(({ kind }) => kind));
  const core = [evidence.clusters, evidence.pods, evidence.nodeSets];
  const sawNothing = core.every((piece) => piece?.kind !== 'known');
  if (found.has('unknown') || failed.length > 0 || checked === 0 || sawNothing) return 'unknown';
  return found.has('forbidden') ? 'forbidden' : 'none';
}

interface Looked {
  readonly target: Target;
  readonly evidence: EvidenceSet;
  readonly gaps: Gaps;
}

function print(session: Session, { target, evidence, gaps }: Looked, diagnosis: Diagnosis, ms: number): void {
  const { io, paint } = session;
  const headline = jobHeadline(target, evidence);
  if (headline !== '') io.out(`${paint('strong', headline)}\n\n`);
  if (diagnosis.findings.length === 0) io.out(nothingFound(target, gaps, paint));
  else io.out(findingsText(diagnosis.findings, paint, io.columns, session.line.text('namespace')));
  const unchecked = uncheckedText(diagnosis, paint, io.columns);
  if (unchecked !== '') io.out(`\n${unchecked}`);
  const size = (name: 'pods' | 'jobs' | 'slurmNodes', word: string) => {
    const piece = evidence[name];
    return piece?.kind === 'known' ? [`${piece.value.length.toLocaleString('en-US')} ${word}`] : [];
  };
  const seen = [...size('pods', 'pods'), ...size('slurmNodes', 'Slurm nodes'), ...size('jobs', 'jobs')];
  io.out(
    paint(
      'quiet',
      `\nChecked ${diagnosis.checked} rules on ${seen.join(', ') || 'nothing'} in ${(ms / 1000).toFixed(1)} s.\n`,
    ),
  );
}

function nothingFound({ kind, name }: Target, gaps: Gaps, paint: Session['paint']): string {
  const what = kind === 'cluster' ? '' : ` with ${kind} ${name}`;
  if (gaps === 'unknown')
    return `${paint('warning', '?')} Nothing was found${what}, but part of it could not be checked.\n`;
  return `${paint('good', '✔')} Nothing is wrong${what}${gaps === 'none' ? '' : ', as far as you may look'}.\n`;
}

/** Nothing is wrong with what does not exist, so that must be said; where it cannot be known, the findings say so. */
function assertExists({ kind, name }: Target, { nodeSets, pods, slurmNodes, machines }: EvidenceSet): void {
  if (kind === 'nodeset' && nodeSets?.kind === 'known') {
    const names = nodeSets.value.map(({ metadata }) => metadata.name);
    if (!names.includes(name))
      throw new CliError(
        `There is no NodeSet ${name} here${names.length === 0 ? '.' : `: ${names.join(', ')}.`}`,
      );
  }
  if (kind !== 'worker' && kind !== 'node') return;
  const workers = pods?.kind === 'known' ? pods.value : undefined;
  const records = slurmNodes?.kind === 'known' ? slurmNodes.value : undefined;
  const isWorker = workers?.some(
    ({ metadata }) => metadata.name === name || metadata.labels?.[label.podHostname] === name,
  );
  if (isWorker === true || records?.some((node) => node.name === name) === true) return;
  // Findings name nodes of Kubernetes too, so they may be asked for.
  if (kind === 'node' && machines?.kind !== 'known') return;
  if (machines?.kind === 'known' && machines.value.some(({ metadata }) => metadata.name === name)) return;
  if (workers !== undefined && (kind === 'worker' || records !== undefined))
    throw new CliError(`There is no ${kind} ${name} here: kubectl slurm nodes lists those there are.`);
}

function assertJob(evidence: EvidenceSet, job: number): void {
  if (evidence.jobs?.kind !== 'known')
    throw new CliError(
      evidence.jobs?.kind === 'unknown' ? evidence.jobs.why : 'You may not list the jobs of this cluster.',
    );
  const isHere = evidence.jobs.value.some(({ id }) => id === job);
  const isRecorded = evidence.endedJob?.kind === 'known' && evidence.endedJob.value !== undefined;
  if (!isHere && !isRecorded)
    throw new CliError(
      `Slurm does not know job ${job}: it ended long ago, or it never existed${evidence.endedJob?.kind === 'known' ? ', and the accounting has no record of it' : ''}.`,
    );
}

/**
 * `slurm-doctor`, for people on a login node: the rules of `kubectl slurm doctor` about jobs and nodes, without Kubernetes. Slurm's own
 * programs are asked, as the user who runs it.
 */
import { type Diagnosis, diagnose, type EvidenceSet, type Finding, printable } from '@slurm-operator/advice';
import { recordOfTask } from '@slurm-operator/slurm';
import { about, jobHeadline, type Target } from '../output/about.ts';
import { findingsText, uncheckedText } from '../output/findings.ts';
import { painter, wantsColours } from '../output/style.ts';
import { askAccounting, askSlurm, type RunPrograms, waitingJobs } from './slurm-programs.ts';

export interface LoginNode {
  readonly run: RunPrograms;
  readonly user: string;
  readonly now: number;
  readonly columns: number;
  readonly isTty: boolean;
  readonly env: Readonly<Record<string, string | undefined>>;
}

export interface Answer {
  readonly out: string;
  readonly err: string;
  readonly exitCode: number;
}

const shown = 5;

export const help = `slurm-doctor: why does my job not run?

Usage:
  slurm-doctor              explain every job of yours that waits
  slurm-doctor JOB          explain one job, such as 4711 or 4711_3
  slurm-doctor NODE         explain why a node takes no jobs, such as gpu-3

It asks squeue, scontrol, sdiag, sacctmgr and sacct, and sees what you may see.
Exit code 0: nothing is wrong; 1: something keeps a job or node from running; 2: it could not look.
`;

const refuse = (message: string): Answer => ({
  out: '',
  err: `slurm-doctor: ${printable(message)}\n`,
  exitCode: 2,
});

export function slurmDoctor(words: readonly string[], node: LoginNode): Answer {
  const [word, ...rest] = words;
  if (word === '--help' || word === '-h') return { out: help, err: '', exitCode: 0 };
  if (rest.length > 0) return refuse('give one job or node; see slurm-doctor --help');
  if (word === undefined) return ownJobs(node);
  const job = /^(?:job\/)?(\d+(?:_\d+)?)$/.exec(word)?.[1];
  if (job !== undefined) return oneJob(job, node);
  const name = /^(?:node\/)?([\w.-]+)$/.exec(word)?.[1];
  if (name !== undefined) return oneNode(name, node);
  return refuse(`"${word}" is neither the number of a job nor the name of a node; see slurm-doctor --help`);
}

function ownJobs(node: LoginNode): Answer {
  const evidence = askSlurm(node.run, node.now, node.user);
  if (evidence.jobs?.kind !== 'known') return refuse(whyNot(evidence));
  const waiting = waitingJobs(evidence, node.user);
  if (waiting.length === 0) return { out: `No job of ${node.user} waits.\n`, err: '', exitCode: 0 };
  const parts = waiting.slice(0, shown).map((job) => explain(String(job.id), evidence, node));
  const more = waiting.length - parts.length;
  const tail = more > 0 ? `\n${more} more of your jobs wait: slurm-doctor JOB explains one.\n` : '';
  return {
    out: parts.map(({ out }) => out).join('\n') + tail,
    err: '',
    exitCode: Math.max(...parts.map(({ exitCode }) => exitCode)),
  };
}

function oneJob(word: string, node: LoginNode): Answer {
  const evidence = askSlurm(node.run, node.now, node.user);
  if (evidence.jobs?.kind !== 'known') return refuse(whyNot(evidence));
  const [number, task] = word.split('_').map(Number);
  const found =
    task === undefined
      ? evidence.jobs.value.find(({ id }) => id === number)
      : recordOfTask(evidence.jobs.value, number ?? 0, task);
  if (found !== undefined) return explain(String(found.id), evidence, node);
  const ended = { ...evidence, ...askAccounting(node.run, node.now, word) };
  if (ended.endedJob?.kind !== 'known' || ended.endedJob.value === undefined)
    return refuse(
      `Slurm does not know job ${word}: it ended long ago, it never existed, or you may not see it.`,
    );
  return explain(String(ended.endedJob.value.id), ended, node);
}

function oneNode(name: string, node: LoginNode): Answer {
  const evidence = askSlurm(node.run, node.now);
  if (evidence.slurmNodes?.kind !== 'known') return refuse(whyNot(evidence));
  if (!evidence.slurmNodes.value.some((one) => one.name === name))
    return refuse(`Slurm has no node ${name}; sinfo lists those there are.`);
  return print({ kind: 'node', name }, evidence, node);
}

const explain = (name: string, evidence: EvidenceSet, node: LoginNode): Answer =>
  print({ kind: 'job', name }, evidence, node);

function print(target: Target, evidence: EvidenceSet, node: LoginNode): Answer {
  const paint = painter(wantsColours(node.env, node.isTty, false));
  const context = {
    now: node.now,
    namespace: '',
    cluster: '',
    timeZone: '',
    ...(target.kind === 'job' ? { job: Number(target.name) } : {}),
  };
  const diagnosis = diagnose(evidence, context);
  const findings = about(target, diagnosis).map(withSlurmCommands);
  const headline = jobHeadline(target, evidence);
  const body =
    findings.length > 0
      ? findingsText(findings, paint, node.columns)
      : `${paint('good', '✔')} Nothing is wrong with ${target.kind} ${target.name}, as far as you may look.\n`;
  const gaps = uncheckedText(diagnosis, paint, node.columns);
  return {
    out: `${headline === '' ? '' : `${paint('strong', headline)}\n\n`}${body}${gaps === '' ? '' : `\n${gaps}`}`,
    err: '',
    exitCode: exitCodeOf(findings, diagnosis, evidence),
  };
}

function exitCodeOf(findings: readonly Finding[], { failed }: Diagnosis, evidence: EvidenceSet): number {
  if (findings.some(({ severity }) => severity !== 'info')) return 1;
  const couldNotLook = Object.values(evidence).some(({ kind }) => kind === 'unknown');
  return findings.length === 0 && (couldNotLook || failed.length > 0) ? 2 : 0;
}

function whyNot({ jobs, slurmNodes }: EvidenceSet): string {
  for (const piece of [jobs, slurmNodes])
    if (piece?.kind === 'unknown' || piece?.kind === 'forbidden')
      return piece.why ?? 'Slurm does not answer.';
  return 'Slurm does not answer.';
}

/** Commands of `kubectl slurm`, as they are called where only Slurm is. */
const translations: readonly (readonly [RegExp, string])[] = [
  [/kubectl slurm scontrol -- /g, 'scontrol '],
  [/kubectl slurm cancel /g, 'scancel '],
  [/kubectl slurm (hold|release|requeue) /g, 'scontrol $1 '],
  [/kubectl slurm job (\d+)/g, 'scontrol show job $1'],
  [/kubectl slurm nodes( --why| --state down)?$/g, 'sinfo --list-reasons'],
];

/** Others need Kubernetes, and so an administrator. */
const forAdministrators = /^kubectl |kubectl slurm /;

export function slurmCommand(fix: string): string {
  const text = translations.reduce((line, [pattern, command]) => line.replaceAll(pattern, command), fix);
  return forAdministrators.test(text) ? `An administrator: ${text}` : text;
}

const withSlurmCommands = (finding: Finding): Finding => ({
  ...finding,
  fix: finding.fix.map(slurmCommand),
  consequences: finding.consequences.map(withSlurmCommands),
});

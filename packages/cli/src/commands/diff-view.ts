/** A diff as text. Pure. */
import { count, printable, quote } from '@slurm-operator/advice';
import type { ConfigChange } from '@slurm-operator/operator/dry-run';
import type { SlurmLists } from '../gather/dry-run.ts';
import type { Session } from '../session/session.ts';
import type { FieldChange } from './field-changes.ts';
import type { LimitEffect, ObjectChange } from './run-diff.ts';
import type { TriedConfig } from './try-config.ts';

export interface DiffView {
  readonly objects: readonly ObjectChange[];
  readonly config: ConfigChange | undefined;
  readonly limits: readonly LimitEffect[];
  readonly slurm: SlurmLists;
  readonly forbidden: readonly string[];
  readonly trial?: TriedConfig;
}

type View = Pick<Session, 'paint'>;

export function diffText(
  { objects, config, limits, slurm, forbidden, trial }: DiffView,
  { paint }: View,
): string {
  const lines: string[] = [];
  if (objects.length === 0) lines.push('No object would change.');
  for (const { kind, name, isNew, fields } of objects) {
    lines.push(paint('strong', `${kind}/${name}`));
    if (isNew) lines.push(paint('good', '  + new'));
    for (const field of fields) lines.push(...fieldLines(field, paint));
  }
  if (config !== undefined) lines.push(...configLines(config, paint));
  for (const effect of limits) lines.push(...limitLines(effect, slurm, paint));
  if (forbidden.length > 0)
    lines.push(`You may not list ${forbidden.join(', ')}: what depends on them is left out.`);
  if (trial !== undefined) lines.push(...trialLines(trial, paint));
  lines.push('Nothing was changed.');
  return `${lines.join('\n')}\n`;
}

/** Workers are not part of it: the operator tries their images before it puts a configuration in force. */
const trialLines = (trial: TriedConfig, paint: View['paint']): string[] =>
  trial.kind === 'accepted'
    ? [paint('good', `✔ tried: slurmctld (${printable(trial.image)}) accepts it, in ${trial.seconds} s.`)]
    : [
        paint('bad', `✖ tried: slurmctld (${printable(trial.image)}) rejects it:`),
        `  ${printable(trial.message)}`,
      ];

function fieldLines({ path, from, to }: FieldChange, paint: View['paint']): string[] {
  // A text of several lines is compared line by line.
  if (typeof from === 'string' && typeof to === 'string' && (from + to).includes('\n'))
    return [`  ~ ${path}`, ...lineChanges(from, to).map((line) => `    ${painted(line, paint)}`)];
  if (from === undefined) return [paint('good', `  + ${path}: ${short(to)}`)];
  if (to === undefined) return [paint('bad', `  - ${path}: ${short(from)}`)];
  return [`  ~ ${path}: ${short(from)} → ${short(to)}`];
}

const short = (value: unknown): string =>
  printable(quote(typeof value === 'string' ? value : (JSON.stringify(value) ?? ''), 80));

const painted = (line: string, paint: View['paint']): string =>
  paint(line.startsWith('+') ? 'good' : 'bad', printable(line));

/** Lines that only one side has, in the order of the new text; a removed line stands where it was. */
export function lineChanges(from: string, to: string): string[] {
  const [old, now] = [from.split('\n'), to.split('\n')];
  // The longest common subsequence: configurations have hundreds of lines, not thousands.
  const lengths = Array.from({ length: old.length + 1 }, () => new Uint32Array(now.length + 1));
  const at = (i: number, j: number): number => lengths[i]?.[j] ?? 0;
  for (let i = old.length - 1; i >= 0; i -= 1)
    for (let j = now.length - 1; j >= 0; j -= 1)
      (lengths[i] as Uint32Array)[j] =
        old[i] === now[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
  const changes: string[] = [];
  for (let i = 0, j = 0; i < old.length || j < now.length; )
    if (i < old.length && j < now.length && old[i] === now[j]) [i, j] = [i + 1, j + 1];
    else if (j >= now.length || (i < old.length && at(i + 1, j) >= at(i, j + 1)))
      changes.push(`- ${old[i++] ?? ''}`);
    else changes.push(`+ ${now[j++] ?? ''}`);
  return changes;
}

function configLines({ before, after, holds }: ConfigChange, paint: View['paint']): string[] {
  if (before === undefined || after === undefined)
    return [paint('warning', 'slurm.conf cannot be rendered: see the conditions of the Controller.')];
  if (before === after) return ['slurm.conf stays the same.'];
  return [
    paint('strong', 'slurm.conf'),
    ...lineChanges(before, after)
      .filter((line) => line.slice(2).trim() !== '' && !line.slice(2).startsWith('#'))
      .map((line) => `  ${painted(line, paint)}`),
    'slurmctld reads it in place (scontrol reconfigure); jobs go on, and no pod is replaced for it.',
    ...holds.map(({ message }) => paint('warning', `! held back: ${printable(message)}`)),
  ];
}

function limitLines(
  { partition, from, to, tooLong, running }: LimitEffect,
  slurm: SlurmLists,
  paint: View['paint'],
): string[] {
  const change = `MaxTime of ${partition}: ${from ?? 'UNLIMITED'} → ${to ?? 'UNLIMITED'}`;
  if (slurm.kind === 'unknown') return [`${change}; which jobs that affects is not known: ${slurm.why}`];
  const lines = [`${change}.`];
  if (tooLong.length > 0)
    lines.push(
      paint(
        'warning',
        `! ${count(tooLong.length, 'pending job')} ${tooLong.length === 1 ? 'asks' : 'ask'} for more and would wait with PartitionTimeLimit: ${tooLong.slice(0, 5).join(', ')}${tooLong.length > 5 ? ' …' : ''}`,
      ),
    );
  if (running > 0)
    lines.push(
      `${count(running, 'running job')} with a longer limit ${running === 1 ? 'keeps' : 'keep'} it.`,
    );
  return lines;
}

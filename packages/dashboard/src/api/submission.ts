/** Reads a submission: the fields of the form, and the `#SBATCH` lines of the script where a field is empty. Pure. */
import { expandHostlist, InvalidInput, type JobSubmission, parseTimeLimit } from '@slurm-operator/slurm';
import { scriptOptions } from '../live/script-options.ts';
import { type BadField, isBadField, numberField, textField } from './read-input.ts';

const longestScript = 900_000;
const longestText = 4_000;
const mostNodes = 20_000;
const word = /^[\w.+,=:/[\]-]+$/;

const patterns = {
  partition: word,
  account: word,
  qos: word,
  tresPerNode: word,
  tresPerJob: word,
  licenses: /^[\w.+,=:@/|-]+$/,
  reservation: word,
  constraints: /^[\w.+,=:/[\]&|()*!-]+$/,
  array: /^[\d,:%-]+$/,
  dependency: /^[\w+,:?-]+$/,
} as const;
const free = { name: 200, comment: 1_000, standardOutput: longestText, standardError: longestText } as const;
const numbers = {
  nodes: 1,
  tasks: 1,
  cpusPerTask: 1,
  tasksPerNode: 1,
  // 0: all memory of a node.
  memory: 0,
  memoryPerCpu: 0,
} as const;

/** Checked here so that the form can show which field is wrong; Slurm checks everything again. */
export function readSubmission(body: Readonly<Record<string, unknown>>): JobSubmission | BadField {
  const script = textField(body, 'script', { most: longestScript, required: true });
  if (isBadField(script)) return script;
  if (script?.startsWith('#!') !== true)
    return { field: 'script', message: 'script must begin with an interpreter line such as #!/bin/sh.' };
  const { fields, problems } = scriptOptions(script);
  if (problems.length > 0 && body['unchecked'] !== true)
    return { field: 'script', message: problems.slice(0, 5).join(' ') };
  // A field wins over a line, as the command line of sbatch does.
  const filled = Object.entries(body).filter(([, value]) => value !== '' && value !== false);
  const given = { ...fields, ...Object.fromEntries(filled) };
  const values: Record<string, string | number> = {};
  for (const [field, pattern] of Object.entries(patterns)) {
    const value = textField(given, field, { pattern, most: longestText });
    if (isBadField(value)) return value;
    if (value !== undefined) values[field] = value;
  }
  for (const [field, most] of Object.entries(free)) {
    const value = textField(given, field, { most });
    if (isBadField(value)) return value;
    if (value !== undefined) values[field] = value;
  }
  for (const [field, least] of Object.entries(numbers)) {
    const value = numberField(given, field, { least, most: 1_000_000_000 });
    if (isBadField(value)) return value;
    if (value !== undefined) values[field] = value;
  }
  const directory = textField(given, 'directory', { most: longestText });
  if (isBadField(directory)) return directory;
  if (directory !== undefined && !directory.startsWith('/'))
    return { field: 'directory', message: `directory "${directory}" must begin with /.` };
  const timeLimit = textField(given, 'timeLimit', { most: 40 });
  if (isBadField(timeLimit)) return timeLimit;
  try {
    if (timeLimit !== undefined) parseTimeLimit(timeLimit);
  } catch (error) {
    if (error instanceof InvalidInput) return { field: 'timeLimit', message: error.message };
    throw error;
  }
  const requiredNodes = nodesField(given, 'requiredNodes');
  if (isBadField(requiredNodes)) return requiredNodes;
  const excludedNodes = nodesField(given, 'excludedNodes');
  if (isBadField(excludedNodes)) return excludedNodes;
  const { memoryPerCpu, tasksPerNode, tresPerJob, licenses, ...rest } = values;
  const more = {
    ...(memoryPerCpu !== undefined && {
      memory_per_cpu: { set: true, infinite: false, number: memoryPerCpu },
    }),
    ...(tasksPerNode !== undefined && { tasks_per_node: tasksPerNode }),
    ...(tresPerJob !== undefined && { tres_per_job: tresPerJob }),
    ...(licenses !== undefined && { licenses }),
  };
  const yes = (value: unknown) => value === true || value === 'yes';
  return {
    script,
    ...rest,
    ...(directory === undefined ? {} : { directory }),
    ...(timeLimit === undefined ? {} : { timeLimit }),
    ...(requiredNodes === undefined ? {} : { requiredNodes }),
    ...(excludedNodes === undefined ? {} : { excludedNodes }),
    ...(yes(given['hold']) ? { hold: true } : {}),
    ...(given['requeue'] === undefined ? {} : { requeue: yes(given['requeue']) }),
    ...(Object.keys(more).length === 0 ? {} : { more }),
  };
}

function nodesField(
  given: Readonly<Record<string, unknown>>,
  field: string,
): readonly string[] | undefined | BadField {
  const text = textField(given, field, { pattern: word, most: longestText });
  if (text === undefined || isBadField(text)) return text;
  try {
    return expandHostlist(text, mostNodes);
  } catch {
    return { field, message: `${field} "${text.slice(0, 40)}" is no list of nodes such as n[1-4],n7.` };
  }
}

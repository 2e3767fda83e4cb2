/** Reads the #SBATCH lines of a script: slurmrestd does not, so they become fields of the submission. Pure. */
import { expandHostlist, InvalidInput, type JobSubmission } from '@slurm-operator/slurm';
import { CliError } from '../errors.ts';

type Mutable = { -readonly [Key in keyof JobSubmission]: JobSubmission[Key] };
type Setter = (job: Mutable, value: string) => void;

const whole = (value: string, option: string): number => {
  if (!/^\d+$/.test(value)) throw new CliError(`#SBATCH --${option}=${value}: a whole number is needed.`);
  return Number(value);
};

function nodesIn(value: string): readonly string[] {
  try {
    return expandHostlist(value);
  } catch (error) {
    if (!(error instanceof InvalidInput)) throw error;
    throw new CliError(`#SBATCH --nodelist=${value}: write it like gpu-[0-3].`, { cause: error });
  }
}

/** `4G` → megabytes. 0 is all memory of each node, for Slurm too. */
export function megabytes(value: string): number {
  const found = /^(\d+)([KMGT]?)B?$/i.exec(value);
  if (found === null) throw new CliError(`#SBATCH --mem=${value}: write it like 4000M or 4G.`);
  const unit = { K: 1 / 1024, '': 1, M: 1, G: 1024, T: 1024 * 1024 }[(found[2] ?? '').toUpperCase()] ?? 1;
  return Math.ceil(Number(found[1]) * unit);
}

const options: Readonly<Record<string, Setter>> = {
  'job-name': (job, value) => (job.name = value),
  partition: (job, value) => (job.partition = value),
  account: (job, value) => (job.account = value),
  qos: (job, value) => (job.qos = value),
  reservation: (job, value) => (job.reservation = value),
  nodes: (job, value) => (job.nodes = whole(value, 'nodes')),
  nodelist: (job, value) => (job.requiredNodes = nodesIn(value)),
  ntasks: (job, value) => (job.tasks = whole(value, 'ntasks')),
  'cpus-per-task': (job, value) => (job.cpusPerTask = whole(value, 'cpus-per-task')),
  mem: (job, value) => (job.memory = megabytes(value)),
  gres: (job, value) =>
    (job.tresPerNode = value
      .split(',')
      .map((one) => (one.startsWith('gres/') ? one : `gres/${one}`))
      .join(',')),
  'gpus-per-node': (job, value) => (job.tresPerNode = `gres/gpu:${value}`),
  time: (job, value) => (job.timeLimit = value),
  constraint: (job, value) => (job.constraints = value),
  comment: (job, value) => (job.comment = value),
  chdir: (job, value) => (job.directory = value),
  output: (job, value) => (job.standardOutput = value),
  error: (job, value) => (job.standardError = value),
  array: (job, value) => (job.array = value),
  dependency: (job, value) => (job.dependency = value),
  hold: (job) => (job.hold = true),
  requeue: (job) => (job.requeue = true),
  'no-requeue': (job) => (job.requeue = false),
};

const shorts: Readonly<Record<string, string>> = {
  J: 'job-name',
  p: 'partition',
  A: 'account',
  q: 'qos',
  N: 'nodes',
  w: 'nodelist',
  n: 'ntasks',
  c: 'cpus-per-task',
  t: 'time',
  C: 'constraint',
  D: 'chdir',
  o: 'output',
  e: 'error',
  a: 'array',
  d: 'dependency',
  H: 'hold',
};
const switches = new Set(['hold', 'requeue', 'no-requeue']);

export function readBatchScript(script: string, file: string): JobSubmission {
  if (!script.startsWith('#!'))
    throw new CliError(`${file} does not begin with an interpreter line such as #!/bin/sh.`);
  const job: Mutable = { script };
  for (const line of script.split('\n')) {
    const text = line.trim();
    if (text !== '' && !text.startsWith('#')) break;
    const directive = /^#SBATCH\s+(.*)$/.exec(text)?.[1]?.replace(/\s+#.*$/, '');
    if (directive === undefined) continue;
    for (const [option, value] of words(directive)) {
      const name = option.length === 1 ? (shorts[option] ?? option) : option;
      const set = options[name];
      if (set === undefined)
        throw new CliError(
          `#SBATCH --${name} of ${file} is not known to kubectl slurm submit: submit it with sbatch on a login node (kubectl slurm ssh login).`,
        );
      set(job, value);
    }
  }
  return job;
}

/** `-N 2 --time=5` → pairs. */
function words(directive: string): readonly (readonly [string, string])[] {
  const parts = directive.match(/"[^"]*"|'[^']*'|[^\s"']+(?:"[^"]*"|'[^']*')?/g) ?? [];
  const pairs: [string, string][] = [];
  for (let index = 0; index < parts.length; index += 1) {
    const part = parts[index] ?? '';
    const long = /^--([\w-]+)(?:=(.*))?$/.exec(part);
    const short = /^-([A-Za-z])(.*)$/.exec(part);
    const name = long?.[1] ?? short?.[1];
    if (name === undefined) throw new CliError(`#SBATCH ${directive}: "${part}" is not an option.`);
    let value = long === null ? short?.[2] : long[2];
    if ((value === undefined || value === '') && !switches.has(shorts[name] ?? name))
      value = parts[(index += 1)];
    pairs.push([name, (value ?? '').replace(/^(["'])(.*)\1$/, '$2')]);
  }
  return pairs;
}

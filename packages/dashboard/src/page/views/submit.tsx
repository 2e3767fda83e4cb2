/** A script and a few fields, checked before they are sent; a wrong field is named beside it. */
import type { SlurmJob } from '@slurm-operator/slurm';
import { useEffect, useState } from 'preact/hooks';
import { scriptOptions } from '../../live/script-options.ts';
import type { Address } from '../address.ts';
import type { LiveCluster } from '../live-cluster.ts';
import { read, ServerError, write } from '../server.ts';
import { useRead } from '../use-read.ts';

const fields = [
  ['name', 'Name'],
  ['partition', 'Partition'],
  ['account', 'Account'],
  ['qos', 'QOS'],
  ['nodes', 'Nodes'],
  ['tasks', 'Tasks'],
  ['cpusPerTask', 'CPUs per task'],
  ['memory', 'Memory per node, MB'],
  ['tresPerNode', 'Per node, such as gres/gpu:2'],
  ['constraints', 'Features, such as a100&nvlink'],
  ['array', 'Array, such as 0-9%2'],
  ['dependency', 'Depends on, such as afterok:41'],
  ['timeLimit', 'Time limit, such as 01:30:00'],
  ['directory', 'Directory'],
  ['standardOutput', 'Output file'],
] as const;
const shownFields = new Set<string>([...fields.map(([name]) => name), 'hold']);

interface Template {
  readonly name: string;
  readonly description: string;
  readonly script: string;
}

interface Problem {
  readonly field: string;
  readonly message: string;
  /** The job could be sent: it would wait, or be another one than its script says. */
  readonly isDoubt: boolean;
}

const emptyScript = '#!/bin/bash\nsrun hostname\n';
const none: Problem = { field: '', message: '', isDoubt: false };

export function Submit({
  at,
  live,
  onSubmitted,
}: {
  at: Extract<Address, { cluster: string }>;
  live: LiveCluster;
  onSubmitted: (id: number) => void;
}) {
  const from = at.query.get('from') ?? '';
  const templates = useRead<{ templates: readonly Template[] }>(`${live.base}/templates`);
  const [script, setScript] = useState(emptyScript);
  const [values, setValues] = useState<Readonly<Record<string, string>>>({});
  const [hold, setHold] = useState(false);
  const [note, setNote] = useState('');
  const [problem, setProblem] = useState<Problem>(none);
  const [busy, setBusy] = useState(false);
  const largest = Math.max(0, ...[...live.nodes.value.values()].map(({ memory }) => memory));
  const lines = scriptOptions(script);
  const elsewhere = Object.entries(lines.fields).filter(([name]) => !shownFields.has(name));

  useEffect(() => {
    if (from === '') return;
    let isCurrent = true;
    const fill = async () => {
      const copy = await copyOf(live.base, from);
      if (!isCurrent) return;
      setValues(copy.values);
      if (copy.script !== '') setScript(copy.script);
      setNote(copy.note);
    };
    void fill();
    return () => {
      isCurrent = false;
    };
  }, [live.base, from]);

  const send = async (unchecked: boolean) => {
    setBusy(true);
    setProblem(none);
    try {
      const { id } = await write<{ id: number }>(`${live.base}/jobs`, { ...values, script, hold, unchecked });
      onSubmitted(id);
    } catch (error) {
      const field = error instanceof ServerError ? (error.field ?? '') : '';
      const isDoubt =
        error instanceof ServerError && ((error.status === 409 && field !== '') || (field === 'script' && lines.problems.length > 0));
      setProblem({ field, message: error instanceof Error ? error.message : 'That did not work.', isDoubt });
    }
    setBusy(false);
  };
  const wrong = (name: string) =>
    problem.field === name && (
      <span class="field-error" role="alert">
        {problem.message}
      </span>
    );
  const choose = (name: string) => {
    const template = templates.value?.templates.find((one) => one.name === name);
    if (template === undefined) return;
    setScript(template.script);
    setValues({});
    setNote(template.description);
    setProblem(none);
  };
  const hasField = (name: string) => name === 'script' || fields.some(([known]) => known === name);
  return (
    <section>
      <h2 class="page">Submit a job to {at.cluster}</h2>
      <p class="quiet">
        A field wins over an #SBATCH line of the script; where both are empty, Slurm's default counts. The largest node has {largest} MB.
      </p>
      {(templates.value?.templates.length ?? 0) > 0 && (
        <label class="template">
          Begin with a template
          <select onChange={(event) => choose(event.currentTarget.value)}>
            <option value="">none</option>
            {templates.value?.templates.map(({ name }) => (
              <option key={name} value={name}>
                {name}
              </option>
            ))}
          </select>
        </label>
      )}
      {note !== '' && <p class="notice">{note}</p>}
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void send(false);
        }}
      >
        <label>
          Script
          <textarea name="script" required spellcheck={false} value={script} onInput={(event) => setScript(event.currentTarget.value)} />
          {wrong('script')}
        </label>
        {lines.problems.length > 0 && problem.field !== 'script' && <p class="warning small">{lines.problems.join(' ')}</p>}
        {elsewhere.length > 0 && (
          <p class="quiet small">Also from the script: {elsewhere.map(([name, value]) => `${name} ${value}`).join(', ')}</p>
        )}
        <div class="fields">
          {fields.map(([name, title]) => (
            <label key={name}>
              {title}
              <input
                name={name}
                autocomplete="off"
                placeholder={lines.fields[name] === undefined ? '' : `${lines.fields[name]} (script)`}
                value={values[name] ?? ''}
                onInput={(event) => setValues({ ...values, [name]: event.currentTarget.value })}
              />
              {wrong(name)}
            </label>
          ))}
          <label class="check">
            <input name="hold" type="checkbox" checked={hold || lines.fields['hold'] !== undefined} onChange={(event) => setHold(event.currentTarget.checked)} />
            Hold
          </label>
        </div>
        {!hasField(problem.field) && problem.message !== '' && (
          <p class="bad" role="alert">
            {problem.message}
          </p>
        )}
        <div class="actions">
          <button class="main" type="submit" disabled={busy}>
            Submit
          </button>
          {problem.isDoubt && (
            <button type="button" disabled={busy} onClick={() => void send(true)}>
              Submit all the same
            </button>
          )}
        </div>
      </form>
    </section>
  );
}

/** What is known of a job, as fields of the form. */
async function copyOf(base: string, id: string) {
  const path = `${base}/jobs/${encodeURIComponent(id)}`;
  const [job, script] = await Promise.all([
    read<{ job: SlurmJob }>(path).then(
      (answer) => answer.job,
      () => undefined,
    ),
    read<{ script: string }>(`${path}/record`).then(
      (answer) => answer.script,
      () => '',
    ),
  ]);
  const text = (value: string | number | undefined) => (value === undefined ? '' : String(value));
  const values: Readonly<Record<string, string>> =
    job === undefined
      ? {}
      : {
          name: job.name,
          partition: job.partition,
          account: job.account,
          qos: job.qos,
          nodes: text(job.nodeCount),
          memory: text(job.memoryPerNode),
          tresPerNode: job.tresPerNode,
          constraints: job.constraints,
          timeLimit: job.timeLimit === 'infinite' ? 'infinite' : text(job.timeLimit),
          directory: job.workingDirectory,
        };
  const note =
    script !== ''
      ? `With the script of job ${id}.`
      : job === undefined
        ? `Job ${id} is not known any more.`
        : `With what job ${id} asked for. Its script is not kept: Slurm keeps scripts with AccountingStoreFlags=job_script.`;
  return { values: Object.fromEntries(Object.entries(values).filter(([, value]) => value !== '')), script, note };
}

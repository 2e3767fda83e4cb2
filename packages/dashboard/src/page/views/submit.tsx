/** A script and a few fields, checked before they are sent; a wrong field is named beside it. */
import { useState } from 'preact/hooks';
import type { Address } from '../address.ts';
import type { LiveCluster } from '../live-cluster.ts';
import { ServerError, write } from '../server.ts';

const fields = [
  ['name', 'Name'],
  ['partition', 'Partition'],
  ['account', 'Account'],
  ['nodes', 'Nodes'],
  ['tasks', 'Tasks'],
  ['cpusPerTask', 'CPUs per task'],
  ['memory', 'Memory per node, MB'],
  ['tresPerNode', 'Per node, such as gres/gpu:2'],
  ['timeLimit', 'Time limit, such as 01:30:00'],
  ['directory', 'Directory'],
] as const;

export function Submit({
  at,
  live,
  onSubmitted,
}: {
  at: Extract<Address, { cluster: string }>;
  live: LiveCluster;
  onSubmitted: (id: number) => void;
}) {
  const [problem, setProblem] = useState<{ readonly field: string; readonly message: string }>({ field: '', message: '' });
  const [busy, setBusy] = useState(false);
  const largest = Math.max(0, ...[...live.nodes.value.values()].map(({ memory }) => memory));
  const submit = async (event: SubmitEvent) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget as HTMLFormElement);
    setBusy(true);
    setProblem({ field: '', message: '' });
    try {
      const { id } = await write<{ id: number }>(`${live.base}/jobs`, { ...Object.fromEntries(form), hold: form.has('hold') });
      onSubmitted(id);
    } catch (error) {
      const field = error instanceof ServerError ? (error.field ?? '') : '';
      setProblem({ field, message: error instanceof Error ? error.message : 'That did not work.' });
    }
    setBusy(false);
  };
  const wrong = (name: string) =>
    problem.field === name && (
      <span class="field-error" role="alert">
        {problem.message}
      </span>
    );
  return (
    <section>
      <h2 class="page">Submit a job to {at.cluster}</h2>
      <p class="quiet">
        Empty fields take Slurm's defaults; #SBATCH lines in the script are not read here. The largest node has {largest} MB.
      </p>
      <form onSubmit={(event) => void submit(event)}>
        <label>
          Script
          <textarea name="script" required spellcheck={false}>
            {'#!/bin/bash\nsrun hostname\n'}
          </textarea>
          {wrong('script')}
        </label>
        <div class="fields">
          {fields.map(([name, title]) => (
            <label key={name}>
              {title}
              <input name={name} autocomplete="off" />
              {wrong(name)}
            </label>
          ))}
          <label class="check">
            <input name="hold" type="checkbox" />
            Hold
          </label>
        </div>
        {problem.field === '' && problem.message !== '' && (
          <p class="bad" role="alert">
            {problem.message}
          </p>
        )}
        <button class="main" type="submit" disabled={busy}>
          Submit
        </button>
      </form>
    </section>
  );
}

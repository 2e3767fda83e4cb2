/**
 * Seconds from an edit of extraConf until slurmctld uses it, and where they go: the pod of the trial, the trial itself, and the time from
 * the new file to `scontrol show config`. With one slurmctld and two workers under no load. Needs root.
 */
import { conditionType } from '@slurm-operator/api';
import { configMaps, type Pod, pods } from '@slurm-operator/kube';
import { controllers } from '@slurm-operator/operator';
import { Figures } from '../../tools/bench/figures.ts';
import { namespace, SlurmStage, stageConf } from '../src/slurm-stage.ts';
import { slurmCommand } from '../src/soak/operations/operation.ts';
import { until } from '../src/until.ts';

const edits = Number(process.env['EDITS'] ?? 5);
const figures = new Figures();
await using stage = await SlurmStage.open({ name: `bench-config-${process.pid}`, nodes: 2 });
const { client } = stage;
await stage.startSlurm();
await stage.createNodeSet('w', { replicas: 2 });
await stage.untilReady('w', 2, { seconds: 600 });

const applied = async () => {
  const { status } = await client.get(controllers, { namespace, name: 'main' });
  return status?.conditions?.find(({ type }) => type === conditionType.configApplied)?.status === 'True';
};
const trialPod = async (): Promise<Pod | undefined> =>
  (await client.find(pods, { namespace, name: 'main-config-check' })) as Pod | undefined;
const fileHas = async (line: string) => {
  const map = await client.find(configMaps, { namespace, name: 'main-config' });
  return map?.data?.['slurm.conf']?.includes(line);
};

interface Edit {
  /** Seconds since the edit. */
  readonly pod: number;
  readonly runs: number;
  readonly decided: number;
  readonly used: number;
}

async function measure(at: number): Promise<Edit> {
  await until('the last edit is over', async () => (await applied()) && (await trialPod()) === undefined);
  const line = `MessageTimeout=${20 + at}`;
  const began = performance.now();
  const seconds = () => (performance.now() - began) / 1000;
  await client.mergePatch(
    controllers,
    { namespace, name: 'main' },
    { spec: { extraConf: `${stageConf}\n${line}` } },
  );
  const pod = await until('the pod of the trial', async () => ((await trialPod()) ? seconds() : undefined));
  const runs = await until('the trial runs', async () => {
    const states = (await trialPod())?.status?.containerStatuses?.map(({ state }) => state) ?? [];
    const started = states.length > 0 && states.every((state) => state?.running ?? state?.terminated);
    return started || (await fileHas(line)) ? seconds() : undefined;
  });
  const decided = await until('the file has it', async () => ((await fileHas(line)) ? seconds() : undefined));
  const used = await until('slurmctld uses it', async () => {
    const shown = (await slurmCommand(stage, 'scontrol', 'show', 'config')) ?? '';
    return new RegExp(`MessageTimeout\\s+= ${20 + at} sec`).test(shown) ? seconds() : undefined;
  });
  return { pod, runs, decided, used };
}

const all: Edit[] = [];
for (let at = 1; at <= edits; at += 1) {
  const edit = await measure(at);
  all.push(edit);
  console.log(
    Object.entries(edit)
      .map(([what, seconds]) => `${what} ${(seconds as number).toFixed(2)}`)
      .join(' '),
  );
}
const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
const of = (pick: (edit: Edit) => number) => median(all.map(pick));
figures.note(
  'from the edit to the pod of the trial (s)',
  'pod_seconds',
  of(({ pod }) => pod),
);
figures.note(
  'until its containers run (s)',
  'start_seconds',
  of(({ pod, runs }) => runs - pod),
);
figures.note(
  'the trial (s)',
  'trial_seconds',
  of(({ runs, decided }) => decided - runs),
);
figures.note(
  'from the file to slurmctld (s)',
  'reconfigure_seconds',
  of(({ decided, used }) => used - decided),
);
figures.note(
  'from the edit to slurmctld, median (s)',
  'edit_seconds',
  of(({ used }) => used),
  6,
);
figures.note('slowest (s)', 'slowest_seconds', Math.max(...all.map(({ used }) => used)));
figures.printJson('config');

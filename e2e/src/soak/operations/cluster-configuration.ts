/** What people do to the configuration of the whole cluster. */
import { conditionType } from '@slurm-operator/api';
import { currentCondition } from '@slurm-operator/demo/waiting';
import { controllers } from '@slurm-operator/operator';
import { namespace } from '../../slurm-stage.ts';
import { soakConf } from '../soak-conf.ts';
import { type Operation, patch, pause, type Run, type Soaking } from './operation.ts';

const changeExtraConf: Run = async (soak) => {
  const draw = soak.random.below(8);
  const future = soak.random.below(3) === 0;
  const lines = [
    ...soakConf,
    `MessageTimeout=${20 + draw}`,
    ...(draw > 3 ? ['PartitionName=extra Nodes=ALL State=UP MaxTime=INFINITE'] : []),
    // Not listed by Slurm, but part of MaxNodeCount.
    ...(future ? ['NodeName=future-[1-6] CPUs=1 State=FUTURE'] : []),
  ];
  await patch(soak, controllers, 'main', { extraConf: lines.join('\n') });
  return `extraConf: MessageTimeout=${20 + draw}, partition extra ${draw > 3 ? 'there' : 'gone'}${future ? ', FUTURE nodes' : ''}`;
};

/** Over the boundary: below the number of workers that there are, and above it. */
const maxNodeCount: Run = async (soak) => {
  const count = soak.random.pick([2, 4, 8, 16, null]) ?? null;
  await patch(soak, controllers, 'main', { maxNodeCount: count });
  return `maxNodeCount ${count ?? 'automatic'}`;
};

/** In one order FUTURE nodes leave no room for a lower MaxNodeCount, in the other MaxNodeCount has no room for them: what came later waits. */
const futureNodes: Run = async (soak) => {
  const first = soak.random.below(2);
  const future = 'NodeName=future-[1-6] CPUs=1 State=FUTURE';
  const steps = [{ maxNodeCount: 8 }, { extraConf: [...soakConf, future].join('\n') }];
  await patch(soak, controllers, 'main', { maxNodeCount: null, extraConf: soakConf.join('\n') });
  await isInForce(soak);
  await patch(soak, controllers, 'main', steps[first] ?? {});
  await isInForce(soak);
  await patch(soak, controllers, 'main', steps[1 - first] ?? {});
  await isInForce(soak);
  await pause(5_000);
  await patch(soak, controllers, 'main', { maxNodeCount: null, extraConf: soakConf.join('\n') });
  return `FUTURE nodes ${first === 0 ? 'after' : 'before'} maxNodeCount 8`;
};

/** Below the number of workers that there are, for as long as it takes to come into force or to be held. */
const lowerMaxNodeCount: Run = async (soak) => {
  const count = soak.random.pick([2, 3, 4]) ?? 2;
  await patch(soak, controllers, 'main', { maxNodeCount: null });
  await isInForce(soak);
  await patch(soak, controllers, 'main', { maxNodeCount: count });
  await isInForce(soak);
  await pause(5_000);
  await patch(soak, controllers, 'main', { maxNodeCount: null });
  return `maxNodeCount ${count} for a while, and automatic again`;
};

/** Until slurmctld uses what was asked for, or it takes too long: something of it may be held. */
async function isInForce({ stage }: Soaking): Promise<void> {
  const deadline = Date.now() + 30_000;
  const applied = async () => {
    const main = await stage.client.get(controllers, { namespace, name: 'main' });
    const isCurrent = main.status?.observedGeneration === main.metadata.generation;
    return isCurrent && currentCondition(main, conditionType.configApplied)?.status === 'True';
  };
  do await pause(1_000);
  while (!(await applied()) && Date.now() < deadline);
}

const annotateController: Run = async ({ stage, random }) => {
  const annotations = { 'backup.example/at': String(random.below(1e9)) };
  await stage.client.mergePatch(controllers, { namespace, name: 'main' }, { metadata: { annotations } });
  return 'annotate the Controller';
};

const toggleStandby: Run = async (soak) => {
  const enabled = soak.random.below(2) === 0;
  if (!soak.stage.tellsWhoIsActive) return 'no standby: this slurmctld does not tell which one is active';
  await patch(soak, controllers, 'main', { ha: enabled ? { enabled, backups: 1 } : null });
  soak.outages.restarts.push(Date.now());
  return `${enabled ? 'a' : 'no'} standby of slurmctld`;
};

export const ofConfiguration: readonly Operation[] = [
  { kind: 'change extraConf of the Controller', weight: 2, run: changeExtraConf },
  { kind: 'change maxNodeCount', weight: 2, run: maxNodeCount },
  { kind: 'maxNodeCount below the workers', needs: ['MaxNodeCount'], run: lowerMaxNodeCount },
  { kind: 'FUTURE nodes and maxNodeCount', needs: ['MaxNodeCount'], run: futureNodes },
  { kind: 'annotate the Controller', run: annotateController },
  { kind: 'standby on or off', run: toggleStandby },
];

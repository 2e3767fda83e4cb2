/** What people do to the configuration of the whole cluster. */
import { controllers } from '@slurm-operator/operator';
import { namespace } from '../../slurm-stage.ts';
import { soakConf } from '../soak-conf.ts';
import { type Operation, patch, type Run } from './operation.ts';

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
  { kind: 'annotate the Controller', run: annotateController },
  { kind: 'standby on or off', run: toggleStandby },
];

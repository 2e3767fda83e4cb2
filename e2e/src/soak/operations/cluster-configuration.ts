/** What people do to the configuration of the whole cluster, and to its other objects. */
import { randomBytes } from 'node:crypto';
import { secrets } from '@slurm-operator/kube';
import { controllers, restApis, tokens } from '@slurm-operator/operator';
import { namespace } from '../../slurm-stage.ts';
import { soakConf } from '../soak-conf.ts';
import { type Operation, patch, type Run } from './operation.ts';

const changeExtraConf: Run = async (soak) => {
  const draw = soak.random.below(8);
  const lines = [
    ...soakConf,
    `MessageTimeout=${20 + draw}`,
    ...(draw > 3 ? ['PartitionName=extra Nodes=ALL State=UP MaxTime=INFINITE'] : []),
  ];
  await patch(soak, controllers, 'main', { extraConf: lines.join('\n') });
  return `extraConf: MessageTimeout=${20 + draw}, partition extra ${draw > 3 ? 'there' : 'gone'}`;
};

/** Over the boundary: below the number of workers that there are, and above it. */
const maxNodeCount: Run = async (soak) => {
  const count = soak.random.pick([2, 4, 8, 16, null]) ?? null;
  await patch(soak, controllers, 'main', { maxNodeCount: count });
  return `maxNodeCount ${count ?? 'by itself'}`;
};

const annotateController: Run = async ({ stage, random }) => {
  const annotations = { 'backup.example/at': String(random.below(1e9)) };
  await stage.client.mergePatch(controllers, { namespace, name: 'main' }, { metadata: { annotations } });
  return 'annotate the Controller';
};

const rotateSlurmKey: Run = async ({ stage }) => {
  const data = { 'slurm.key': randomBytes(768).toString('base64') };
  await stage.client.mergePatch(secrets, { namespace, name: 'keys' }, { data });
  return 'a new slurm.key';
};

const changeRestApi: Run = async (soak) => {
  const replicas = 1 + soak.random.below(2);
  await patch(soak, restApis, 'main', { replicas });
  return `${replicas} slurmrestd`;
};

const restartRestApi: Run = async (soak) => {
  const rolled = String(soak.random.below(1e9));
  await patch(soak, restApis, 'main', { template: { metadata: { annotations: { rolled } } } });
  return 'a new template of slurmrestd';
};

const toggleToken: Run = async ({ stage }) => {
  const at = { namespace, name: 'alice' };
  if ((await stage.client.find(tokens, at)) !== undefined) {
    await stage.client.delete(tokens, at);
    return 'delete Token alice';
  }
  const spec = { username: 'slurm', jwtKeyRef: { name: 'keys', key: 'jwt.key' } };
  await stage.create(tokens, 'Token', 'alice', spec);
  return 'create Token alice';
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
  { kind: 'rotate slurm.key', run: rotateSlurmKey },
  { kind: 'change the RestApi', run: changeRestApi },
  { kind: 'roll slurmrestd out', run: restartRestApi },
  { kind: 'create or delete a Token', run: toggleToken },
  { kind: 'standby on or off', run: toggleStandby },
];

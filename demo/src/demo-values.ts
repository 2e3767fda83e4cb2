/** The values of the chart slurm in the demo: every kind, three workers in two partitions. */
import { passwd, peopleObjects } from './demo-people.ts';
import { smallMachine } from './install/install.ts';
import { demoNamespace, releases, workers } from './names.ts';

export interface DemoValuesOptions {
  readonly publicKey: string;
  readonly registry: string;
  /** How many machines can take workers. */
  readonly machines: number;
}

/** Slurm itself must know whose jobs it runs: slurmctld, slurmd, which starts them, and slurmrestd, which names their owners. */
const mount = { volumeMounts: [{ name: 'people', mountPath: '/etc/passwd', subPath: 'passwd' }] };
const volume = { volumes: [{ name: 'people', configMap: { name: 'demo-people' } }] };

export const demoValues = ({ publicKey, registry, machines }: DemoValuesOptions): object => ({
  ...smallMachine,
  registry,
  // Tokens for root and slurm can do anything, so the key itself must say that there may be some.
  jwtKey: { annotations: { 'slinky.slurm.net/token-users': 'root,slurm' } },
  controller: { ...smallMachine.controller, slurmctld: mount, podSpec: volume },
  restapi: { slurmrestd: mount, podSpec: volume },
  accounting: { enabled: true },
  loginsets: { main: { rootSshAuthorizedKeys: publicKey, service: { spec: { type: 'ClusterIP' } } } },
  // A worker wants a machine of its own, where there are enough.
  nodesetDefaults: { oversubscribeNode: machines < workers, slurmd: mount, podSpec: volume },
  nodesets: {
    short: {
      replicas: workers - 1,
      partition: { enabled: true, configMap: { Default: true, MaxTime: 60, State: 'UP' } },
    },
    long: { replicas: 1, partition: { enabled: true, configMap: { MaxTime: 'UNLIMITED', State: 'UP' } } },
  },
  extraObjects: [
    { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'demo-people' }, data: { passwd } },
    ...peopleObjects,
    {
      apiVersion: 'slinky.slurm.net/v1beta1',
      kind: 'Token',
      metadata: { name: 'demo', namespace: demoNamespace },
      spec: {
        username: 'root',
        lifetime: '1h',
        jwtKeyRef: { name: `${releases.slurm.name}-auth-jwt`, key: 'jwt.key' },
        secretRef: { name: 'demo-token', key: 'SLURM_JWT' },
      },
    },
  ],
});

/** The values of the chart slurm in the demo: every kind, three workers in two partitions. */
import { smallMachine } from './install/install.ts';
import { demoNamespace, releases, workers } from './names.ts';

export interface DemoValuesOptions {
  readonly publicKey: string;
  readonly registry: string;
  /** How many machines can take workers. */
  readonly machines: number;
}

export const demoValues = ({ publicKey, registry, machines }: DemoValuesOptions): object => ({
  ...smallMachine,
  registry,
  // A token for root can do anything, so the key itself must say that there may be one.
  jwtKey: { annotations: { 'slinky.slurm.net/token-users': 'root' } },
  accounting: { enabled: true },
  loginsets: { main: { rootSshAuthorizedKeys: publicKey, service: { spec: { type: 'ClusterIP' } } } },
  // A worker wants a machine of its own, where there are enough.
  nodesetDefaults: { oversubscribeNode: machines < workers },
  nodesets: {
    short: {
      replicas: workers - 1,
      partition: { enabled: true, configMap: { Default: true, MaxTime: 60, State: 'UP' } },
    },
    long: { replicas: 1, partition: { enabled: true, configMap: { MaxTime: 'UNLIMITED', State: 'UP' } } },
  },
  extraObjects: [
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

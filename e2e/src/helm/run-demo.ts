/** The demo: a whole Slurm cluster from the charts, a job through ssh and one through REST, and a look around. */
import { randomBytes } from 'node:crypto';
import { Helm } from '@slurm-operator/charts';
import { createClient, kubeconfigConfig, sleep } from '@slurm-operator/kube';
import { installMariadb, installOperator, installSlurm, smallMachine } from './install.ts';
import { Kubectl } from './kubectl.ts';
import { LoginKey } from './login-session.ts';
import { RestSession } from './rest-session.ts';
import { untilReady } from './slurm-kinds.ts';

export const demoNamespace = 'slurm';
const name = 'slurm';
const restVersion = 'v0.0.45';

export interface DemoResult {
  readonly ready_seconds: number;
  readonly jobs_completed: number;
  readonly kinds_ready: number;
}

export interface DemoOptions {
  readonly kubeconfig: string;
  readonly helm: Helm;
  /** A step begins. */
  readonly step: (title: string) => void;
  /** Something happened, or a program spoke. */
  readonly say: (line: string) => void;
}

const values = (publicKey: string) => ({
  ...smallMachine,
  // A token for root can do anything, so the key itself must say that there may be one.
  jwtKey: { annotations: { 'slinky.slurm.net/token-users': 'root' } },
  accounting: { enabled: true },
  loginsets: { main: { rootSshAuthorizedKeys: publicKey, service: { spec: { type: 'ClusterIP' } } } },
  nodesets: {
    short: {
      replicas: 2,
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
        jwtKeyRef: { name: `${name}-auth-jwt`, key: 'jwt.key' },
        secretRef: { name: 'demo-token', key: 'SLURM_JWT' },
      },
    },
  ],
});

export async function runDemo({ kubeconfig, helm, step, say }: DemoOptions): Promise<DemoResult> {
  const began = performance.now();
  const kubectl = await Kubectl.open(kubeconfig);
  await using key = await LoginKey.make();
  const client = createClient(await kubeconfigConfig({ files: [kubeconfig] }), {
    userAgent: 'slurm-operator-demo',
  });
  try {
    step('the charts: custom resources and the operator');
    await installOperator(helm);
    step('a database, and the chart slurm');
    await installMariadb(kubectl, demoNamespace, randomBytes(12).toString('hex'));
    await installSlurm(helm, { release: name, namespace: demoNamespace, values: values(key.publicKey) });
    const kinds = await untilReady(client, demoNamespace, {
      timeoutMs: 300_000,
      onReady: ({ kind, name: object }) => say(`${kind} ${object} is Ready`),
    });
    const ready = (performance.now() - began) / 1000;

    step('a job through ssh');
    let completed = 0;
    const show = (text: string) => {
      for (const line of text.trimEnd().split('\n')) say(line);
    };
    {
      await using door = await kubectl.forward(demoNamespace, `service/${name}-login-main`, 22);
      const script = '#!/bin/sh\nsrun hostname\n';
      const ran = await key.run(door.port, 'cd /tmp && sbatch --wait --nodes=2 --job-name=from-ssh', {
        input: script,
      });
      show(ran.stdout);
      completed += 1; // --wait: sbatch ends badly when the job did
    }
    step(`a job through REST ${restVersion}`);
    {
      await using door = await kubectl.forward(demoNamespace, `service/${name}-restapi`, 6820);
      const secret = await kubectl.say(
        '--namespace',
        demoNamespace,
        'get',
        'secret',
        'demo-token',
        '--output=jsonpath={.data.SLURM_JWT}',
      );
      const token = Buffer.from(secret, 'base64').toString('utf8');
      const rest = new RestSession({ port: door.port, version: restVersion, token });
      const job = await rest.submit('#!/bin/sh\nhostname\n', { partition: 'long' });
      const state = await rest.end(job);
      say(`job ${job}: ${state}`);
      if (state === 'COMPLETED') completed += 1;
    }
    const inside = (...command: string[]) =>
      kubectl.say(
        '--namespace',
        demoNamespace,
        'exec',
        `${name}-controller-0`,
        '--container=slurmctld',
        '--',
        ...command,
      );
    for (const command of [['sinfo'], ['squeue']]) {
      step(command.join(' '));
      show(await inside(...command));
    }
    step('sacct');
    const records = () =>
      inside('sacct', '--allusers', '--allocations', '--format=JobID,JobName%12,Partition,State,NodeList%20');
    // slurmctld passes its records on when it finds the time.
    const deadline = performance.now() + 60_000;
    while ((await records()).split('COMPLETED').length - 1 < completed) {
      if (performance.now() > deadline)
        throw new Error(`accounting does not know the jobs:\n${await records()}`);
      await sleep(500, AbortSignal.timeout(5_000));
    }
    show(await records());
    step('kubectl get slurm');
    show(await kubectl.say('--namespace', demoNamespace, 'get', 'slurm'));
    return {
      ready_seconds: Number(ready.toFixed(1)),
      jobs_completed: completed,
      kinds_ready: new Set(kinds.map(({ kind }) => kind)).size,
    };
  } finally {
    client.close();
  }
}

/** Takes away what the demo put onto a cluster of somebody's own. */
export async function removeDemo({
  kubeconfig,
  helm,
  step,
}: Pick<DemoOptions, 'kubeconfig' | 'helm' | 'step'>): Promise<void> {
  const kubectl = await Kubectl.open(kubeconfig);
  const gone = { allowFailure: true };
  step('uninstalling the charts');
  await helm.run(['uninstall', name, '--namespace', demoNamespace, '--wait', '--timeout', '3m'], gone);
  await kubectl.run(['delete', 'namespace', demoNamespace, '--ignore-not-found', '--timeout=3m'], {
    timeoutMs: 240_000,
  });
  await helm.run(['uninstall', 'slurm-operator', '--namespace', 'slinky', '--wait'], gone);
  await helm.run(['uninstall', 'slurm-operator-crds', '--namespace', 'slinky'], gone);
  const { stdout } = await kubectl.run(['get', 'crd', '--output=name'], gone);
  const ours = stdout.split('\n').filter((line) => line.endsWith('.slinky.slurm.net'));
  if (ours.length > 0) await kubectl.run(['delete', ...ours]);
  await kubectl.run(['delete', 'namespace', 'slinky', '--ignore-not-found', '--timeout=2m'], {
    timeoutMs: 180_000,
  });
}

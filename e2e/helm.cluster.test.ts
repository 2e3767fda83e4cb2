/** The charts with real daemons: installed, used, scaled, rolled, upgraded under load, uninstalled. */
import assert from 'node:assert/strict';
import { cp, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before as beforeAll, describe, it } from 'node:test';
import { kinds as customKinds } from '@slurm-operator/api';
import { type ChartName, chart } from '@slurm-operator/charts';
import type { RestSession } from '@slurm-operator/demo/install';
import { installSlurm, LoginKey, operatorNamespace, smallMachine } from '@slurm-operator/demo/install';
import { buildOperatorImage } from '@slurm-operator/images';
import {
  configMaps,
  customResourceDefinitions,
  deployments,
  findCondition,
  type Pod,
  persistentVolumeClaims,
  pods,
  secrets,
  services,
  statefulSets,
} from '@slurm-operator/kube';
import { clusters, controllers, nodeSets } from '@slurm-operator/operator';
import { writeImageTar } from '@slurm-operator/sandbox';
import {
  installMariadb,
  installOperator,
  loadsImages,
  needsCluster,
  needsTestImages,
} from './src/given/given-cluster.ts';
import { HelmStage } from './src/helm/helm-stage.ts';
import { until, untilAllReady } from './src/until.ts';

const namespace = 'slurm';
const token = { namespace, name: 'tester-token' };

describe('the charts with Slurm 26.05', {
  ...needsCluster(3),
  concurrency: false,
  timeout: 1_500_000,
}, () => {
  let stage: HelmStage;
  let key: LoginKey;
  let rest: RestSession;
  let held = 0;

  const values = (compute: object) => ({
    ...smallMachine,
    ...stage.images,
    controller: {
      ...smallMachine.controller,
      // A volume of this machine's class, so that what stays of it can be seen.
      persistence: { resources: { requests: { storage: '1Gi' } } },
    },
    jwtKey: { annotations: { 'slinky.slurm.net/token-users': 'root' } },
    accounting: { enabled: true },
    loginsets: { main: { rootSshAuthorizedKeys: key.publicKey, service: { spec: { type: 'ClusterIP' } } } },
    nodesets: {
      compute: {
        replicas: 2,
        extraConfMap: { CPUs: 12 },
        partition: { enabled: true, configMap: { Default: true } },
        ...compute,
      },
    },
    extraObjects: [
      {
        apiVersion: 'slinky.slurm.net/v1beta1',
        kind: 'Token',
        metadata: { name: 'tester', namespace },
        spec: {
          username: 'root',
          lifetime: '1h',
          jwtKeyRef: { name: 'slurm-auth-jwt', key: 'jwt.key' },
          secretRef: { name: token.name, key: 'SLURM_JWT' },
        },
      },
    ],
  });
  const upgrade = (compute: object) =>
    installSlurm(stage.helm, { release: 'slurm', namespace, values: values(compute) });
  const ready = () => untilAllReady(stage.client, namespace, { timeoutMs: 400_000 });
  const workers = () => stage.pods(namespace, 'slurmd');
  /** Each pod of Slurm with its uid, and how often its containers were restarted. */
  const identities = async () =>
    [...(await workers()), ...(await stage.pods(namespace, 'slurmctld'))]
      .map(({ metadata, status }) => {
        const restarts = status?.containerStatuses?.map((each) => each.restartCount).join() ?? '';
        return `${metadata.name} ${metadata.uid} ${restarts}`;
      })
      .toSorted();
  const submit = (count: number, seconds: number) =>
    Promise.all(Array.from({ length: count }, () => rest.submit(`#!/bin/sh\nsleep ${seconds}\n`)));
  /** Jobs that run until they are let go, however long everything else takes. */
  const hold = async (count: number) => {
    const flag = `/tmp/go-${(held += 1)}`;
    const script = `#!/bin/sh\nfor i in $(seq 1200); do [ -e ${flag} ] && exit 0; sleep 0.5; done\nexit 1\n`;
    const jobs = await Promise.all(Array.from({ length: count }, () => rest.submit(script)));
    await until(`${count} jobs run`, async () => (await running(jobs)) === count);
    const letGo = async () => {
      for (const { metadata } of await workers())
        await stage.kubectl.say(
          '--namespace',
          namespace,
          'exec',
          metadata.name,
          '--container=slurmd',
          '--',
          'touch',
          flag,
        );
    };
    return { jobs, letGo };
  };
  const running = async (jobs: readonly number[]) => {
    const { jobs: all } = (await rest.ask('GET', 'jobs')) as {
      jobs?: { job_id: number; job_state: string[] }[];
    };
    return (all ?? []).filter((job) => jobs.includes(job.job_id) && job.job_state.includes('RUNNING')).length;
  };
  const ends = async (jobs: readonly number[]) =>
    new Set(await Promise.all(jobs.map((job) => rest.end(job, 180_000))));

  beforeAll(async () => {
    stage = await HelmStage.open({ name: `e2e-helm-${process.pid}`, nodes: 3 });
    key = await LoginKey.make();
  });
  after(async () => {
    await key?.[Symbol.asyncDispose]();
    await stage?.[Symbol.asyncDispose]();
  });

  it('installs: all seven kinds become Ready', async () => {
    await installOperator(stage.helm);
    await installMariadb(stage.kubectl, namespace, 'a password');
    const notes = await upgrade({});
    // As the notes say, at once: nothing but what helm made is there yet.
    const next = /^ {2}kubectl .* wait [\s\S]*? -- sinfo$/m.exec(notes)?.[0] ?? assert.fail(notes);
    const lines = next.split('\n').filter((line) => line.startsWith('  kubectl '));
    const { stdout } = await stage.kubectl.shell(`set -e\n${lines.join('\n')}`, { timeoutMs: 1_500_000 });
    assert.match(stdout, /cluster\S*\/slurm condition met[\s\S]*PARTITION/);
    const kinds = await ready();
    assert.equal(new Set(kinds.map(({ kind }) => kind)).size, 7);
    rest = await stage.rest('slurm', token, 'v0.0.45');
  });

  it('runs jobs that come through ssh and through REST', async () => {
    await using forwarded = await stage.kubectl.forward(namespace, 'service/slurm-login-main', 22);
    const ran = await key.run(forwarded.port, 'cd /tmp && sbatch --wait --nodes=2', {
      input: '#!/bin/sh\nsrun hostname\n',
    });
    assert.match(ran.stdout, /Submitted batch job/);
    assert.equal(await rest.end(await rest.submit('#!/bin/sh\nhostname\n')), 'COMPLETED');
  });

  it('scales by an upgrade of the values, out and in', async () => {
    await upgrade({ replicas: 3 });
    await until('three workers', async () => (await workers()).length === 3);
    await ready();
    await upgrade({ replicas: 2 });
    await until('two workers', async () => (await workers()).length === 2);
    await ready();
    await upgrade({ replicas: 3 });
    await until('three workers again', async () => (await workers()).length === 3);
    await ready();
  });

  it('rolls its workers under load and loses no job', async () => {
    const old = new Set((await workers()).map(({ metadata }) => metadata.uid));
    const jobs = await submit(12, 5);
    await upgrade({ replicas: 3, metadata: { annotations: { rolled: 'once' } } });
    await until('all workers are new', async () =>
      (await workers()).every(({ metadata }) => !old.has(metadata.uid)),
    );
    await ready();
    assert.deepEqual(await ends(jobs), new Set(['COMPLETED']));
  });

  it('applies a new JWT key: slurmctld restarts, tokens are signed again, and everything reconnects', async () => {
    const before = await stage.token(token);
    const data = { 'jwt.key': Buffer.from('0123456789abcdef0123456789abcdef').toString('base64') };
    await stage.client.mergePatch(secrets, { namespace, name: 'slurm-auth-jwt' }, { data });
    await until('a new token', async () => (await stage.token(token)) !== before);
    rest = await until('the new token to be good', async () => {
      const session = await stage.rest('slurm', token, 'v0.0.45');
      await session.ask('GET', 'nodes');
      return session;
    });
    await ready();
    const { status } = await stage.client.get(clusters, { namespace, name: 'slurm' });
    assert.equal(status?.isReady, true);
    assert.equal(await rest.end(await rest.submit('#!/bin/sh\nhostname\n')), 'COMPLETED');
  });

  it('takes a new Slurm key: every daemon has it, and jobs run again', async () => {
    const told = async (app: string) =>
      (await stage.pods(namespace, app)).map(
        ({ metadata }) => metadata.annotations?.['slinky.slurm.net/slurm-key-hash'],
      );
    const [old] = await told('slurmctld');
    const data = { 'slurm.key': Buffer.from('a new key for all daemons. '.repeat(40)).toString('base64') };
    await stage.client.mergePatch(secrets, { namespace, name: 'slurm-auth-slurm' }, { data });
    // Workers are current after each of the three steps, the Controller after the last one: until then slurmctld restarts again.
    await until('slurmctld and every worker have the new key, and no step is left', async () => {
      const { status } = await stage.client.get(controllers, { namespace, name: 'slurm' });
      const [now] = await told('slurmctld');
      const workersKnow = (await told('slurmd')).every((hash) => hash === now);
      const current = findCondition(status?.conditions, 'KeysCurrent')?.status === 'True';
      return now !== undefined && now !== old && workersKnow && current;
    });
    await ready();
    assert.equal(
      await rest.end(await rest.submit('#!/bin/sh\nsrun hostname\n', { nodes: '3' })),
      'COMPLETED',
    );
  });

  it('custom resources, operator and chart are upgraded under 30 running jobs: none is lost, no pod of Slurm restarts', {
    ...needsTestImages,
  }, async () => {
    const next = await nextRelease(stage);
    const compute = { replicas: 3, metadata: { annotations: { rolled: 'once' } } };
    const before = await identities();
    const { jobs, letGo } = await hold(30);
    const [operatorBefore] = await stage.pods(operatorNamespace, 'slurm-operator');
    const place = ['--namespace', operatorNamespace, '--wait', '--timeout', '6m'];
    await stage.helm.run(['upgrade', 'slurm-operator-crds', next('slurm-operator-crds'), ...place]);
    await stage.helm.run(['upgrade', 'slurm-operator', next('slurm-operator'), ...place]);
    await stage.helm.run([
      'upgrade',
      'slurm',
      next('slurm'),
      '--namespace',
      namespace,
      '--values',
      await stage.helm.file(values(compute)),
    ]);
    const [operatorAfter] = (await stage.pods(operatorNamespace, 'slurm-operator')).filter(
      (pod) => pod.metadata.deletionTimestamp === undefined,
    );
    assert.notEqual(operatorAfter?.metadata.uid, operatorBefore?.metadata.uid);
    assert.match(operatorAfter?.spec?.containers[0]?.image ?? '', /:9\.9\.9$/);
    const { metadata } = await stage.client.get(controllers, { namespace, name: 'slurm' });
    assert.equal(metadata.labels?.['helm.sh/chart'], 'slurm-9.9.9');
    await ready();
    assert.equal(await running(jobs), 30, 'all of them ran all the while');
    await letGo();
    assert.deepEqual(await ends(jobs), new Set(['COMPLETED']));
    await ready();
    assert.deepEqual(await identities(), before);
    await until('the new operator works: two workers', async () => {
      await stage.client.mergePatch(
        nodeSets,
        { namespace, name: 'slurm-worker-compute' },
        { spec: { replicas: 2 } },
      );
      return (await workers()).length === 2;
    });
  });

  it('workers that another operator made are taken over as they are, with their jobs', async () => {
    const set = { namespace, name: 'slurm-worker-compute' };
    await stage.client.mergePatch(nodeSets, set, {
      spec: { replicas: 2, updateStrategy: { type: 'OnDelete' } },
    });
    await ready();
    const operator = (replicas: number) =>
      stage.kubectl.run([
        `--namespace=${operatorNamespace}`,
        'scale',
        'deployment/slurm-operator',
        `--replicas=${replicas}`,
      ]);
    await operator(0);
    await until(
      'no operator',
      async () => (await stage.pods(operatorNamespace, 'slurm-operator')).length === 0,
    );
    for (const pod of await workers()) {
      await stage.client.delete(pods, pod.metadata, { gracePeriodSeconds: 0 });
      await until('the pod is gone', async () => (await stage.client.find(pods, pod.metadata)) === undefined);
      await stage.client.create(pods, asAnotherOperatorWritesIt(pod) as never);
    }
    await until('both workers are ready', async () =>
      (await workers()).every(({ status }) =>
        status?.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True'),
      ),
    );
    const theirs = await stage.identities(namespace, 'slurmd');
    const { jobs, letGo } = await hold(8);
    await operator(1);
    await until('the NodeSet to know them as old and ready', async () => {
      const { status } = await stage.client.get(nodeSets, set);
      return status?.updatedReplicas === 0 && status.readyReplicas === 2 && (status.slurmAllocated ?? 0) > 0;
    });
    assert.equal(await running(jobs), 8);
    await letGo();
    assert.deepEqual(await ends(jobs), new Set(['COMPLETED']));
    assert.deepEqual(await stage.identities(namespace, 'slurmd'), theirs);
  });

  it('uninstalls, and leaves the keys and the state, as the documentation says', async () => {
    await stage.helm.run(['uninstall', 'slurm', '--namespace', namespace, '--wait', '--timeout', '6m']);
    const gone = async () => {
      const left = [
        ...(await stage.names(pods, namespace)),
        ...(await stage.names(statefulSets, namespace)),
        ...(await stage.names(deployments, namespace)),
        ...(await stage.names(services, namespace)),
        ...(await stage.names(clusters, namespace)),
      ];
      return left.filter((name) => !name.startsWith('mariadb')).length === 0;
    };
    await until('nothing runs any more', gone);
    await stage.untilLeft(secrets, namespace, ['mariadb-password', 'slurm-auth-jwt', 'slurm-auth-slurm']);
    await stage.untilLeft(persistentVolumeClaims, namespace, ['statesave-slurm-controller-0']);
    await stage.untilLeft(configMaps, namespace, ['kube-root-ca.crt']);
    stage.staged.assertNothingRefused();
    await stage.helm.run(['uninstall', 'slurm-operator', '--namespace', operatorNamespace, '--wait']);
    await stage.helm.run(['uninstall', 'slurm-operator-crds', '--namespace', operatorNamespace]);
    const { items } = await stage.client.list(customResourceDefinitions);
    const ours = items.filter(({ metadata }) => metadata.name.endsWith('.slinky.slurm.net'));
    assert.equal(
      ours.length,
      customKinds.length,
      'the custom resources stay: without them every cluster would go',
    );
    await stage.untilLeft(pods, operatorNamespace, []);
    await stage.untilLeft(secrets, operatorNamespace, ['slurm-operator-webhook-ca']);
    const everywhere = await stage.kubectl.say(
      'get',
      'clusterrole,clusterrolebinding,validatingwebhookconfiguration,mutatingwebhookconfiguration,priorityclass',
      '--output=name',
    );
    assert.doesNotMatch(everywhere, /slurm|slinky/, 'nothing is left in the whole cluster');
  });
});

/** The same worker in other words: another revision, no instance id, only the labels that both operators write. */
function asAnotherOperatorWritesIt({ metadata, spec }: Pod): object {
  const [slurmd, ...others] = spec?.containers ?? [];
  const ours = new Set(['-b', '--instance-id', '$(POD_UID)']);
  const { nodeName: _node, ...rest } = spec ?? {};
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: metadata.name,
      namespace: metadata.namespace,
      labels: { ...metadata.labels, 'controller.kubernetes.io/hash': '5d8f7c9b6' },
      ownerReferences: metadata.ownerReferences,
    },
    spec: {
      ...rest,
      containers: [{ ...slurmd, args: slurmd?.args?.filter((word) => !ours.has(word)) }, ...others],
    },
  };
}

/** The charts as the next release would be: another version, another image of the operator. */
async function nextRelease(stage: HelmStage): Promise<(name: ChartName) => string> {
  const version = '9.9.9';
  if (loadsImages) {
    const image = await buildOperatorImage();
    const output = join(stage.directory, 'operator.tar');
    const { config } = image.description;
    await writeImageTar({ rootfs: image.rootfs, tag: `slurm-operator/operator:${version}`, config, output });
    await stage.staged.loadImage(output);
  }
  for (const name of ['slurm-operator-crds', 'slurm-operator', 'slurm'] as const) {
    const copy = join(stage.directory, name);
    await cp(chart(name), copy, { recursive: true, dereference: true });
    const file = join(copy, 'Chart.yaml');
    const text = await readFile(file, 'utf8');
    await writeFile(
      file,
      text
        .replace(/^version: .*$/m, `version: ${version}`)
        .replace(/^appVersion: 0.*$/m, `appVersion: ${version}`),
    );
  }
  return (name) => join(stage.directory, name);
}

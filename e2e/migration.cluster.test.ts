/**
 * Users of upstream move with real daemons and running jobs: objects as upstream's operator leaves them, then this operator. No worker
 * restarts, the jobs go on, everything becomes Ready, new workers join, and the way back is open.
 * MIGRATION=full for all classes, MIGRATION=plain,high-availability for some, SLURM=24.11 for the older release; without MIGRATION
 * nothing runs, and the file says so.
 */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before as beforeAll, describe, it } from 'node:test';
import { customResourceDefinition, kinds } from '@slurm-operator/api';
import { Helm } from '@slurm-operator/charts';
import { Kubectl } from '@slurm-operator/demo/install';
import { buildImage } from '@slurm-operator/images';
import { createClient, customResourceDefinitions, type Pod, pods, type Resource } from '@slurm-operator/kube';
import { accountings, clusters, controllers, nodeSets, restApis } from '@slurm-operator/operator';
import { needsThisMachine } from './src/given/given-cluster.ts';
import { OperatorProcess } from './src/operator-process.ts';
import { grantOperator } from './src/operator-rights.ts';
import { StagedCluster } from './src/staged-cluster.ts';
import { until, untilReady } from './src/until.ts';
import { labelNodes, type Running, UpstreamUser } from './src/upstream/upstream-user.ts';
import { objectName, userClasses, workerCount } from './src/upstream/user-class.ts';
import { wantedSlurm } from './src/wanted-slurm.ts';

const version = wantedSlurm();
const wanted = (process.env['MIGRATION'] ?? '').split(',');
const classes = userClasses.filter(({ name }) => wanted.includes('full') || wanted.includes(name));

interface Moving {
  readonly owner: UpstreamUser;
  /** With the worker that this operator created, once it runs. */
  before: readonly Running[];
  /** Submitted before the move. */
  readonly running: string;
  readonly pending: string;
  /** Submitted to a worker that this operator created. */
  added?: string;
}

const notAsked =
  classes.length > 0
    ? {}
    : { skip: 'not run: MIGRATION=full make test ONLY=e2e/migration.cluster TIER=cluster' };

describe('users of upstream move with running jobs', {
  ...needsThisMachine('objects of another operator are laid out'),
  ...notAsked,
  concurrency: false,
  timeout: 1_500_000,
}, () => {
  let staged: StagedCluster;
  let operator: OperatorProcess;
  const moving: Moving[] = [];
  const undo = new AsyncDisposableStack();

  beforeAll(async () => {
    const images: string[] = [];
    for (const name of ['slurmctld', 'slurmrestd', 'slurmd', 'slurmdbd'] as const)
      images.push((await buildImage(name, version)).path);
    images.push((await buildImage('mariadb')).path);
    staged = undo.use(
      await StagedCluster.start({ name: `migration-${process.pid}`, nodes: workerCount + 1, images }),
    );
    const client = (fieldManager: string) => {
      const made = createClient(staged.cluster.config, {
        fieldManager,
        userAgent: fieldManager,
        rateLimit: false,
      });
      undo.defer(() => made.close());
      return made;
    };
    const program = undo.use(await Helm.open({ kubeconfig: staged.kubeconfig }));
    const clients = {
      helm: client('helm'),
      upstream: client('manager'),
      program,
      kubectl: await Kubectl.open(staged.kubeconfig),
    };
    await labelNodes(clients.helm);
    for (const kind of kinds)
      await clients.helm.create(customResourceDefinitions, customResourceDefinition(kind) as never);
    await until('the kinds are served', () => clients.helm.list(nodeSets, { namespace: 'default' }));
    const kubeconfig = join(staged.directory, 'operator.kubeconfig');
    await writeFile(kubeconfig, await grantOperator(staged.cluster.server, staged.client), { mode: 0o600 });
    operator = new OperatorProcess({ kubeconfig, log: join(staged.directory, 'operator.log') });
    undo.defer(() => operator.stop());
    const keys = {
      slurm: randomBytes(512).toString('base64'),
      jwt: randomBytes(512).toString('base64'),
      database: 'changeme',
    };
    await Promise.all(
      classes.map(async (user) => {
        const owner = new UpstreamUser(user, version, clients, keys);
        await owner.lay();
        const running = await owner.submit(0);
        const pending = await owner.submitAfter(running);
        moving.push({ owner, before: await owner.workers(), running, pending });
      }),
    );
    operator.start();
  });
  after(() => undo.disposeAsync());

  const each = (name: string, body: (one: Moving) => Promise<void>, only?: 'back' | 'chart') => {
    for (const user of classes.filter((one) => only === undefined || one.afterwards === only))
      it(`${user.name}: ${name}`, async () => {
        const found = moving.find(({ owner }) => owner.user === user);
        assert.ok(found, 'its cluster is there');
        await body(found);
      });
  };
  const slurmctldPods = async (namespace: string) => {
    const { items } = await staged.client.list(pods, {
      namespace,
      labelSelector: 'app.kubernetes.io/name=slurmctld',
    });
    return items as unknown as Pod[];
  };

  each('every object is Ready', async ({ owner: { user, namespace, slurmctldPods: count } }) => {
    const expected: [Resource<never>, string][] = [
      [controllers, 'slurm'],
      [restApis, 'slurm'],
      [clusters, 'slurm'],
      [nodeSets, objectName['NodeSet'] ?? ''],
      ...(user.slurmdbd === 'none' ? [] : [[accountings, 'slurm'] as [never, string]]),
    ] as never;
    for (const [resource, name] of expected)
      await untilReady(staged.client, resource, { namespace, name }, { seconds: 600 });
    await until('slurmctld to run as this operator wants it', async () => {
      const made = (await slurmctldPods(namespace)).filter(({ spec }) =>
        spec?.containers.some(({ name }) => name === 'reconfigure'),
      );
      return made.length === count;
    });
  });

  each('no worker restarted and both jobs are as before', async ({ owner, before, running, pending }) => {
    assert.equal(before.length, workerCount);
    assert.deepEqual(await owner.workers(), before);
    assert.deepEqual(await owner.job(running), { state: 'RUNNING', restarts: 0 });
    assert.deepEqual(await owner.job(pending), { state: 'PENDING', restarts: 0 });
  });

  each('a worker that is added starts with the same image and joins the partition', async (one) => {
    const { owner, before } = one;
    const ref = { namespace: owner.namespace, name: objectName['NodeSet'] ?? '' };
    await staged.client.mergePatch(nodeSets, ref, { spec: { replicas: workerCount + 1 } });
    await owner.untilIdle(workerCount + 1);
    one.before = await owner.workers();
    assert.deepEqual(one.before.slice(0, workerCount), before);
    one.added = await owner.submit(workerCount);
    assert.deepEqual(await owner.workers(), one.before);
  });

  each(
    'the chart replaces idle workers at once, and the others when their jobs are over',
    async (one) => {
      const { owner, before, running, pending, added } = one;
      await owner.movesToChart(workerCount + 1);
      const idle = before[1]?.pod;
      const replaced = async () => {
        const now = await owner.workers();
        return before.filter(({ pod, uid }) => now.some((other) => other.pod === pod && other.uid !== uid));
      };
      await until('the idle worker to be replaced', async () => (await replaced())[0]?.pod === idle, {
        seen: () => owner.nodeSet(),
      });
      await owner.untilIdle(workerCount);
      assert.deepEqual(
        (await replaced()).map(({ pod }) => pod),
        [idle],
      );
      for (const id of [running, added ?? ''])
        assert.deepEqual(await owner.job(id), { state: 'RUNNING', restarts: 0 }, id);
      await owner.finishJobOn(0);
      await owner.finishJobOn(workerCount);
      await until('all workers to be replaced', async () => (await replaced()).length === before.length);
      await owner.untilIdle(workerCount + 1);
      for (const id of [running, added ?? '', pending])
        assert.deepEqual(await owner.job(id), { state: 'COMPLETED', restarts: 0 }, id);
      const ref = { namespace: owner.namespace, name: objectName['NodeSet'] ?? '' };
      await untilReady(staged.client, nodeSets, ref, { seconds: 300 });
    },
    'chart',
  );

  each(
    'upstream may take everything back, and the jobs still run',
    async (one) => {
      const { owner, before, running, added } = one;
      await owner.prepareWayBack();
      if (operator.running) await operator.stop();
      await owner.writtenByUpstreamAgain();
      if (owner.slurmctldPods > 0)
        await until('the pods of upstream to be back', async () => {
          const found = await slurmctldPods(owner.namespace);
          return (
            found.length === owner.slurmctldPods &&
            found.every(({ spec, metadata }) => !metadata?.deletionTimestamp && spec?.containers.length === 1)
          );
        });
      await owner.untilSlurmAnswers();
      assert.deepEqual(await owner.workers(), before);
      await owner.untilIdle(workerCount + 1);
      assert.deepEqual(await owner.workers(), before);
      for (const id of [running, added ?? ''])
        assert.deepEqual(await owner.job(id), { state: 'RUNNING', restarts: 0 }, id);
    },
    'back',
  );

  each(
    'the jobs end as they should, and then the one that waited',
    async (one) => {
      const { owner, running, pending, added } = one;
      await owner.finishJobOn(0);
      await owner.finishJobOn(workerCount);
      for (const id of [running, added ?? '', pending])
        await until(`job ${id} is complete`, async () => {
          assert.deepEqual(await owner.job(id), { state: 'COMPLETED', restarts: 0 });
          return true;
        });
    },
    'back',
  );
});

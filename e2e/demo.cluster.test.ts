/** `make demo` and `make demo-down` on a given cluster: requirements, output, and what they do not change. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { DemoResult } from '@slurm-operator/demo';
import { slurmVersion } from '@slurm-operator/demo';
import { installedImages } from '@slurm-operator/demo/install';
import { type Client, customResourceDefinitions, namespaces } from '@slurm-operator/kube';
import { tokens } from '@slurm-operator/operator';
import { type CommandResult, runCommand } from '@slurm-operator/sandbox';
import { loadsImages, needsCluster, needsThisMachine } from './src/given/given-cluster.ts';
import { runLabels } from './src/given/ground.ts';
import { walkKubectlSlurm } from './src/kubectl-slurm-walk.ts';
import { StagedCluster } from './src/staged-cluster.ts';
import { until } from './src/until.ts';

const target = (name: string) => fileURLToPath(new URL(`../tools/targets/${name}.ts`, import.meta.url));

describe('the demo on a given cluster of two machines', {
  ...needsCluster(2),
  concurrency: false,
  timeout: 1_800_000,
}, () => {
  let staged: StagedCluster;
  let client: Client;
  let kubeconfig: string;

  const run = (name: string): Promise<CommandResult> =>
    runCommand([process.execPath, target(name)], {
      env: { ...process.env, KUBECONFIG: kubeconfig },
      allowFailure: true,
      timeoutMs: 900_000,
    });
  const names = async () => ({
    namespaces: (await client.list(namespaces)).items.map(({ metadata }) => metadata.name),
    definitions: (await client.list(customResourceDefinitions)).items.map(({ metadata }) => metadata.name),
  });
  const demo = async () => {
    const { exitCode, stdout, stderr } = await run('demo');
    assert.equal(exitCode, 0, `${stdout}\n${stderr}`);
    const result = JSON.parse(stdout.trimEnd().split('\n').at(-1) ?? '') as DemoResult;
    assert.equal(result.jobs_completed, 2);
    assert.equal(result.kinds_ready, 7);
  };
  const gone = (what: string, find: () => Promise<unknown>) =>
    until(`${what} is gone`, async () => (await find()) === undefined);
  const namespace = (name: string) =>
    client.create(namespaces, {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name, labels: { ...runLabels } },
    });

  before(async () => {
    staged = await StagedCluster.start({ name: `demo-${process.pid}`, nodes: 2 });
    client = staged.client;
    // As kubectl has it: several files, and one that is not there.
    kubeconfig = `${join(staged.directory, 'missing')}:${staged.kubeconfig}`;
  });
  after(() => staged?.[Symbol.asyncDispose]());

  it('names every image that the cluster lacks, and leaves only what demo-down removes', {
    ...needsThisMachine('the images are on the cluster'),
  }, async () => {
    const untouched = await names();
    const { exitCode, stderr } = await run('demo');
    assert.equal(exitCode, 1);
    for (const image of ['operator', 'slurmctld', 'slurmrestd', 'slurmd', 'slurmdbd', 'login', 'mariadb'])
      assert.match(stderr, new RegExp(`slurm-operator/${image}:.*(ErrImagePull|ImagePullBackOff)`));
    assert.match(stderr, /make images/);
    assert.equal((await run('demo-down')).exitCode, 0);
    assert.deepEqual(await names(), untouched);
  });

  it('stands aside for a namespace of its name, and neither run nor demo-down touches that', async () => {
    await namespace('slurm-demo');
    const { exitCode, stderr } = await run('demo');
    assert.equal(exitCode, 1);
    assert.match(stderr, /namespace slurm-demo exists and was not made by the demo/);
    assert.match((await run('demo-down')).stdout, /left: the namespace slurm-demo/);
    assert.ok((await names()).namespaces.includes('slurm-demo'));
    await client.delete(namespaces, { name: 'slurm-demo' });
    await gone('the namespace', () => client.find(namespaces, { name: 'slurm-demo' }));
  });

  it('runs, and runs again', async () => {
    if (loadsImages) for (const path of await installedImages(slurmVersion)) await staged.loadImage(path);
    await demo();
    await demo();
  });

  it('kubectl slurm shows, explains and changes what runs', () =>
    walkKubectlSlurm(kubeconfig, staged.directory));

  it('keeps objects that others created meanwhile, and removes everything once no one uses it', async () => {
    await namespace('team');
    await client.create(tokens, {
      apiVersion: 'slinky.slurm.net/v1beta1',
      kind: 'Token',
      metadata: { name: 'theirs', namespace: 'team' },
      spec: { username: 'someone', jwtKeyRef: { name: 'key', key: 'jwt.key' } },
    } as never);
    const first = await run('demo-down');
    assert.equal(first.exitCode, 0, first.stderr);
    assert.match(first.stdout, /left: the operator .* Token team\/theirs/);
    const meanwhile = await names();
    assert.ok(!meanwhile.namespaces.includes('slurm-demo'));
    assert.ok(meanwhile.namespaces.includes('slurm-demo-operator'));
    assert.ok(meanwhile.definitions.includes('tokens.slinky.slurm.net'));
    await client.delete(tokens, { namespace: 'team', name: 'theirs' });
    await gone('their Token', () => client.find(tokens, { namespace: 'team', name: 'theirs' }));
    const second = await run('demo-down');
    assert.match(second.stdout, /the demo is gone/, second.stderr);
    const end = await names();
    assert.deepEqual(
      end.definitions.filter((name) => name.endsWith('.slinky.slurm.net')),
      [],
    );
    assert.ok(end.namespaces.includes('team'));
    assert.ok(!end.namespaces.some((name) => name.startsWith('slurm-demo')));
  });
});

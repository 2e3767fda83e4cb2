/** What `make demo` prints while something is wrong: the cause within seconds, and what to do about it. */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { slurmVersion } from '@slurm-operator/demo';
import { installedImages } from '@slurm-operator/demo/install';
import { isGiven, loadsImages, needsCluster, needsThisMachine } from './src/given/given-cluster.ts';
import { StagedCluster } from './src/staged-cluster.ts';
import { until } from './src/until.ts';

const target = (name: string) => fileURLToPath(new URL(`../tools/targets/${name}.ts`, import.meta.url));

/** A running make target: its output so far, and its exit code. */
class Run {
  output = '';
  exitCode: number | null | undefined;
  readonly #child: ChildProcess;

  constructor(name: string, env: NodeJS.ProcessEnv) {
    const { NODE_TEST_CONTEXT: _, ...rest } = process.env;
    this.#child = spawn(process.execPath, [target(name)], { env: { ...rest, ...env } });
    for (const stream of [this.#child.stdout, this.#child.stderr])
      stream?.on('data', (chunk: Buffer) => (this.output += chunk.toString('utf8')));
    this.#child.once('close', (code) => (this.exitCode = code));
  }

  /** Seconds from one text on the screen to another. */
  async seconds(from: RegExp, to: RegExp): Promise<number> {
    const at = async (text: RegExp) => {
      await until(`${text} is printed`, () => text.test(this.output) || this.exitCode !== undefined, {
        seconds: 900,
        seen: () => this.output,
      });
      assert.match(this.output, text);
      return performance.now();
    };
    const began = await at(from);
    return ((await at(to)) - began) / 1000;
  }

  async end(): Promise<number | null> {
    await until('the end', () => this.exitCode !== undefined, { seconds: 900, seen: () => this.output });
    return this.exitCode ?? null;
  }

  stop(): void {
    this.#child.kill('SIGTERM');
  }
}

describe('the demo on a cluster where something is wrong', {
  ...needsCluster(),
  concurrency: false,
  timeout: 2_400_000,
}, () => {
  let staged: StagedCluster;
  let last: Run | undefined;

  const start = (name: string, env: NodeJS.ProcessEnv = {}) =>
    (last = new Run(name, { KUBECONFIG: staged.kubeconfig, ...env }));
  const values = async (name: string, controller: object) => {
    const path = join(staged.directory, `${name}.json`);
    await writeFile(path, JSON.stringify({ controller }));
    return path;
  };
  const down = async () => {
    const run = start('demo-down');
    assert.equal(await run.end(), 0, run.output);
    assert.match(run.output, /the demo is gone/);
  };
  const installed = /a database, and the chart slurm/;

  before(async () => {
    staged = await StagedCluster.start({
      name: `demo-faults-${process.pid}`,
      nodes: 1,
      images: loadsImages ? await installedImages(slurmVersion) : [],
    });
    if (isGiven) return;
    await staged.client.json('POST', '/apis/storage.k8s.io/v1/storageclasses', {
      body: {
        apiVersion: 'storage.k8s.io/v1',
        kind: 'StorageClass',
        metadata: { name: 'root-owned' },
        provisioner: 'localcluster/directory',
        parameters: { ignoreFsGroup: 'true' },
      },
    });
  });
  after(async () => {
    last?.stop();
    await staged?.[Symbol.asyncDispose]();
  });

  it('a broken image name: the image is named, and the demo stops', async () => {
    const file = await values('image', { slurmctld: { image: { tag: 'no-such-tag' } } });
    const run = start('demo', { VALUES: file });
    const seconds = await run.seconds(installed, /slurmctld:no-such-tag/);
    assert.equal(await run.end(), 1, run.output);
    console.log(`broken image name: on the screen ${seconds.toFixed(1)} s after the chart\n${run.output}`);
    await down();
  });

  it('a missing StorageClass: the claim is named, and without progress the demo stops with the list', async () => {
    const file = await values('class', { persistence: { storageClassName: 'fast' } });
    const run = start('demo', { VALUES: file, PATIENCE: '60' });
    const seconds = await run.seconds(
      installed,
      /PersistentVolumeClaim statesave-slurm-controller-0: Pending: storageclass\.storage\.k8s\.io "fast" not found/,
    );
    assert.equal(await run.end(), 1, run.output);
    assert.match(run.output, /nothing has advanced[\s\S]*"fast" not found/);
    assert.match(run.output, /kubectl --namespace slurm-demo describe/);
    console.log(`missing StorageClass: on the screen ${seconds.toFixed(1)} s after the chart\n${run.output}`);
    await down();
  });

  it('a volume that ignores fsGroup: the field that helps is named, and with it the demo runs', {
    ...needsThisMachine('needs a StorageClass whose volumes ignore fsGroup'),
  }, async () => {
    const persistence = { storageClassName: 'root-owned' };
    const broken = start('demo', { VALUES: await values('owner', { persistence }) });
    const seconds = await broken.seconds(
      installed,
      /Controller slurm: CrashLooping: .*Incorrect permissions on state save loc.*persistence\.fixOwnership to true/,
    );
    console.log(`fsGroup ignored: on the screen ${seconds.toFixed(1)} s after the chart\n${broken.output}`);
    broken.stop();
    assert.equal(await broken.end(), 143);
    const fixed = start('demo', {
      VALUES: await values('fixed', { persistence: { ...persistence, fixOwnership: true } }),
    });
    assert.equal(await fixed.end(), 0, fixed.output);
    assert.match(fixed.output, /both jobs completed/);
    await down();
  });
});

/** plan and diff on an embedded API server with a simulated slurmrestd. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { label } from '@slurm-operator/api';
import { nodes, pods } from '@slurm-operator/kube';
import { revisionHash } from '@slurm-operator/operator/dry-run';
import { CliWorld } from '../../testing/cli-world.ts';
import { controllers, nodeSets } from '../session/resources.ts';

let world: CliWorld;
const directory = mkdtempSync(join(tmpdir(), 'kubectl-slurm-plan-'));
const here = ['-n', 'hpc'];
const ref = { namespace: 'hpc', name: 'gpu' };

before(async () => {
  world = await CliWorld.start();
  await world.client.create(controllers, {
    apiVersion: controllers.apiVersion,
    kind: 'Controller',
    metadata: { name: 'slurm', namespace: 'hpc' },
    spec: {
      slurmKeyRef: { name: 'slurm-auth', key: 'slurm.key' },
      jwtKeyRef: { name: 'slurm-jwt', key: 'jwt.key' },
      extraConf: 'PartitionName=all Nodes=ALL Default=YES MaxTime=UNLIMITED\n',
    },
  } as never);
  await world.client.json('POST', '/apis/rbac.authorization.k8s.io/v1/namespaces/hpc/rolebindings', {
    body: {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'RoleBinding',
      metadata: { name: 'namespaced' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'slurm-viewer' },
      subjects: [{ kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name: 'namespaced' }],
    },
  });
  await world.client.mergePatch(nodeSets, ref, {
    metadata: { finalizers: ['nodeset.slinky.slurm.net/drain'] },
  });
  const set = await world.client.get(nodeSets, ref);
  for (const index of [0, 1, 2]) {
    const name = `gpu-${index}`;
    const patched = await world.client.mergePatch(
      pods,
      { ...ref, name },
      {
        metadata: {
          ownerReferences: [
            {
              apiVersion: set.apiVersion,
              kind: 'NodeSet',
              name: 'gpu',
              uid: set.metadata.uid,
              controller: true,
            },
          ],
          labels: {
            'app.kubernetes.io/name': 'slurmd',
            'app.kubernetes.io/instance': 'gpu',
            [label.scalingMode]: 'StatefulSet',
            [label.podIndex]: String(index),
            [label.revision]: revisionHash(set as never),
          },
        },
      },
    );
    const machine = `machine-${index}`;
    await world.client.create(nodes, {
      apiVersion: 'v1',
      kind: 'Node',
      metadata: { name: machine },
    } as never);
    const ready = { type: 'Ready', status: 'True', lastTransitionTime: '2020-01-01T00:00:00Z' };
    await world.client.mergePatch(
      nodes,
      { name: machine },
      { status: { conditions: [ready] } },
      { subresource: 'status' },
    );
    await world.client.post(pods, { ...ref, name }, 'binding', {
      apiVersion: 'v1',
      kind: 'Binding',
      metadata: { name },
      target: { apiVersion: 'v1', kind: 'Node', name: machine },
    });
    const created = patched.metadata.creationTimestamp;
    const at = new Date(Date.parse(created ?? '') + 40_000).toISOString();
    await world.client.mergePatch(
      pods,
      { ...ref, name },
      {
        status: {
          phase: 'Running',
          podIP: `10.0.0.${index}`,
          conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: at }],
          containerStatuses: [
            {
              name: 'slurmd',
              image: 'slurmd',
              imageID: '',
              ready: true,
              restartCount: 0,
              state: { running: { startedAt: created } },
            },
          ],
        },
      },
      { subresource: 'status' },
    );
    await world.slurm.client().nodes.update(name, {
      comment: JSON.stringify({
        namespace: 'hpc',
        podName: name,
        node: '',
        nodeSetName: 'gpu',
        nodeSetUID: set.metadata.uid,
      }),
    });
  }
});
after(async () => {
  await world.stop();
  rmSync(directory, { recursive: true, force: true });
});

test('a NodeSet that is as it should be has nothing to do: exit code 0', async () => {
  const { code, out, err } = await world.run(['plan', 'nodeset/gpu', ...here]);
  assert.equal(code, 0, out + err);
  assert.match(out, /^gpu: 3 workers; nothing to do\n/);
});

test('a new image: how many, how many at a time, and when it is over', async () => {
  world.slurm.cluster.runJob(['gpu-1'], { user: 'alice', timeLimit: 600 });
  const { code, out, err } = await world.run(['plan', 'gpu', '--image', 'slurmd:new', ...here]);
  assert.equal(code, 1, out + err);
  assert.match(out, /^gpu: 3 workers; 3 to replace, 1 at a time\n {2}-\/\+ +gpu-\[0-2\]\n/);
  assert.match(
    out,
    /earliest .* if every job there ended now in 3 waves; a worker starts in 40 s, median of 3\n/,
  );
  assert.match(out, /latest .* job \d+ \(alice, limit 10:00:00\) on gpu-1 ends last/);
  assert.match(out, /capacity +never below 2 of 3 workers/);
  assert.match(out, /No job is cancelled\. Nothing was changed\.\n$/);
  const json = JSON.parse((await world.run(['plan', 'gpu', '--restart', '-o', 'json', ...here])).out) as {
    items: { replace: string[]; steps: { kind: string }[] }[];
  };
  assert.deepEqual(json.items[0]?.replace.toSorted(), ['gpu-0', 'gpu-1', 'gpu-2']);
});

test('a user who may not list Nodes gets the same plan, and is told', async () => {
  const rules = await world.run(['plan', 'gpu', '--restart', ...here], {
    user: 'namespaced',
    env: { SLURM_JWT: world.slurm.token('root') },
  });
  assert.match(rules.out, /3 to replace, 1 at a time/, rules.err);
  assert.match(rules.out, /! You may not list nodes: what depends on them is left out/);
});

test('a scale-in keeps the busy worker and names jobs that would never start', async () => {
  world.slurm.cluster.createJob({ user: 'bob', wantedNodes: 3, held: true });
  const { out } = await world.run(['plan', 'gpu', '--replicas', '1', ...here]);
  assert.match(out, /2 to remove\n {2}- +gpu-\[0,2\]\n/);
  assert.match(out, /1 pending job could never start any more: job \d+ \(bob\) asks for 3 nodes, 1 are left/);
});

test('a job without a limit never lets its worker go', async () => {
  world.slurm.cluster.runJob(['gpu-0'], { user: 'carol' });
  const { out } = await world.run(['plan', 'gpu', '--restart', ...here]);
  assert.match(out, /latest +never\n/);
  assert.match(out, /! job \d+ \(carol\) on gpu-0 has no time limit: its workers stay until it ends/);
});

test('diff of a partition limit: the line of slurm.conf and the pending jobs over it', async () => {
  world.slurm.cluster.createJob({ user: 'dave', timeLimit: 2880, held: true });
  const file = join(directory, 'controller.yaml');
  const write = (extraConf: string) =>
    writeFileSync(
      file,
      JSON.stringify({
        apiVersion: controllers.apiVersion,
        kind: 'Controller',
        metadata: { name: 'slurm' },
        spec: {
          slurmKeyRef: { name: 'slurm-auth', key: 'slurm.key' },
          jwtKeyRef: { name: 'slurm-jwt', key: 'jwt.key' },
          extraConf,
        },
      }),
    );
  write('PartitionName=all Nodes=ALL Default=YES MaxTime=1-00:00:00\n');
  const { code, out, err } = await world.run(['diff', '-f', file, ...here]);
  assert.equal(code, 1, out + err);
  assert.match(out, /^Controller\/slurm\n {2}~ spec\.extraConf\n/);
  assert.match(out, /- PartitionName=all .*MaxTime=UNLIMITED\n.*\+ PartitionName=all .*MaxTime=1-00:00:00\n/);
  assert.match(out, /MaxTime of all: UNLIMITED → 1-00:00:00\.\n! \d+ pending jobs? asks? for more/);
  assert.match(out, /slurmctld reads it in place/);
  write('PartitionName=other Nodes=ALL Default=YES MaxTime=UNLIMITED\n');
  const held = await world.run(['diff', '-f', file, ...here]);
  assert.match(held.out, /! held back: .*all/);
  write('PartitionName=all Nodes=ALL Default=YES MaxTime=UNLIMITED\n');
  const same = await world.run(['diff', '-f', file, ...here]);
  assert.equal(same.code, 0, same.out);
  assert.match(same.out, /No object would change\.\nslurm\.conf stays the same\./);
  assert.equal((await world.client.get(controllers, { ...ref, name: 'slurm' })).metadata.generation, 1);
});

test('a set whose workers another field counts: --replicas is refused, the other changes are planned', async () => {
  const { spec } = await world.client.get(nodeSets, { namespace: 'hpc', name: 'gpu' });
  for (const [name, change, says] of [
    [
      'burst',
      { autoscale: { min: 0, max: 4 } },
      /is autoscaled, so replicas has no effect: .*\(now 0 and 4\)/,
    ],
    ['daemons', { scalingMode: 'DaemonSet' }, /a worker on each node .* replicas has no effect/],
  ] as const) {
    await world.client.create(nodeSets, {
      apiVersion: nodeSets.apiVersion,
      kind: 'NodeSet',
      metadata: { name, namespace: 'hpc' },
      spec: { ...spec, template: { ...spec.template, spec: { hostname: `${name}-` } }, ...change },
    } as never); // defaults that the type asks for are set by the server
    const refused = await world.run(['plan', name, '--replicas', '3', ...here]);
    assert.equal(refused.code, 2, refused.out);
    assert.match(refused.err, says);
    const planned = await world.run(['plan', name, '--restart', ...here]);
    assert.ok(planned.code <= 1, planned.err);
    await world.client.delete(nodeSets, { namespace: 'hpc', name });
  }
});

test('bad input: one sentence, exit code 2', async () => {
  const broken = join(directory, 'broken.yaml');
  writeFileSync(broken, 'a: [');
  const table: readonly (readonly [readonly string[], RegExp])[] = [
    [['plan'], /Name a NodeSet/],
    [['plan', 'x'], /no NodeSet x/],
    [['plan', 'gpu', '--replicas', 'many'], /--replicas must be a number/],
    [['plan', 'gpu', '-f', broken], /either --filename, or a NodeSet/],
    [['plan', '-f', broken], /broken\.yaml is not YAML/],
    [['diff'], /Give the changed manifests/],
    [['diff', '-f', '/no/such'], /cannot be read/],
    [['diff', '-f', broken], /is not YAML/],
  ];
  for (const [words, says] of table) {
    const { code, err, out } = await world.run([...words, ...here]);
    assert.equal(code, 2, `${words.join(' ')}: ${out}${err}`);
    assert.match(err, says);
    assert.equal(err.trim().split('\n').length, 1);
  }
});

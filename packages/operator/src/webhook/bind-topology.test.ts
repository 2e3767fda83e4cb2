/** Copies the topology of a Node to its worker: which pods get it, and that binding never waits for it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { annotation } from '@slurm-operator/api';
import { type Client, silent } from '@slurm-operator/kube';
import { bindTopology } from './bind-topology.ts';

interface World {
  readonly app?: string;
  readonly has?: string;
  readonly machine?: string;
  readonly dryRun?: boolean;
  readonly fails?: boolean;
}

/** What is written to the pod when it is bound. */
async function bound({ app = 'slurmd', has, machine, dryRun = false, fails = false }: World) {
  const written: unknown[] = [];
  const annotations = (value: string | undefined) =>
    value === undefined ? {} : { annotations: { [annotation.topology]: value } };
  const client = {
    find: ({ kind }: { kind: string }) => {
      if (fails) return Promise.reject(new Error('the API server is away'));
      return Promise.resolve(
        kind === 'Pod'
          ? { metadata: { uid: 'u', labels: { 'app.kubernetes.io/name': app }, ...annotations(has) } }
          : { metadata: annotations(machine) },
      );
    },
    mergePatch: (_resource: unknown, _ref: unknown, patch: unknown) => {
      written.push(patch);
      return Promise.resolve({});
    },
  } as unknown as Client;
  const result = await bindTopology(client, silent)(
    {
      object: { metadata: { name: 'w-0' }, target: { kind: 'Node', name: 'm' } },
      namespace: 'hpc',
      name: 'w-0',
      operation: 'CREATE',
      dryRun,
    } as never,
    AbortSignal.timeout(5_000),
  );
  assert.ok('allowed' in result && result.allowed, 'whatever happens, the pod is bound');
  return written;
}

for (const [reason, world, topology] of [
  ['a worker gets the topology of its machine', { machine: 'leaf:a' }, 'leaf:a'],
  ['one that has another gets the right one', { machine: 'leaf:a', has: 'leaf:b' }, 'leaf:a'],
  ['one line stays one line', { machine: ' leaf:a\nX=y ' }, 'leaf:a X=y'],
  ['one that has it is left alone', { machine: 'leaf:a', has: 'leaf:a' }, undefined],
  ['a machine without topology has none to give', {}, undefined],
  ['nor has one with an empty one', { machine: ' ' }, undefined],
  ['pods of others are left alone', { machine: 'leaf:a', app: 'web' }, undefined],
  ['a dry run writes nothing', { machine: 'leaf:a', dryRun: true }, undefined],
  ['a failure is ignored', { machine: 'leaf:a', fails: true }, undefined],
] as const)
  test(reason, async () => {
    assert.deepEqual(
      await bound(world),
      topology === undefined
        ? []
        : [{ metadata: { uid: 'u', annotations: { [annotation.topology]: topology } } }],
    );
  });

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Client, ConflictError } from '@slurm-operator/kube';
import { runFakeKubelet } from './fake-kubelet.ts';

/** A client whose watch tells these events, and which has nothing but a successor of every pod that is asked for. */
function world(events: readonly object[]) {
  const asked: string[] = [];
  const client = {
    watch: async (_resource: object, _options: object, on: (event: object) => void) => {
      for (const event of events) on(event);
    },
    delete: async (_resource: object, ref: { name: string }, { uid }: { uid: string }) => {
      asked.push(`delete ${ref.name} ${uid}`);
      throw new ConflictError('the UID in the precondition is another', { status: 409 });
    },
    json: async (_verb: string, _path: string, { body }: { body: { metadata: { uid?: string } } }) => {
      asked.push(`bind ${body.metadata.uid}`);
      throw new ConflictError('the UID in the precondition is another', { status: 409 });
    },
  } as unknown as Client;
  return { asked, client };
}

const pod = (uid: string, deletionTimestamp?: string) => ({
  metadata: { name: 'w-0', namespace: 'slurm', uid, deletionTimestamp },
});

test('a pod is ended once, by its uid, and its successor of the same name is left alone', async () => {
  const gone = pod('a', '2026-01-01T00:00:00Z');
  const { asked, client } = world([
    { type: 'MODIFIED', object: gone },
    { type: 'MODIFIED', object: gone },
    { type: 'MODIFIED', object: gone },
  ]);
  const ended: string[] = [];
  await runFakeKubelet(
    { client, namespace: 'slurm', ended: ({ metadata }) => void ended.push(metadata.uid ?? '') },
    AbortSignal.timeout(60_000),
  );
  assert.deepEqual(asked, ['delete w-0 a']);
  assert.deepEqual(ended, ['a']);
});

test('a pod is started once, by its uid; one that was replaced meanwhile is not reported', async () => {
  const { asked, client } = world([
    { type: 'ADDED', object: pod('a') },
    { type: 'MODIFIED', object: pod('a') },
  ]);
  const started: string[] = [];
  await runFakeKubelet(
    { client, namespace: 'slurm', started: async ({ metadata }) => started.push(metadata.uid ?? '') },
    AbortSignal.timeout(60_000),
  );
  assert.deepEqual(asked, ['bind a']);
  assert.deepEqual(started, []);
});

/** The laws can fail: each fault that the operator once had, put back into a copy of its sources, is found. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import type { checkClusterLaws } from '../../testing/laws/check-cluster-laws.ts';
import { plant, plantedFaults } from '../../testing/planted-faults.ts';

/** Each is found within so many histories. */
const most = 40;

/** Found within a few histories; the others take a hundred and more, too many for every run. */
const quick = new Set([
  'partition-dropped',
  'max-node-count',
  'foreign-node',
  'reservation-leak',
  'unguarded-restart',
  'restart-in-prolog',
  'unguarded-key',
  'record-of-pending-job',
  'future-nodes',
  'node-room',
  'absent-secret',
  'kept-state',
  'unnoted-state',
]);

for (const fault of plantedFaults.filter(({ name }) => quick.has(name)))
  test(`the laws find that ${fault.what}`, async (context) => {
    const directory = mkdtempSync(join(tmpdir(), 'planted-fault-'));
    context.after(() => rmSync(directory, { recursive: true, force: true }));
    const copy = plant(fault, directory);
    const file = pathToFileURL(join(copy, 'testing/laws/check-cluster-laws.ts')).href;
    const laws = (await import(file)) as { readonly checkClusterLaws: typeof checkClusterLaws };
    await assert.rejects(
      laws.checkClusterLaws({ runs: most, seed: 1, shrink: false, often: fault.often ?? [] }),
      (error: Error) => {
        console.log(`${fault.name}: ${error.message.split('\n')[0]}`);
        assert.match(error.message, fault.law);
        return true;
      },
    );
  });

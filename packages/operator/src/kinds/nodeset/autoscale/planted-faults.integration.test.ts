/** The laws of autoscaling can fail: each of these faults, put into a copy of the sources, is found. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { autoscaleFaults } from '../../../../testing/autoscale-faults.ts';
import type { checkAutoscaleLaws } from '../../../../testing/autoscale-history.ts';
import { plant } from '../../../../testing/planted-faults.ts';

for (const fault of autoscaleFaults)
  test(`the laws find that ${fault.what}`, async (context) => {
    const directory = mkdtempSync(join(tmpdir(), 'planted-fault-'));
    context.after(() => rmSync(directory, { recursive: true, force: true }));
    const file = pathToFileURL(join(plant(fault, directory), 'testing/autoscale-history.ts')).href;
    const laws = (await import(file)) as { readonly checkAutoscaleLaws: typeof checkAutoscaleLaws };
    assert.throws(
      () => laws.checkAutoscaleLaws(3_000, 1),
      (error: Error) => {
        const { cause } = error;
        assert.match(cause instanceof Error ? cause.message : error.message, fault.law);
        return true;
      },
    );
  });

/** The laws of autoscaling can fail: each of these faults, put into a copy of the sources, is found. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import type { checkAutoscaleLaws } from '../../../../testing/autoscale-history.ts';
import { type PlantedFault, plant } from '../../../../testing/planted-faults.ts';

const inFile = (file: string) => (find: string, replace: string) => [
  { file: `kinds/nodeset/autoscale/${file}`, find, replace },
];
const inPower = inFile('power.ts');
const inRecords = inFile('sleeping-records.ts');

const faults: readonly PlantedFault[] = [
  {
    name: 'suspended',
    what: 'a node is powered down while a job may be suspended there',
    law: /A2: .*suspended/,
    edits: inPower(
      "if (surplus <= 0 || observed.slurm.kind === 'unknown' || observed.slurm.jobsUnknown !== undefined)",
      "if (surplus <= 0 || observed.slurm.kind === 'unknown')",
    ),
  },
  {
    name: 'drained',
    what: 'a node that someone drained is powered down',
    law: /A3/,
    edits: inPower("  'DRAIN',\n  'RESERVED',", "  'RESERVED',"),
  },
  {
    name: 'resumed',
    what: 'a node is offered again while its pod exists',
    law: /A4/,
    edits: inPower("slot.state === 'Stopping' && !slot.hasPod &&", "slot.state === 'Stopping' &&"),
  },
  {
    name: 'covered',
    what: 'a record is created under a pod that runs',
    law: /A1/,
    edits: inRecords("state === 'Missing' && !hasPod &&", "state === 'Missing' &&"),
  },
  {
    name: 'not-retried',
    what: 'a slot whose wake-up failed is never offered again',
    law: /A6/,
    edits: [
      {
        file: 'kinds/nodeset/autoscale/wake-history.ts',
        find: 'slurmGaveUp.test(reason) ||',
        replace: '',
      },
    ],
  },
  {
    name: 'awake',
    what: 'a pod is deleted whose node is awake',
    law: /A2|L1|L8/,
    edits: [
      {
        file: 'kinds/nodeset/autoscale/autoscaled-slots.ts',
        find: "else if (slot.state === 'Stopping') asleep.push(worker);",
        replace: "else if (slot.state !== 'Waking') asleep.push(worker);",
      },
      {
        file: 'kinds/nodeset/autoscale/safe-to-stop.ts',
        find: "if (why === 'sleep' && hasStopped(answer.node))",
        replace: "if (why === 'sleep')",
      },
    ],
  },
];

const more: readonly PlantedFault[] = [
  {
    name: 'all-at-once',
    what: 'all sleeping nodes of another size are replaced at once',
    law: /A7/,
    edits: inRecords(
      "const missing = slots.filter(({ state }) => state === 'Missing' || state === 'Unknown').length;",
      'const missing = -slots.length;',
    ),
  },
  {
    name: 'in-part',
    what: 'only the pods whose time is over are abandoned, not their whole job',
    law: /A6: .*in part/,
    edits: [
      {
        file: 'kinds/nodeset/autoscale/capacity.ts',
        find: '        group.waiting.flatMap(({ worker }) =>',
        replace: '        group.waiting.slice(0, 1).flatMap(({ worker }) =>',
      },
    ],
  },
  {
    name: 'set-down',
    what: 'a node is set down while its pod exists',
    law: /L11/,
    edits: [
      {
        file: 'kinds/nodeset/autoscale/offered.ts',
        find: 'if (hasPod || node === undefined || !isPoweringUp(node)) return [];',
        replace: 'if (node === undefined || !isPoweringUp(node)) return [];',
      },
    ],
  },
  {
    name: 'cooled',
    what: 'sleeping slots that were withdrawn are never offered again',
    law: /A6/,
    edits: [
      {
        file: 'kinds/nodeset/autoscale/offered.ts',
        find: '...(isCooling ? [] : back.due),',
        replace: '',
      },
    ],
  },
];

for (const fault of [...faults, ...more])
  test(`the laws find that ${fault.what}`, async (context) => {
    const directory = mkdtempSync(join(tmpdir(), 'planted-fault-'));
    context.after(() => rmSync(directory, { recursive: true, force: true }));
    const file = pathToFileURL(join(plant(fault, directory), 'testing/autoscale-history.ts')).href;
    const laws = (await import(file)) as { readonly checkAutoscaleLaws: typeof checkAutoscaleLaws };
    assert.throws(
      () => laws.checkAutoscaleLaws(600, 1),
      (error: Error) => {
        const { cause } = error;
        assert.match(cause instanceof Error ? cause.message : error.message, fault.law);
        return true;
      },
    );
  });

/** Faults of autoscaling, put back one at a time: its laws find all of them, the soak those with an aim. */
import type { PlantedFault } from './planted-faults.ts';

/** Operations of the soak that switch workers on and off. */
const powering = ['switch autoscale on or off', 'power a node of an autoscaled NodeSet down'];

const inFile = (file: string) => (find: string, replace: string) => [
  { file: `kinds/nodeset/autoscale/${file}`, find, replace },
];
const inPower = inFile('power.ts');
const inRecords = inFile('sleeping-records.ts');

export const autoscaleFaults: readonly PlantedFault[] = [
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
    aim: powering,
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
  {
    name: 'power-down-with-job',
    aim: powering,
    what: 'a worker whose power-down waits for its job is deleted at once',
    law: /A2|L1/,
    edits: [
      {
        file: 'kinds/nodeset/autoscale/slot-states.ts',
        find: "(flags.has('POWERED_DOWN') || flags.has('POWERING_DOWN'))",
        replace: "['POWERED_DOWN', 'POWERING_DOWN', 'POWER_DOWN'].some((flag) => flags.has(flag))",
      },
      {
        file: 'kinds/nodeset/autoscale/safe-to-stop.ts',
        find: 'return isPoweredDown(node) && !isBusy(node) && node.deadline === undefined;',
        replace: 'return isPoweredDown(node) || (isBusy(node) && node.deadline === null);',
      },
    ],
  },
  {
    name: 'older-revision-woken',
    what: 'a worker below the rollout partition is woken with the old revision, which may be another node in Slurm',
    law: /A8: /,
    edits: [
      {
        file: 'kinds/nodeset/plan/revisions.ts',
        find: 'if (observed.autoscale !== undefined) return undefined;',
        replace: '',
      },
    ],
  },
  {
    name: 'awaited-in-outage',
    what: 'a worker that a job may wait for is deleted while Slurm does not answer',
    law: /A9: /,
    edits: [
      {
        file: 'kinds/nodeset/plan/departures.ts',
        find: 'return worker.forWakeUp || wasAwaited(worker);',
        replace: 'return worker.everStarted && wasAwaited(worker);',
      },
    ],
  },
  {
    name: 'awaited-after-autoscale',
    what: 'a worker that is created for a job after autoscaling was switched off is deleted while Slurm does not answer',
    law: /A9: /,
    edits: [
      {
        file: 'kinds/nodeset/plan/creations.ts',
        find: "autoscale !== undefined || askSlurm(slurm, name, lastWrites).kind !== 'absent';",
        replace: "autoscale !== undefined && askSlurm(slurm, name, lastWrites).kind !== 'absent';",
      },
    ],
  },
];

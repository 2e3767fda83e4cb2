/**
 * Faults that the operator once had, put back one at a time into a copy of its sources: tests show that the laws and the soak find
 * them. The product has no switch for any of this.
 */
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { autoscaleFaults } from './autoscale-faults.ts';

interface Edit {
  /** Below `packages/operator/src`. */
  readonly file: string;
  /** Must be there exactly once. */
  readonly find: string;
  readonly replace: string;
}

export interface PlantedFault {
  readonly name: string;
  /** What the operator then does. */
  readonly what: string;
  /** The law that it breaks. */
  readonly law: RegExp;
  readonly edits: readonly Edit[];
  /** Actions of the laws that it needs. */
  readonly often?: readonly string[];
  /**
   * Operations of the soak that it needs: half of those that are made to find it. What finds it is the same account as always. Undefined: not
   * planted in the soak, where what it needs seldom comes together. The soak has no PrologSlurmctld: a kill -9 of slurmctld while one runs leaves
   * its job without an end, by Slurm's own doing.
   */
  readonly aim?: readonly string[];
}

export const plantedFaults: readonly PlantedFault[] = [
  {
    name: 'partition-dropped',
    aim: [
      'enable or disable a partition',
      'change a hostname',
      'delete a NodeSet, draining',
      'create a NodeSet',
    ],
    what: 'a partition leaves slurm.conf while it has jobs',
    law: /L12: .* its partition/,
    edits: [
      {
        file: 'slurm-config/guard/guard-config.ts',
        find: 'const partitions = partitionHolds(change, released, leaving);',
        replace: 'const partitions: Hold[] = partitionHolds(change, released, leaving).slice(0, 0);',
      },
    ],
  },
  {
    name: 'max-node-count',
    aim: ['maxNodeCount below the workers'],
    often: ['set maxNodeCount', 'scale', 'submit a job', 'the cluster moves on'],
    what: 'MaxNodeCount shrinks below the nodes that exist',
    // A record that is dropped without a job on it is missed in the end.
    law: /L12: .* MaxNodeCount|L8: nodes/,
    edits: [
      {
        file: 'slurm-config/guard/guard-config.ts',
        find: 'const settings = [...settingHolds(change), ...maxNodeCountHolds(change, going.length)];',
        replace: 'const settings = settingHolds(change);',
      },
    ],
  },
  {
    name: 'suspended-job',
    aim: ['scale in under suspended jobs', 'create a NodeSet', 'scale'],
    what: 'a worker whose only job is suspended is deleted while the jobs are not known',
    law: /L1: .* while job/,
    edits: [
      {
        file: 'slurm-connection/watched-gateway.ts',
        find: 'const later = await jobs.listSince(view.answeredAt, { signal }).catch(unknownJobs);',
        replace: 'const later = await Promise.resolve(jobs.view as JobsOrWhy).catch(unknownJobs);',
      },
      {
        file: 'slurm-connection/watched-gateway.ts',
        find: 'jobsUnknown: whyUnknown(jobs),',
        replace: "jobsUnknown: whyUnknown(jobs) === '' ? '' : undefined,",
      },
    ],
  },
  {
    name: 'foreign-node',
    aim: ['scale', 'roll out'],
    what: 'a node of others that has a name and a feature like ours is drained and deleted',
    law: /L15: /,
    edits: [
      {
        file: 'kinds/nodeset/observe/observe-slurm.ts',
        find: "return node.comment === '' && node.instanceType === instanceTypeOf(set.uid);",
        replace:
          "return node.comment === '' && (node.instanceType === instanceTypeOf(set.uid) || node.features.includes(set.name));",
      },
    ],
  },
  {
    name: 'reservation-leak',
    aim: ['kill -9 the operator after it has reserved'],
    often: ['crash after a change of the update strategy', 'the cluster moves on', 'scale'],
    what: 'a crash between the write of a reservation and the write of the status leaves the reservation in Slurm',
    law: /L8: reservations|L6: .* reservation/,
    edits: [
      {
        file: 'kinds/nodeset/plan/maintenance-window.ts',
        find: '...(made === undefined ? [note] : []),',
        replace: '...(made !== undefined ? [note] : []),',
      },
    ],
  },
  {
    name: 'unguarded-restart',
    aim: ['a partition of scontrol'],
    often: [
      'change the image of slurmctld',
      'create a partition with scontrol',
      'submit a job to a partition of scontrol',
    ],
    what: 'slurmctld is restarted while a partition of scontrol has jobs',
    law: /L12: .* its partition adhoc/,
    edits: [
      {
        file: 'kinds/controller/plan/config-hold.ts',
        find: '}).filter(({ name }) => !said.has(name));',
        replace: '}).filter(({ name }) => said.has(name));',
      },
    ],
  },
  {
    name: 'restart-in-prolog',
    often: ['change the image of slurmctld', 'change extraConf', 'submit a job', 'the cluster moves on'],
    what: 'slurmctld is restarted while the PrologSlurmctld of a job runs',
    law: /L12: .* during its PrologSlurmctld/,
    edits: [
      {
        file: 'slurm-config/guard/guard-restart.ts',
        find: 'input.waitedMs < prologWaitMs',
        replace: 'input.waitedMs < 0',
      },
    ],
  },
  {
    name: 'unguarded-key',
    often: [
      'change slurm.key',
      'create a partition with scontrol',
      'submit a job to a partition of scontrol',
      'the cluster moves on',
    ],
    what: 'a new slurm.key restarts slurmctld without a look at its jobs',
    law: /L12: .* its partition adhoc/,
    edits: [
      {
        file: 'kinds/controller/plan/decide.ts',
        find: 'wantRestart({ ...given, keySet: observed.keySet }, defaults,',
        replace: 'wantRestart({ ...given }, defaults,',
      },
    ],
  },
  {
    name: 'record-of-pending-job',
    aim: ['a job that names a worker that goes'],
    often: ['submit a job that names a node', 'submit a job with a feature', 'scale', 'the cluster moves on'],
    what: 'the record of a removed worker is deleted although a pending job needs it',
    law: /L12: record/,
    edits: [
      {
        file: 'kinds/nodeset/model/kept-records.ts',
        find: 'if (deletable.length === 0 ||',
        replace: 'if (deletable.length >= 0 ||',
      },
    ],
  },
  {
    name: 'future-nodes',
    aim: ['FUTURE nodes and maxNodeCount'],
    often: ['lower maxNodeCount beside FUTURE nodes', 'scale', 'submit a job', 'the cluster moves on'],
    what: 'MaxNodeCount is lowered below the workers and FUTURE nodes together',
    law: /L12: .* MaxNodeCount|L8: nodes/,
    edits: [
      {
        file: 'slurm-config/guard/node-room.ts',
        find: 'added: unlisted(to, slurm),',
        replace: 'added: 0 * unlisted(to, slurm),',
      },
    ],
  },
  {
    name: 'node-room',
    aim: ['FUTURE nodes and maxNodeCount'],
    often: ['name FUTURE nodes under a low maxNodeCount', 'scale', 'submit a job', 'the cluster moves on'],
    what: 'nodes that slurm.conf names take the room of workers under MaxNodeCount',
    law: /L12: .* MaxNodeCount|L8: nodes/,
    edits: [
      {
        file: 'slurm-config/guard/guard-config.ts',
        find: 'const room = nodeRoomHolds(change, going.length);',
        replace: 'const room = nodeRoomHolds(change, going.length).slice(0, 0);',
      },
    ],
  },
  {
    name: 'kept-state',
    often: [
      'uninstall, and install again with the kept state',
      'create a NodeSet',
      'submit a job',
      'the cluster moves on',
    ],
    what: 'slurmctld starts with a kept state before the NodeSets of its jobs are there',
    law: /L12: .* its partition/,
    edits: [
      {
        file: 'kinds/controller/config-evidence.ts',
        find: 'const kept = text === undefined ? await findKeptState(input) : undefined;',
        replace: 'const kept = text === null ? await findKeptState(input) : undefined;',
      },
    ],
  },
  {
    name: 'unnoted-state',
    often: [
      'uninstall, and install again with the kept state',
      'create a NodeSet',
      'submit a job',
      'the cluster moves on',
    ],
    what: 'the partitions of a new slurm.conf are not noted on the claim of the state',
    law: /L12: .* its partition/,
    edits: [
      {
        file: 'kinds/controller/plan/plan.ts',
        find: 'const noteActions = notes.write.map(noteState);',
        replace: 'const noteActions = notes.write.slice(0, 0).map(noteState);',
      },
    ],
  },
  {
    name: 'absent-secret',
    aim: ['take the keys away'],
    often: ['a Secret is away', 'the Secrets are back', 'the cluster moves on'],
    what: 'a Secret that is away for a moment restarts slurmctld',
    law: /L14: /,
    edits: [
      {
        file: 'kinds/controller/plan/decide.ts',
        find: "return slurmKey !== '' && jwtKey !== '' && costsJobs !== true;",
        replace: "return (slurmKey !== 'never' || jwtKey !== 'never') && costsJobs !== true;",
      },
      {
        file: 'framework/plan-workload.ts',
        find: "isDigest.test(key) && value === '' ? (known[key] ?? '') : value,",
        replace: "isDigest.test(key) && value === 'never' ? (known[key] ?? '') : value,",
      },
    ],
  },
];

const operatorPackage = fileURLToPath(new URL('..', import.meta.url));
const nodeModules = fileURLToPath(new URL('../../../node_modules', import.meta.url));
/** What the tests of the operator read by its path. */
const slurmPackage = fileURLToPath(new URL('../../slurm', import.meta.url));

/** Copies the operator below a directory, with this fault in it; answers where the copy is. */
export function plant(fault: PlantedFault, directory: string): string {
  const copy = join(directory, 'packages/operator');
  mkdirSync(copy, { recursive: true });
  for (const part of ['src', 'testing', 'generated', 'package.json'])
    cpSync(join(operatorPackage, part), join(copy, part), { recursive: true });
  symlinkSync(nodeModules, join(directory, 'node_modules'));
  symlinkSync(slurmPackage, join(directory, 'packages/slurm'));
  for (const [file, text] of withFault(fault)) writeFileSync(join(copy, 'src', file), text);
  return copy;
}

/** The files that it changes → their text with it. Throws where the sources no longer have what it changes. */
export function withFault({ name, edits }: PlantedFault): ReadonlyMap<string, string> {
  const texts = new Map<string, string>();
  for (const { file, find, replace } of edits) {
    const parts = (texts.get(file) ?? readFileSync(join(operatorPackage, 'src', file), 'utf8')).split(find);
    if (parts.length !== 2)
      throw new Error(
        `planted fault ${name}: "${find}" stands ${parts.length - 1} times in ${file}; correct the fault in planted-faults.ts`,
      );
    texts.set(file, parts.join(replace));
  }
  return texts;
}

/** Those that the soak finds. */
export const soakFaults: readonly PlantedFault[] = [...plantedFaults, ...autoscaleFaults].filter(
  ({ aim }) => aim !== undefined,
);

export function faultNamed(name: string): PlantedFault {
  const found = [...plantedFaults, ...autoscaleFaults].find((fault) => fault.name === name);
  if (found === undefined)
    throw new Error(
      `there is no planted fault ${name}; choose one of ${soakFaults.map((fault) => fault.name).join(', ')}`,
    );
  return found;
}

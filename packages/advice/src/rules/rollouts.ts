/** G: rollouts and scale-ins that do not end. */
import { annotation, conditionType, label, type NodeSet, type Reason, reasons } from '@slurm-operator/api';
import type { Live } from '@slurm-operator/kube';
import { jobDeadline } from '@slurm-operator/slurm';
import { type Cause, family, rule } from '../finding.ts';
import { count, hosts, listed, moment, quote } from '../text/text.ts';
import {
  type AnyPod,
  conditionOf,
  isReady,
  isTerminating,
  isWorker,
  slurmName,
  time,
  type WithConditions,
  withReason,
} from './read.ts';
import { jobsByNode } from './slurm-nodes.ts';

const podsOf = (pods: readonly AnyPod[], set: Live<NodeSet>): readonly AnyPod[] =>
  pods.filter(
    (pod) => isWorker(pod) && pod.metadata.ownerReferences?.some(({ uid }) => uid === set.metadata.uid),
  );
const isOld = (pod: AnyPod, set: Live<NodeSet>) =>
  (set.status?.nodeSetHash ?? '') !== '' && pod.metadata.labels?.[label.revision] !== set.status?.nodeSetHash;
const isDraining = (pod: AnyPod) =>
  pod.status?.conditions?.some(
    ({ type, message }) => type === 'SlurmNodeStateDrain' && message?.startsWith('slurm-operator:'),
  ) ?? false;
const about = (set: WithConditions) => ({ kind: set.kind, name: set.metadata.name });

/** Reasons of `Ready` that rules above do not explain. */
const covered: ReadonlySet<string> = new Set<Reason>([
  'Ready',
  'Starting',
  'Scaling',
  'ScaledToZero',
  'External',
  'Deleting',
]);

export const rolloutRules = family('rollouts', [
  rule({
    id: 'G1',
    title: 'Workers that are being replaced or removed wait for jobs',
    severity: 'info',
    needs: ['nodeSets', 'pods'],
    *find({ nodeSets, pods }, context) {
      for (const set of nodeSets) {
        const draining = podsOf(pods, set).filter((pod) => isDraining(pod) && !isTerminating(pod));
        const ends = draining
          .map((pod) => time(pod.metadata.annotations?.[annotation.podDeadline]))
          .filter((at) => at !== undefined);
        if (draining.length === 0 || ends.length === 0) continue;
        yield {
          subject: about(set),
          says: `${count(draining.length, 'worker')} of ${set.metadata.name} ${draining.length === 1 ? 'waits' : 'wait'} for jobs: ${hosts(draining.map(slurmName))}. The last job must end by ${moment(Math.max(...ends), context)}.`,
          fix: ['Wait, cancel the jobs (kubectl slurm jobs), or scale out again.'],
        };
      }
    },
  }),
  rule({
    id: 'G2',
    title: 'A rollout waits for a job without a time limit',
    severity: 'warning',
    needs: ['nodeSets', 'pods', 'jobs'],
    *find({ nodeSets, pods, jobs }) {
      const work = jobsByNode(jobs);
      for (const set of nodeSets) {
        const leaving = podsOf(pods, set).filter((pod) => isDraining(pod));
        const endless = leaving.flatMap((pod) =>
          (work.get(slurmName(pod)) ?? [])
            .filter((job) => jobDeadline(job) === 'infinite')
            .map((job) => ({ job, node: slurmName(pod) })),
        );
        const [first] = endless;
        if (first === undefined) continue;
        yield {
          subject: about(set),
          says: `Job ${first.job.id} (${first.job.user}) on ${first.node} has no time limit: this worker may never be replaced${endless.length > 1 ? `, and ${count(endless.length - 1, 'other job')} likewise` : ''}.`,
          fix: [`kubectl slurm scontrol -- update jobid=${first.job.id} timelimit=1-00:00:00`],
        };
      }
    },
  }),
  rule({
    id: 'G3',
    title: 'Decisions are withheld because Slurm is unknown',
    severity: 'warning',
    needs: ['nodeSets'],
    *find({ nodeSets }) {
      for (const set of nodeSets) {
        const found = withReason(set, ['SlurmUnknown']);
        if (found !== undefined)
          yield {
            subject: about(set),
            says: `No worker of ${set.metadata.name} is deleted: ${quote(found.message)}`,
            fix: ['kubectl slurm doctor'],
            after: [{ rule: 'B1' }],
          };
      }
    },
  }),
  rule({
    id: 'G4',
    title: 'The budget of a rollout is used up by workers that are not ready',
    needs: ['nodeSets', 'pods'],
    *find({ nodeSets, pods }) {
      for (const set of nodeSets) {
        const mine = podsOf(pods, set);
        const old = mine.filter((pod) => isOld(pod, set));
        const failing = mine.filter((pod) => !isReady(pod) && !isTerminating(pod) && !isOld(pod, set));
        const allowed = set.spec.updateStrategy?.rollingUpdate?.maxUnavailable ?? '25%';
        const budget =
          typeof allowed === 'number'
            ? allowed
            : Math.ceil((Number.parseInt(allowed, 10) / 100) * (set.spec.replicas ?? 1));
        if (old.length === 0 || failing.length === 0 || failing.length < budget) continue;
        yield {
          subject: about(set),
          says: `The rollout of ${set.metadata.name} waits: ${hosts(failing.map(({ metadata }) => metadata.name))} ${failing.length === 1 ? 'is' : 'are'} not ready and ${failing.length === 1 ? 'uses' : 'use'} the whole budget (maxUnavailable ${allowed}). ${count(old.length, 'worker')} ${old.length === 1 ? 'keeps' : 'keep'} the old revision.`,
          fix: ['Fix these workers, or go back: kubectl slurm rollout undo nodeset/' + set.metadata.name],
          after: failing.flatMap(({ metadata }) =>
            ['D1', 'D2', 'D4', 'D15', 'D5', 'D16'].map((id) => ({ rule: id, subject: metadata.name })),
          ),
        };
      }
    },
  }),
  rule({
    id: 'G5',
    title: 'A rollout is paused, partitioned or waits for its window',
    severity: 'warning',
    needs: ['nodeSets', 'pods'],
    *find({ nodeSets, pods }, context) {
      for (const set of nodeSets) {
        const old = podsOf(pods, set).filter((pod) => isOld(pod, set));
        const strategy = set.spec.updateStrategy;
        const rolling = strategy?.rollingUpdate;
        if (old.length === 0) continue;
        const start = time(strategy?.scheduledUpdate?.startTime);
        const [says, fix] = rolling?.paused
          ? ['paused is true', `kubectl slurm rollout resume nodeset/${set.metadata.name}`]
          : strategy?.type === 'ScheduledUpdate' && start !== undefined && start > context.now
            ? [`its window begins at ${moment(start, context)}`, 'Wait.']
            : strategy?.type === 'RollingUpdate' && (rolling?.partition ?? 0) > 0
              ? [
                  `partition ${rolling?.partition} keeps the workers below that ordinal as they are`,
                  'Set updateStrategy.rollingUpdate.partition to 0.',
                ]
              : [undefined, ''];
        if (says === undefined) continue;
        yield {
          severity: rolling?.paused ? 'warning' : 'info',
          subject: about(set),
          says: `${count(old.length, 'worker')} of ${set.metadata.name} ${old.length === 1 ? 'has' : 'have'} the old revision: ${says}.`,
          fix: [fix],
        };
      }
    },
  }),
  rule({
    id: 'G6',
    title: 'A rollout makes no progress',
    needs: ['nodeSets', 'loginSets', 'restApis'],
    *find(values) {
      for (const object of Object.values(values).flat()) {
        const found = withReason(object, ['RolloutStuck']);
        if (found !== undefined)
          yield {
            subject: about(object),
            says: quote(found.message, 400),
            fix: ['Upgrade slurmctld first, or correct the template. The old pods keep running.'],
            after: [{ rule: 'B13' }, { rule: 'D4' }],
          };
      }
    },
  }),
  rule({
    id: 'G7',
    title: 'Workers are replaced only when you delete them',
    severity: 'info',
    needs: ['nodeSets', 'pods'],
    *find({ nodeSets, pods }) {
      for (const set of nodeSets) {
        const old = podsOf(pods, set).filter((pod) => isOld(pod, set));
        if (set.spec.updateStrategy?.type !== 'OnDelete' || old.length === 0) continue;
        yield {
          subject: about(set),
          says: `${count(old.length, 'worker')} of ${set.metadata.name} ${old.length === 1 ? 'has' : 'have'} the old revision: OnDelete waits until you delete them (${hosts(old.map(({ metadata }) => metadata.name))}).`,
          fix: [`Drain them first: kubectl slurm drain ${hosts(old.map(slurmName))} --reason update --wait`],
        };
      }
    },
  }),
  rule({
    id: 'G8',
    title: 'A claim that is being deleted blocks a new worker',
    severity: 'warning',
    needs: ['claims', 'pods'],
    *find({ claims, pods }, { namespace }) {
      for (const { metadata } of claims) {
        if (metadata.deletionTimestamp === undefined) continue;
        const user = pods.find(({ spec }) =>
          spec?.volumes?.some(
            ({ persistentVolumeClaim }) => persistentVolumeClaim?.claimName === metadata.name,
          ),
        );
        yield {
          subject: { kind: 'PersistentVolumeClaim', name: metadata.name },
          says: `Claim ${metadata.name} is being deleted${user === undefined ? '' : ` and is still used by pod ${user.metadata.name}`}: its worker cannot be created until it is gone.`,
          fix: [`kubectl -n ${namespace} describe pvc ${metadata.name}`],
        };
      }
    },
  }),
  rule({
    id: 'G9',
    title: 'Two writers change replicas',
    severity: 'warning',
    needs: ['nodeSets'],
    *find({ nodeSets }) {
      for (const set of nodeSets) {
        const writers = ((set.metadata as { readonly managedFields?: unknown }).managedFields ??
          []) as readonly {
          readonly manager?: string;
          readonly fieldsV1?: { readonly 'f:spec'?: Readonly<Record<string, unknown>> };
        }[];
        const owners = [
          ...new Set(
            writers
              .filter(({ fieldsV1 }) => fieldsV1?.['f:spec']?.['f:replicas'] !== undefined)
              .map(({ manager }) => manager ?? ''),
          ),
        ];
        if (owners.length < 2) continue;
        yield {
          subject: about(set),
          says: `replicas of ${set.metadata.name} is written by ${listed(owners)}: they undo each other's changes.`,
          fix: ['Leave replicas out of the manifest when an autoscaler sets it.'],
        };
      }
    },
  }),
  rule({
    id: 'G10',
    title: 'A NodeSet has no workers and jobs wait for it',
    severity: 'warning',
    needs: ['nodeSets', 'jobs'],
    *find({ nodeSets, jobs }, { job: only }) {
      if (only !== undefined) return;
      for (const set of nodeSets) {
        if (set.spec.scalingMode === 'DaemonSet' || (set.spec.replicas ?? 1) > 0) continue;
        const waiting = jobs.filter(
          ({ state, partition }) =>
            state.includes('PENDING') &&
            partition
              .split(',')
              .some((one) => one === set.metadata.name || set.metadata.name.endsWith(`-${one}`)),
        );
        if (waiting.length > 0)
          yield {
            subject: about(set),
            says: `NodeSet ${set.metadata.name} has 0 replicas, and ${count(waiting.length, 'job')} ${waiting.length === 1 ? 'waits' : 'wait'} for its partition.`,
            fix: [`kubectl -n ${set.metadata.namespace} scale nodeset ${set.metadata.name} --replicas=1`],
            after: [{ rule: 'F4' }],
          };
      }
    },
  }),
  rule({
    id: 'G11',
    title: 'A NodeSet that is being deleted waits',
    severity: 'warning',
    needs: ['nodeSets'],
    *find({ nodeSets }) {
      for (const set of nodeSets) {
        if (set.metadata.deletionTimestamp === undefined) continue;
        const found = conditionOf(set, conditionType.ready);
        yield {
          subject: about(set),
          says: `NodeSet ${set.metadata.name} is being deleted and waits: ${quote(found?.message ?? 'for its workers to drain')}`,
          fix: ['Wait or cancel the jobs; deletionPolicy: Delete ends them at once.'],
          after: [{ rule: 'B1' }],
        };
      }
    },
  }),
  rule({
    id: 'G12',
    title: 'An object is not ready',
    needs: ['controllers', 'nodeSets', 'loginSets', 'accountings', 'restApis'],
    *find(values, { namespace }) {
      for (const object of Object.values(values).flat()) {
        const found = conditionOf(object, conditionType.ready);
        if (found === undefined || found.status !== 'False' || covered.has(found.reason)) continue;
        if (
          /Draining|RollingOut|Paused|WaitingForWindow|Reconfiguring|KeyRotation|ConfigHeld/.test(
            found.reason,
          )
        )
          continue;
        yield {
          subject: about(object),
          says: `${object.kind} ${object.metadata.name} is not ready (${found.reason}): ${quote(found.message, 400)}`,
          fix: [
            reasons[found.reason as Reason]?.advice ||
              `kubectl -n ${namespace} describe ${object.kind.toLowerCase()} ${object.metadata.name}`,
          ],
          // Whatever explains it better.
          after: causesOf(object, found.message),
        };
      }
    },
  }),
]);

/** Without them nothing of a cluster works. */
const ofEverything = ['B9', 'B8', 'B20', 'B16', 'B1', 'D8', 'A6', 'A7', 'A11', 'G6', 'G3'];
const ofController = ['B7', 'B15', 'B18', 'B19', 'C11'];
/** They are about pods, nodes or objects with names. */
const ofOne =
  'B18 C1 C2 C12 C6 D4 D1 D2 D3 D5 D6 D9 D15 D16 D17 D7 D10 D11 D18 D19 D20 E2 E3 E4 E5 E6 E7 E14'.split(' ');

/** What explains a condition: a finding about something that it names, or about a pod of the object, else what concerns the whole cluster. */
function causesOf({ kind, metadata }: WithConditions, message: string): readonly Cause[] {
  const words = new Set(message.split(/[\s,;:'"]+/));
  const start = `${metadata.name}-`;
  const isAbout = (name: string) =>
    name === metadata.name ||
    words.has(name) ||
    // gpu-0 is a worker of gpu, gpu-big-0 is not.
    (name.startsWith(start) && (kind !== 'NodeSet' || /^\d+$/.test(name.slice(start.length))));
  return [
    ...ofOne.map((id) => ({ rule: id, isAbout })),
    ...[...ofEverything, ...(kind === 'Controller' ? ofController : [])].map((id) => ({ rule: id })),
    // Its message may name only the first of many nodes.
    ...(kind === 'NodeSet' ? ['E2', 'E3', 'E4', 'E5', 'E6', 'E7', 'E14', 'D7'] : []).map((id) => ({
      rule: id,
    })),
  ];
}

/** E: Slurm nodes that take no jobs. */
import { reasonPrefix } from '@slurm-operator/api';
import {
  expandHostlist,
  isBusy,
  isDown,
  isDrain,
  isInvalidRegistration,
  isNotResponding,
  jobDeadline,
  type SlurmJob,
  type SlurmNode,
} from '@slurm-operator/slurm';
import type { Context } from '../evidence/values.ts';
import { family, rule } from '../finding.ts';
import { count, hosts, moment, quote, span } from '../text/text.ts';
import { isReady, isTerminating, isWorker, slurmName, time } from './read.ts';

const tooLittle =
  /Low RealMemory|low socket|low cores?|low cpus?|gres\/\S+ count (reported|too) low|Low TmpDisk/i;
const scripts = /prolog|epilog|batch job complete failure/i;
const healthChecks = /\[(node_problem|user_problem)\]|health ?check|NHC|k8s: cordon|node condition/i;
const isOurs = (node: SlurmNode) => node.reason.startsWith(reasonPrefix);
export const nodesOf = (nodes: readonly SlurmNode[]) => hosts(nodes.map(({ name }) => name));
export const subjectOf = (nodes: readonly SlurmNode[]) => ({ kind: 'SlurmNode', name: nodesOf(nodes) });
const resume = (nodes: readonly SlurmNode[]) => `kubectl slurm resume ${nodesOf(nodes)}`;
export const related = (nodes: readonly SlurmNode[]) => nodes.map(({ name }) => name);

/** `bob, 3 d ago`. */
function setBy(node: SlurmNode, now: number): string {
  const by = node.reasonSetBy === '' ? 'someone' : node.reasonSetBy;
  return node.reasonSetAt === undefined ? by : `${by}, ${span(now - node.reasonSetAt)} ago`;
}

/** Drains that a rule below explains better than "someone drained it". */
const isSpecial = (node: SlurmNode) =>
  isInvalidRegistration(node.state) ||
  [tooLittle, scripts, healthChecks, /Kill task failed/i, /Not responding/i, /unexpectedly rebooted/i].some(
    (one) => one.test(node.reason),
  );

/** One rule for nodes whose reason Slurm wrote itself. */
const byReason = (
  id: string,
  title: string,
  matches: (node: SlurmNode) => boolean,
  says: (nodes: string, one: boolean) => string,
  fix: (nodes: readonly SlurmNode[]) => readonly string[],
) =>
  rule({
    id,
    title,
    needs: ['slurmNodes'],
    *find({ slurmNodes }: { readonly slurmNodes: readonly SlurmNode[] }, { now }: Context) {
      const found = slurmNodes.filter((node) => !isOurs(node) && matches(node));
      for (const [reason, mine] of Map.groupBy(found, (node) => node.reason)) {
        const [first] = mine;
        if (first === undefined) continue;
        yield {
          subject: subjectOf(mine),
          says: says(nodesOf(mine), mine.length === 1),
          because: [`"${quote(reason)}" (${setBy(first, now)})`],
          fix: fix(mine),
          related: related(mine),
        };
      }
    },
  });

/** The jobs on a node and when the last must end. */
function work(node: SlurmNode, jobs: ReadonlyMap<string, readonly SlurmJob[]>, context: Context): string {
  const mine = jobs.get(node.name) ?? [];
  const ends = mine.map((job) => jobDeadline(job));
  if (mine.length === 0) return 'no job is left';
  if (ends.includes('infinite')) return `${count(mine.length, 'job')}, one without a time limit`;
  const last = Math.max(...ends.filter((end) => typeof end === 'number'));
  return `${count(mine.length, 'job')}${Number.isFinite(last) ? ` until ${moment(last, context)} at the latest` : ''}`;
}

export function jobsByNode(jobs: readonly SlurmJob[]): ReadonlyMap<string, readonly SlurmJob[]> {
  const found = new Map<string, SlurmJob[]>();
  for (const job of jobs) {
    if (jobDeadline(job) === undefined) continue;
    for (const node of expandHostlist(job.nodes)) {
      const mine = found.get(node);
      if (mine === undefined) found.set(node, [job]);
      else mine.push(job);
    }
  }
  return found;
}

export const slurmNodeRules = family('slurm-nodes', [
  rule({
    id: 'E1',
    title: 'The operator drained nodes',
    severity: 'info',
    needs: ['slurmNodes', 'jobs'],
    *find({ slurmNodes, jobs }, context) {
      const ours = slurmNodes.filter((node) => isDrain(node.state) && isOurs(node));
      if (ours.length === 0) return;
      const work_ = jobsByNode(jobs);
      for (const [reason, mine] of Map.groupBy(ours, (node) => node.reason.slice(reasonPrefix.length)))
        yield {
          subject: subjectOf(mine),
          says: `The operator drained ${nodesOf(mine)}: ${quote(reason)}.`,
          because: mine
            .filter((node) => isBusy(node.state))
            .slice(0, 5)
            .map((node) => `${node.name}: ${work(node, work_, context)}`),
          fix: ['Wait, cancel the jobs, or revert the change (scale out again, uncordon).'],
          related: related(mine),
        };
    },
  }),
  rule({
    id: 'E2',
    title: 'Someone drained nodes',
    severity: 'warning',
    needs: ['slurmNodes'],
    *find({ slurmNodes }, { now }) {
      const drained = slurmNodes.filter((node) => isDrain(node.state) && !isOurs(node) && !isSpecial(node));
      for (const [, mine] of Map.groupBy(drained, (node) => `${node.reasonSetBy} ${node.reason}`)) {
        const [first] = mine;
        if (first === undefined) continue;
        yield {
          subject: subjectOf(mine),
          says: `${nodesOf(mine)} ${mine.length === 1 ? 'is' : 'are'} drained by ${setBy(first, now)}: "${quote(first.reason)}". The operator never undoes such a drain.`,
          fix: [resume(mine)],
          related: related(mine),
        };
      }
    },
  }),
  byReason(
    'E3',
    'A node has less than slurm.conf says',
    (node) => isInvalidRegistration(node.state) || tooLittle.test(node.reason),
    (nodes, one) =>
      `${nodes} ${one ? 'reports' : 'report'} fewer resources than slurm.conf says, so Slurm drained ${one ? 'it' : 'them'}.`,
    (mine) => ['Correct the limits of slurmd, extraConf or gres.conf.', resume(mine)],
  ),
  byReason(
    'E4',
    'Processes of a job did not end',
    (node) => /Kill task failed/i.test(node.reason),
    (nodes) =>
      `Processes of a job on ${nodes} did not end within UnkillableStepTimeout: often a file system or a device that hangs.`,
    (mine) => [`kubectl slurm logs slurmd/${mine[0]?.name ?? ''}`, resume(mine)],
  ),
  byReason(
    'E5',
    'A prolog or epilog failed',
    (node) => scripts.test(node.reason),
    (nodes) => `A script around a job failed on ${nodes}, so Slurm drained it.`,
    (mine) => [`kubectl slurm logs slurmd/${mine[0]?.name ?? ''}`, resume(mine)],
  ),
  rule({
    id: 'E6',
    title: 'slurmctld does not reach a worker that is ready',
    needs: ['slurmNodes', 'pods'],
    *find({ slurmNodes, pods }, { now, namespace }) {
      const byName = new Map(pods.filter(isWorker).map((pod) => [slurmName(pod), pod]));
      for (const node of slurmNodes) {
        const pod = byName.get(node.name);
        if (pod === undefined || !isReady(pod) || isTerminating(pod)) continue;
        if (!isNotResponding(node.state) && !/Not responding/i.test(node.reason)) continue;
        const address = pod.status?.podIP ?? '';
        const stale = address !== '' && /^\d+\./.test(node.address) && node.address !== address;
        yield {
          subject: { kind: 'SlurmNode', name: node.name },
          says: stale
            ? `slurmctld does not reach ${node.name}: it uses the address ${node.address}, and the pod has ${address}.`
            : `slurmctld does not reach ${node.name}, although its pod is ready: a NetworkPolicy, or slurmd hangs.`,
          because: node.reason === '' ? [] : [`"${quote(node.reason)}" (${setBy(node, now)})`],
          fix: stale
            ? [`kubectl -n ${namespace} delete pod ${pod.metadata.name}`]
            : [
                `kubectl slurm logs slurmd/${pod.metadata.name}`,
                `kubectl -n ${namespace} get networkpolicies`,
              ],
          related: [node.name],
          after: [{ rule: 'D11', subject: pod.spec?.nodeName ?? '' }, { rule: 'B1' }],
        };
      }
    },
  }),
  byReason(
    'E7',
    'A node restarted unexpectedly and stays down',
    (node) => /unexpectedly rebooted/i.test(node.reason),
    (nodes) =>
      `slurmd of ${nodes} restarted while Slurm believed it was running; it stays down unless ReturnToService=2.`,
    (mine) => [resume(mine)],
  ),
  byReason(
    'E8',
    'A health check drained nodes',
    (node) => isDrain(node.state) && healthChecks.test(node.reason),
    (nodes) => `A health check drained ${nodes}.`,
    (mine) => ['Follow the advice of the check.', resume(mine)],
  ),
  rule({
    id: 'E12',
    title: 'The pod behind a drained node was replaced after the drain',
    severity: 'info',
    needs: ['slurmNodes', 'pods'],
    *find({ slurmNodes, pods }, { now }) {
      const byName = new Map(pods.filter(isWorker).map((pod) => [slurmName(pod), pod]));
      const probably = slurmNodes.filter((node) => {
        const created = time(byName.get(node.name)?.metadata.creationTimestamp);
        return (
          isDrain(node.state) &&
          !isOurs(node) &&
          created !== undefined &&
          node.reasonSetAt !== undefined &&
          created > node.reasonSetAt + 60_000 &&
          now - node.reasonSetAt > 24 * 3_600_000
        );
      });
      if (probably.length === 0) return;
      yield {
        subject: subjectOf(probably),
        says: `The pod of ${nodesOf(probably)} is newer than its drain: the reason may no longer hold.`,
        because: probably
          .slice(0, 3)
          .map((node) => `${node.name}: "${quote(node.reason)}" (${setBy(node, now)})`),
        fix: [resume(probably)],
        after: probably.map((node) => ({ rule: 'E2', subject: node.name })),
        related: related(probably),
      };
    },
  }),
  rule({
    id: 'E13',
    title: 'A job has been completing for long',
    severity: 'warning',
    needs: ['jobs'],
    *find({ jobs }, { now }) {
      const stuck = jobs.filter(
        ({ state, endedAt }) =>
          state.includes('COMPLETING') && endedAt !== undefined && now - endedAt > 600_000,
      );
      for (const job of stuck)
        yield {
          subject: { kind: 'Job', name: String(job.id) },
          says: `Job ${job.id} (${job.user}) has been completing for ${span(now - (job.endedAt ?? now))} on ${job.nodes}: its epilog or a file system hangs.`,
          fix: [`kubectl slurm logs --job ${job.id}`],
          related: expandHostlist(job.nodes),
        };
    },
  }),
  rule({
    id: 'E14',
    title: 'A node is down',
    needs: ['slurmNodes', 'pods'],
    *find({ slurmNodes, pods }, { now }) {
      const byName = new Map(pods.filter(isWorker).map((pod) => [slurmName(pod), pod]));
      const down = slurmNodes.filter(
        (node) => isDown(node.state) && !isSpecial(node) && !isDrain(node.state) && byName.has(node.name),
      );
      for (const node of down) {
        const pod = byName.get(node.name);
        yield {
          subject: { kind: 'SlurmNode', name: node.name },
          says: `${node.name} is down${node.reason === '' ? '' : `: "${quote(node.reason)}" (${setBy(node, now)})`}.`,
          fix: [`kubectl slurm logs slurmd/${pod?.metadata.name ?? node.name}`, resume([node])],
          related: [node.name],
          after: [
            { rule: 'D11', subject: pod?.spec?.nodeName ?? '' },
            { rule: 'D15', subject: pod?.metadata.name ?? '' },
            { rule: 'D12' },
          ],
        };
      }
    },
  }),
  rule({
    id: 'E16',
    title: 'A node failed',
    needs: ['slurmNodes'],
    *find({ slurmNodes }, { now }) {
      for (const node of slurmNodes)
        if ((node.state.flags.has('FAIL') || node.state.base === 'ERROR') && !isDrain(node.state))
          yield {
            subject: { kind: 'SlurmNode', name: node.name },
            says: `${node.name} is in state FAIL: "${quote(node.reason)}" (${setBy(node, now)}).`,
            fix: [resume([node])],
            related: [node.name],
          };
    },
  }),
]);

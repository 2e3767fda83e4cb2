/** D: worker pods that do not run or that Slurm does not know. */

import { family, rule } from '../finding.ts';
import { count, hosts, lastError, listed, quote, span } from '../text/text.ts';
import {
  type AnyPod,
  containerStates,
  isReady,
  isTerminating,
  isWorker,
  logOf,
  slurmName,
  time,
  unschedulable,
} from './read.ts';

const pullReasons = ['ErrImagePull', 'ImagePullBackOff', 'InvalidImageName', 'ErrImageNeverPull'];
/** How long a worker may take to register once it is ready. */
const joins = 180_000;

const age = (pod: AnyPod, now: number): number => now - (time(pod.metadata.creationTimestamp) ?? now);
const names = (pods: readonly AnyPod[]): string => hosts(pods.map(({ metadata }) => metadata.name));
/** One subject for pods that have the same problem. */
const subjectOf = (pods: readonly AnyPod[]) => ({ kind: 'Pod', name: names(pods) });

/** Log lines of slurmd and what they mean. */
const knownLogs = [
  {
    id: 'D5',
    title: 'slurmd cannot create control groups',
    pattern:
      /cgroup.*(Read-only file system|Permission denied|cannot|unable|failed)|cannot initialize cgroup/i,
    says: 'cannot create control groups: the pod is not privileged, or /sys/fs/cgroup is read-only.',
    fix: ['Set slurmd.securityContext.privileged: true, or CgroupPlugin=disabled in cgroup.conf.'],
  },
  {
    id: 'D6',
    title: 'slurmd got no configuration from slurmctld',
    pattern:
      /Unable to determine this slurmd's NodeName|DNS SRV lookup failed|_fetch_config|failed to load configs|Could not establish a configuration source/i,
    says: 'got no configuration: slurmctld was not reachable when slurmd started.',
    fix: ['kubectl slurm logs slurmctld', 'Check NetworkPolicies for ports 6817 and 6818.'],
  },
  {
    id: 'D9',
    title: 'Slurm has no room for another dynamic node',
    pattern: /MaxNodeCount|No more node table space|node table is full/i,
    says: 'cannot register: slurm.conf allows no more dynamic nodes (MaxNodeCount).',
    fix: ['Raise MaxNodeCount in spec.extraConf of the Controller.'],
  },
] as const;

export const workerRules = family('workers', [
  rule({
    id: 'D1',
    title: 'No node can run a worker',
    needs: ['pods'],
    *find({ pods }) {
      const waiting = pods.filter(
        (pod) => unschedulable(pod) !== '' && !/untolerated taint/.test(unschedulable(pod)),
      );
      for (const [said, mine] of Map.groupBy(waiting, unschedulable))
        yield {
          subject: subjectOf(mine),
          says: `No Kubernetes node can run ${names(mine)}: ${quote(said)}`,
          because: /anti-affinity|node\(s\) didn't have free ports/.test(said)
            ? ['By default each node runs one worker.']
            : [],
          fix: ['Add nodes, reduce replicas or requests, or set oversubscribeNode: true in the NodeSet.'],
        };
    },
  }),
  rule({
    id: 'D2',
    title: 'Nodes have a taint that the workers do not tolerate',
    needs: ['pods'],
    *find({ pods }) {
      const waiting = pods.filter((pod) => /untolerated taint/.test(unschedulable(pod)));
      for (const [said, mine] of Map.groupBy(waiting, unschedulable)) {
        const taint = /untolerated taint\s*\{?\s*([^}:]+)(?::\s*([^}]*))?\}?/.exec(said);
        const key = taint?.[1]?.trim() ?? 'KEY';
        yield {
          subject: subjectOf(mine),
          says: `No Kubernetes node can run ${names(mine)}: nodes have the taint ${key}, which the template does not tolerate.`,
          because: [quote(said)],
          fix: [`Add to spec.template.spec.tolerations of the NodeSet: - { key: ${key}, operator: Exists }`],
        };
      }
    },
  }),
  rule({
    id: 'D3',
    title: 'The kubelet refuses the pod for its topology policy or devices',
    needs: ['pods'],
    *find({ pods }) {
      for (const pod of pods) {
        const reason = pod.status?.reason ?? '';
        if (!/TopologyAffinityError|UnexpectedAdmissionError|OutOf/.test(reason)) continue;
        yield {
          subject: { kind: 'Pod', name: pod.metadata.name },
          says: `The kubelet of ${pod.spec?.nodeName ?? 'its node'} refuses ${pod.metadata.name} (${reason}): ${quote(pod.status?.message ?? 'no message')}`,
          fix: ['Use topologyManagerPolicy best-effort on the node, or request fewer devices per worker.'],
        };
      }
    },
  }),
  rule({
    id: 'D4',
    title: 'An image cannot be pulled',
    needs: ['pods'],
    *find({ pods }) {
      const failing = pods.flatMap((pod) =>
        containerStates(pod)
          .filter(({ waiting }) => pullReasons.includes(waiting))
          .map((state) => ({ pod, state })),
      );
      for (const [image, mine] of Map.groupBy(failing, ({ state }) => state.image)) {
        const members = mine.map(({ pod }) => pod);
        const secrets = members[0]?.spec?.imagePullSecrets ?? [];
        yield {
          subject: subjectOf(members),
          says: `The image ${image} cannot be pulled for ${names(members)}.`,
          because: [
            quote(mine.map(({ state }) => state.message).find((message) => message !== '') ?? 'no message'),
            ...(secrets.length === 0 ? ['imagePullSecrets is empty'] : []),
          ],
          fix: ['Correct the image or the registry, or add imagePullSecrets.'],
        };
      }
    },
  }),
  ...knownLogs.map(({ id, title, pattern, says, fix }) =>
    rule({
      id,
      title,
      needs: ['pods', 'logs'],
      *find({ pods, logs }) {
        const mine = pods.filter((pod) => isWorker(pod) && pattern.test(logOf(logs, pod)));
        const [first] = mine;
        if (first === undefined) return;
        const line = logOf(logs, first)
          .split('\n')
          .findLast((each) => pattern.test(each));
        yield {
          subject: subjectOf(mine),
          says: `slurmd of ${names(mine)} ${says}`,
          because: [quote(line ?? '')],
          fix,
          ...(id === 'D6' ? { after: [{ rule: 'B1' }, { rule: 'B20' }] } : {}),
        };
      },
    }),
  ),
  rule({
    id: 'D7',
    title: 'A worker runs and Slurm does not know it',
    needs: ['pods', 'slurmNodes', 'logs'],
    *find({ pods, slurmNodes, logs }, { now }) {
      const known = new Set(slurmNodes.map(({ name }) => name));
      const workers = pods.filter((pod) => isWorker(pod) && !isTerminating(pod) && age(pod, now) > joins);
      const lost = workers.filter((pod) => isReady(pod) && !known.has(slurmName(pod)));
      const [first] = lost;
      // More than half is another problem: D8.
      if (first === undefined || lost.length * 2 > workers.length) return;
      const said = lastError(logOf(logs, first));
      yield {
        subject: subjectOf(lost),
        says: `${names(lost)} ${lost.length === 1 ? 'runs' : 'run'} and Slurm does not know ${lost.length === 1 ? 'it' : 'them'}.`,
        because: said === '' ? [] : [said],
        fix: [`kubectl slurm logs slurmd/${first.metadata.name}`],
        after: [{ rule: 'C7', subject: first.metadata.name }, { rule: 'D9' }, { rule: 'B1' }],
      };
    },
  }),
  rule({
    id: 'D8',
    title: 'Slurm lost most of its nodes',
    needs: ['pods', 'slurmNodes', 'diag'],
    *find({ pods, slurmNodes, diag }, { now }) {
      const known = new Set(slurmNodes.map(({ name }) => name));
      const ready = pods.filter((pod) => isWorker(pod) && isReady(pod) && age(pod, now) > joins);
      const lost = ready.filter((pod) => !known.has(slurmName(pod)));
      if (lost.length < 2 || lost.length * 2 <= ready.length) return;
      const young =
        diag.startedAt === undefined ? '' : `; slurmctld counts since ${span(now - diag.startedAt)}`;
      yield {
        subject: { kind: 'Cluster', name: 'nodes' },
        says: `Slurm does not know ${lost.length} of ${ready.length} ready workers: slurmctld seems to have lost its state. The operator replaces none of them.`,
        because: [`unknown: ${names(lost)}${young}`],
        fix: [
          'kubectl slurm logs slurmctld',
          'Restore the state of slurmctld, or restart the worker pods when no job runs.',
        ],
        doc: 'troubleshooting.md',
      };
    },
  }),
  rule({
    id: 'D11',
    title: 'A Kubernetes node with workers does not respond',
    needs: ['machines', 'pods'],
    *find({ machines, pods }, { now }) {
      const onNode = Map.groupBy(pods.filter(isWorker), ({ spec }) => spec?.nodeName ?? '');
      for (const machine of machines) {
        const ready = machine.status?.conditions?.find(({ type }) => type === 'Ready');
        const mine = onNode.get(machine.metadata.name) ?? [];
        if (ready === undefined || ready.status === 'True' || mine.length === 0) continue;
        const since = time(ready.lastTransitionTime) ?? now;
        yield {
          subject: { kind: 'Node', name: machine.metadata.name },
          says: `The Kubernetes node ${machine.metadata.name} has not responded for ${span(now - since)}; its ${mine.length === 1 ? 'worker' : 'workers'} ${names(mine)} ${mine.length === 1 ? 'counts' : 'count'} as lost, and jobs there as running until SlurmdTimeout.`,
          fix: [`If the node will not return: kubectl delete node ${machine.metadata.name}`],
          related: mine.map(slurmName),
        };
      }
    },
  }),
  rule({
    id: 'D12',
    title: 'A worker was killed for memory',
    needs: ['pods'],
    *find({ pods }, { now }) {
      const killed = pods.filter(
        (pod) =>
          isWorker(pod) &&
          containerStates(pod).some(
            ({ ended, endedAt }) => ended === 'OOMKilled' && now - (endedAt ?? now) < 24 * 3_600_000,
          ),
      );
      if (killed.length === 0) return;
      yield {
        subject: subjectOf(killed),
        says: `slurmd of ${names(killed)} was killed for memory in the last 24 h: jobs there ended with NODE_FAIL or were requeued.`,
        fix: [
          'Raise the memory limit of slurmd, or keep memory for slurmd itself: MemSpecLimit in extraConf.',
        ],
        related: killed.map(slurmName),
      };
    },
  }),
  rule({
    id: 'D13',
    title: 'A worker was evicted',
    needs: ['pods'],
    *find({ pods }) {
      for (const pod of pods)
        if (isWorker(pod) && pod.status?.phase === 'Failed' && pod.status.reason === 'Evicted')
          yield {
            subject: { kind: 'Pod', name: pod.metadata.name },
            says: `${pod.metadata.name} was evicted from ${pod.spec?.nodeName ?? 'its node'}: ${quote(pod.status.message ?? 'no message')}`,
            fix: ['Free disk or memory on the node, or set requests that match what jobs use.'],
            related: [slurmName(pod)],
          };
    },
  }),
  rule({
    id: 'D14',
    title: 'A pod does not terminate',
    severity: 'warning',
    needs: ['pods'],
    *find({ pods }, { now }) {
      for (const pod of pods) {
        const deleted = time(pod.metadata.deletionTimestamp);
        // deletionTimestamp already includes the grace period.
        if (deleted === undefined || now - deleted < 120_000) continue;
        yield {
          subject: { kind: 'Pod', name: pod.metadata.name },
          says: `${pod.metadata.name} should have ended ${span(now - deleted)} ago and still exists${(pod.metadata.finalizers ?? []).length > 0 ? ` (finalizers: ${listed(pod.metadata.finalizers ?? [])})` : ''}.`,
          fix: [`kubectl -n ${pod.metadata.namespace} describe pod ${pod.metadata.name}`],
          after: [{ rule: 'D11', subject: pod.spec?.nodeName ?? '' }],
        };
      }
    },
  }),
  rule({
    id: 'D15',
    title: 'A worker exits again and again',
    needs: ['pods', 'logs'],
    *find({ pods, logs }) {
      for (const pod of pods) {
        if (!isWorker(pod)) continue;
        const looping = containerStates(pod).find(({ waiting }) => waiting === 'CrashLoopBackOff');
        if (looping === undefined) continue;
        const said = lastError(logOf(logs, pod));
        yield {
          subject: { kind: 'Pod', name: pod.metadata.name },
          says: `${looping.name} in pod ${pod.metadata.name} is crash looping (${count(looping.restarts, 'restart')})${said === '' ? '.' : `: "${said}"`}`,
          fix: [`kubectl slurm logs slurmd/${pod.metadata.name} --previous`],
          related: [slurmName(pod)],
          after: [
            { rule: 'D5' },
            { rule: 'D6' },
            { rule: 'D9' },
            { rule: 'C7', subject: pod.metadata.name },
            { rule: 'B19' },
          ],
        };
      }
    },
  }),
]);

/** B: slurmctld, slurmrestd and the configuration. */
import { conditionType, type Reason, reasons } from '@slurm-operator/api';
import { family, rule } from '../finding.ts';
import { count, lastError, listed, quote, span } from '../text/text.ts';
import {
  component,
  conditionOf,
  containerStates,
  isReady,
  logOf,
  release,
  releaseOf,
  time,
  withReason,
} from './read.ts';

const connectionFix: Partial<Record<Reason, (namespace: string) => readonly string[]>> = {
  RestApiNotFound: () => ['Create a RestApi whose controllerRef names the Controller.'],
  ConnectionRefused: (namespace) => [
    `kubectl -n ${namespace} get pods -l app.kubernetes.io/component=restapi`,
    'kubectl slurm logs slurmrestd',
  ],
  ConnectionTimeout: (namespace) => [
    `kubectl -n ${namespace} get networkpolicies`,
    'kubectl slurm logs slurmrestd',
  ],
  ControllerUnreachable: () => ['kubectl slurm logs slurmctld'],
  AuthenticationFailed: () => [
    'kubectl slurm logs slurmctld',
    'Compare the JWT key of the Controller with the one in use.',
  ],
};

/** What slurmctld and slurmd may say at their end, and what it means. */
const knownLogs = [
  {
    id: 'B3',
    title: 'slurmctld refuses to start without the saved association usage',
    pattern: /No Assoc usage file|assoc_usage.*(not found|to recover)/i,
    says: 'slurmctld was killed before it saved its state for the first time with accounting, and refuses to start without that file.',
    fix: [
      'kubectl slurm logs slurmctld',
      'Use an image of this project (it starts without the file), or run slurmctld -i once.',
    ],
  },
  {
    id: 'B4',
    title: 'slurmctld crashes on its saved jobs',
    pattern: /segmentation fault|SIGSEGV|signal 11/i,
    says: 'slurmctld crashes while it reads its saved state: most often a job names a partition or node that is gone from slurm.conf.',
    fix: ['Put the partition back, let its jobs end, then remove it again.'],
  },
  {
    id: 'B5',
    title: 'slurmctld may not write its state directory',
    pattern: /Incorrect permissions on state save loc|state save location.*(permission|not writable)/i,
    says: 'slurmctld may not write its state directory.',
    fix: ['Set persistence.fixOwnership: true in the Controller if the volume ignores fsGroup.'],
  },
] as const;

export const controlPlaneRules = family('control-plane', [
  rule({
    id: 'B1',
    title: 'The operator is not connected to Slurm',
    needs: ['clusters'],
    *find({ clusters }, { namespace }) {
      for (const cluster of clusters) {
        const found = conditionOf(cluster, conditionType.slurmConnected);
        if (found === undefined || found.status !== 'False') continue;
        const advice = reasons[found.reason as Reason]?.advice;
        yield {
          subject: { kind: 'Cluster', name: cluster.metadata.name },
          says: `The operator cannot use Slurm (${found.reason}): ${quote(found.message)}`,
          because: [
            'No worker is deleted and nothing is drained until Slurm responds; running jobs continue.',
          ],
          fix:
            connectionFix[found.reason as Reason]?.(namespace) ??
            (advice === undefined || advice === '' ? ['kubectl slurm logs operator'] : [advice]),
          doc: 'troubleshooting.md',
          after: [
            { rule: 'B2' },
            { rule: 'B3' },
            { rule: 'B4' },
            { rule: 'B5' },
            { rule: 'B6' },
            { rule: 'B8' },
            { rule: 'B9' },
            { rule: 'B16' },
            { rule: 'B20' },
          ],
        };
      }
    },
  }),
  rule({
    id: 'B2',
    title: 'A NetworkPolicy keeps the operator from slurmrestd',
    needs: ['clusters', 'networkPolicies', 'operators'],
    *find({ clusters, networkPolicies, operators }) {
      const timeout = clusters.find((one) => withReason(one, ['ConnectionTimeout']) !== undefined);
      const from = operators[0]?.metadata.namespace ?? 'slinky';
      if (timeout === undefined) return;
      for (const { metadata, spec } of networkPolicies) {
        const selected = Object.entries(spec?.podSelector?.matchLabels ?? {});
        const covers = selected.every(
          ([key, value]) =>
            (key === 'app.kubernetes.io/name' && value === 'slurmrestd') ||
            (key === 'app.kubernetes.io/component' && value === 'restapi'),
        );
        const peers = (spec?.ingress ?? []).flatMap((one) => one.from ?? [{ namespaceSelector: {} }]);
        const admits = peers.some(
          ({ namespaceSelector }) =>
            namespaceSelector !== undefined &&
            Object.entries(namespaceSelector.matchLabels ?? {}).every(
              ([key, value]) => key !== 'kubernetes.io/metadata.name' || value === from,
            ),
        );
        if (!covers || admits) continue;
        yield {
          subject: { kind: 'NetworkPolicy', name: metadata.name },
          says: `NetworkPolicy ${metadata.name} selects slurmrestd and does not admit the namespace ${from} of the operator.`,
          fix: [
            `Add to its ingress: - from: [{ namespaceSelector: { matchLabels: { kubernetes.io/metadata.name: ${from} } } }]`,
          ],
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
        for (const pod of pods) {
          if (component(pod) !== 'controller') continue;
          const line = logOf(logs, pod)
            .split('\n')
            .findLast((each) => pattern.test(each));
          if (line === undefined) continue;
          yield { subject: { kind: 'Pod', name: pod.metadata.name }, says, because: [quote(line)], fix };
        }
      },
    }),
  ),
  rule({
    id: 'B6',
    title: 'The volume of slurmctld is not bound',
    needs: ['claims', 'storageClasses'],
    *find({ claims, storageClasses }, { namespace }) {
      const isDefault = storageClasses.some(
        ({ metadata }) => metadata.annotations?.['storageclass.kubernetes.io/is-default-class'] === 'true',
      );
      for (const claim of claims) {
        if (claim.status?.phase !== 'Pending') continue;
        if (!/controller|accounting|mariadb/.test(claim.metadata.name)) continue;
        const wanted = claim.spec?.storageClassName;
        const reason =
          wanted === undefined && !isDefault
            ? 'no StorageClass is the default'
            : wanted !== undefined && !storageClasses.some(({ metadata }) => metadata.name === wanted)
              ? `the StorageClass ${wanted} does not exist`
              : `the StorageClass ${wanted ?? 'of the cluster'} has not provided a volume`;
        yield {
          subject: { kind: 'PersistentVolumeClaim', name: claim.metadata.name },
          says: `The claim ${claim.metadata.name} waits for a volume: ${reason}.`,
          fix: [
            `kubectl -n ${namespace} describe pvc ${claim.metadata.name}`,
            'Set persistence.storageClassName in the Controller, or make one StorageClass the default.',
          ],
        };
      }
    },
  }),
  rule({
    id: 'B8',
    title: 'slurmctld is on a node that does not respond',
    needs: ['pods', 'machines'],
    *find({ pods, machines }, { now }) {
      for (const pod of pods) {
        if (component(pod) !== 'controller') continue;
        const machine = machines.find(({ metadata }) => metadata.name === pod.spec?.nodeName);
        const ready = machine?.status?.conditions?.find(({ type }) => type === 'Ready');
        if (ready === undefined || ready.status === 'True') continue;
        const since = time(ready.lastTransitionTime) ?? now;
        yield {
          subject: { kind: 'Pod', name: pod.metadata.name },
          says: `slurmctld is on the node ${pod.spec?.nodeName}, which has not responded for ${span(now - since)}; its volume stays attached there.`,
          fix: [
            `If the node will not return: kubectl delete node ${pod.spec?.nodeName}`,
            'For failover, run more than one slurmctld (spec.replicas of the Controller, shared storage).',
          ],
          doc: 'control-plane.md',
        };
      }
    },
  }),
  rule({
    id: 'B9',
    title: 'slurmctld exits again and again',
    needs: ['pods', 'logs'],
    *find({ pods, logs }) {
      for (const pod of pods) {
        if (component(pod) !== 'controller') continue;
        const looping = containerStates(pod).find(({ waiting }) => waiting === 'CrashLoopBackOff');
        if (looping === undefined) continue;
        const said = lastError(logOf(logs, pod));
        yield {
          subject: { kind: 'Pod', name: pod.metadata.name },
          says: `${looping.name} in pod ${pod.metadata.name} is crash looping (${count(looping.restarts, 'restart')})${said === '' ? '.' : `: "${said}"`}`,
          fix: ['kubectl slurm logs slurmctld --previous'],
          after: [{ rule: 'B3' }, { rule: 'B4' }, { rule: 'B5' }],
        };
      }
    },
  }),
  rule({
    id: 'B10',
    title: 'slurmctld is saturated',
    severity: 'warning',
    needs: ['diag'],
    *find({ diag }, { cluster }) {
      const seconds = diag.scheduleCycleLast / 1e6;
      const because = [
        diag.serverThreads >= 200 && `${diag.serverThreads} of 256 server threads are busy`,
        diag.agentQueue > 1000 &&
          `${diag.agentQueue.toLocaleString('en-US')} messages wait in the agent queue`,
        seconds > 10 && `the last scheduling cycle took ${seconds.toFixed(0)} s`,
      ].filter((each) => each !== false);
      if (because.length === 0) return;
      yield {
        subject: { kind: 'Cluster', name: cluster },
        says: `slurmctld is saturated: ${listed(because)}. Commands are slow, and jobs start late.`,
        because,
        fix: [
          'kubectl slurm scontrol -- show config | grep SlurmctldParameters',
          'Limit frequent callers: SlurmctldParameters=rl_enable',
        ],
      };
    },
  }),
  rule({
    id: 'B11',
    title: 'Accounting records pile up in slurmctld',
    severity: 'warning',
    needs: ['diag'],
    *find({ diag }, { cluster }) {
      if (diag.databaseQueue < 1000) return;
      yield {
        subject: { kind: 'Cluster', name: cluster },
        says: `slurmctld holds ${diag.databaseQueue.toLocaleString('en-US')} records for slurmdbd: accounting is behind, and at MaxDBDMsgs slurmctld drops records.`,
        fix: ['kubectl slurm logs slurmdbd'],
        after: [{ rule: 'C1' }, { rule: 'C2' }],
      };
    },
  }),
  rule({
    id: 'B12',
    title: 'slurmrestd was killed for memory',
    severity: 'warning',
    needs: ['pods'],
    *find({ pods }, { now }) {
      for (const pod of pods) {
        if (component(pod) !== 'restapi') continue;
        const killed = containerStates(pod).find(
          ({ ended, endedAt }) => ended === 'OOMKilled' && now - (endedAt ?? now) < 24 * 3_600_000,
        );
        if (killed !== undefined)
          yield {
            subject: { kind: 'Pod', name: pod.metadata.name },
            says: `slurmrestd was killed for memory: a full list of jobs needs about 8 kB for each.`,
            fix: ['Raise spec.slurmrestd.resources.limits.memory of the RestApi.'],
          };
      }
    },
  }),
  rule({
    id: 'B13',
    title: 'Releases of Slurm are in an order that Slurm does not support',
    needs: ['pods'],
    *find({ pods }) {
      const newest = (kind: string) => {
        const found = pods
          .filter((pod) => component(pod) === kind)
          .flatMap((pod) => pod.spec?.containers ?? [])
          .filter(({ name }) => ['slurmctld', 'slurmd', 'slurmdbd', 'slurmrestd'].includes(name))
          .map(({ image = '' }) => releaseOf(image))
          .filter((each) => each !== undefined);
        return found.length === 0 ? undefined : Math.max(...found);
      };
      const [database, controller] = [newest('accounting'), newest('controller')];
      for (const [name, upper, lower, lowerName] of [
        ['slurmctld', controller, database, 'slurmdbd'],
        ['slurmd', newest('worker'), controller, 'slurmctld'],
        ['slurmrestd', newest('restapi'), controller, 'slurmctld'],
      ] as const)
        if (upper !== undefined && lower !== undefined && upper > lower)
          yield {
            subject: { kind: 'Image', name },
            says: `${name} ${release(upper)} is newer than ${lowerName} ${release(lower)}. Slurm needs the order slurmdbd, slurmctld, then slurmd and slurmrestd.`,
            fix: [`Upgrade ${lowerName} first.`],
            doc: 'slurm-versions.md',
          };
    },
  }),
  rule({
    id: 'B16',
    title: 'slurmrestd does not run',
    needs: ['pods', 'restApis'],
    *find({ pods, restApis }, { namespace }) {
      for (const { metadata, spec } of restApis) {
        const mine = pods.filter(
          (pod) =>
            component(pod) === 'restapi' &&
            pod.metadata.labels?.['app.kubernetes.io/instance'] === metadata.name,
        );
        if ((spec as { replicas?: number }).replicas === 0)
          yield {
            subject: { kind: 'RestApi', name: metadata.name },
            says: `RestApi ${metadata.name} is scaled to 0: the operator cannot reach Slurm.`,
            fix: [
              `kubectl -n ${namespace} patch restapi ${metadata.name} --type=merge -p '{"spec":{"replicas":1}}'`,
            ],
          };
        else if (mine.length > 0 && !mine.some(isReady))
          yield {
            subject: { kind: 'RestApi', name: metadata.name },
            says: `No pod of slurmrestd is ready (${count(mine.length, 'pod')}): the operator cannot reach Slurm.`,
            fix: ['kubectl slurm logs slurmrestd'],
            after: [{ rule: 'D4' }],
          };
      }
    },
  }),
  rule({
    id: 'B20',
    title: 'slurmctld is not ready',
    needs: ['pods'],
    *find({ pods }, { now }) {
      const mine = pods.filter((pod) => component(pod) === 'controller');
      if (mine.length === 0 || mine.some(isReady)) return;
      for (const pod of mine) {
        const since = time(pod.status?.conditions?.find(({ type }) => type === 'Ready')?.lastTransitionTime);
        if (since === undefined || now - since < 60_000) continue;
        yield {
          subject: { kind: 'Pod', name: pod.metadata.name },
          says: `slurmctld in pod ${pod.metadata.name} has not been ready for ${span(now - since)}.`,
          fix: ['kubectl slurm logs slurmctld'],
          after: [
            { rule: 'B8' },
            { rule: 'B9' },
            { rule: 'B6' },
            { rule: 'D4', subject: pod.metadata.name },
            { rule: 'D1', subject: pod.metadata.name },
          ],
        };
      }
    },
  }),
]);

/** The columns of pods: readiness, one word for their state, restarts. */

import type { KubeObject } from '../../api/types.ts';
import { descriptions } from '../../schema/generated/descriptions.ts';
import {
  ageColumn,
  at,
  type Column,
  column,
  listAt,
  nameColumn,
  numberAt,
  orNone,
  textAt,
} from './columns.ts';
import { ageOf } from './human-duration.ts';

function ready(pod: KubeObject): string {
  const statuses = [...listAt(pod, 'status', 'containerStatuses'), ...sidecarStatuses(pod)];
  const total = listAt(pod, 'spec', 'containers').length + sidecars(pod).size;
  return `${statuses.filter((status) => at(status, 'ready') === true).length}/${total}`;
}

/** Init containers that go on running count as containers. */
function sidecars(pod: KubeObject): Set<string> {
  const all = listAt(pod, 'spec', 'initContainers');
  return new Set(
    all.filter((each) => textAt(each, 'restartPolicy') === 'Always').map((each) => textAt(each, 'name')),
  );
}

function sidecarStatuses(pod: KubeObject): unknown[] {
  const names = sidecars(pod);
  return listAt(pod, 'status', 'initContainerStatuses').filter((status) => names.has(textAt(status, 'name')));
}

/** The most telling word: why a container waits or ended, else the phase. */
function state(pod: KubeObject): string {
  let word = textAt(pod, 'status', 'reason') || textAt(pod, 'status', 'phase');
  if (listAt(pod, 'status', 'conditions').some(isSchedulingGated)) word = 'SchedulingGated';
  const starting = initState(pod);
  word = starting ?? containerState(pod, word);
  if (pod.metadata.deletionTimestamp !== undefined) {
    if (textAt(pod, 'status', 'reason') === 'NodeLost') return 'Unknown';
    if (!['Succeeded', 'Failed'].includes(textAt(pod, 'status', 'phase'))) return 'Terminating';
  }
  return word;
}

function isSchedulingGated(condition: unknown): boolean {
  return textAt(condition, 'type') === 'PodScheduled' && textAt(condition, 'reason') === 'SchedulingGated';
}

function initState(pod: KubeObject): string | undefined {
  const names = sidecars(pod);
  const statuses = listAt(pod, 'status', 'initContainerStatuses');
  const total = listAt(pod, 'spec', 'initContainers').length;
  for (const [index, status] of statuses.entries()) {
    const terminated = at(status, 'state', 'terminated');
    if (terminated !== undefined && numberAt(terminated, 'exitCode') === 0) continue;
    if (names.has(textAt(status, 'name')) && at(status, 'started') === true) continue;
    if (terminated !== undefined) return `Init:${ending(terminated)}`;
    const waiting = textAt(status, 'state', 'waiting', 'reason');
    return waiting !== '' && waiting !== 'PodInitializing' ? `Init:${waiting}` : `Init:${index}/${total}`;
  }
  return undefined;
}

function containerState(pod: KubeObject, fallback: string): string {
  let word = fallback;
  let isRunning = false;
  for (const status of listAt(pod, 'status', 'containerStatuses').toReversed()) {
    const waiting = textAt(status, 'state', 'waiting', 'reason');
    const terminated = at(status, 'state', 'terminated');
    if (waiting !== '') word = waiting;
    else if (terminated !== undefined) word = ending(terminated);
    else if (at(status, 'ready') === true && at(status, 'state', 'running') !== undefined) isRunning = true;
  }
  // One container is done while others run: the pod runs.
  if (word !== 'Completed' || !isRunning) return word;
  const isReady = listAt(pod, 'status', 'conditions').some(
    (condition) => textAt(condition, 'type') === 'Ready' && textAt(condition, 'status') === 'True',
  );
  return isReady ? 'Running' : 'NotReady';
}

function ending(terminated: unknown): string {
  const reason = textAt(terminated, 'reason');
  if (reason !== '') return reason;
  const signal = numberAt(terminated, 'signal');
  return signal === 0 ? `ExitCode:${numberAt(terminated, 'exitCode')}` : `Signal:${signal}`;
}

function restarts(pod: KubeObject, now: number): string {
  const statuses = [...listAt(pod, 'status', 'containerStatuses'), ...sidecarStatuses(pod)];
  const count = statuses.reduce<number>((sum, status) => sum + numberAt(status, 'restartCount'), 0);
  const last =
    statuses
      .map((status) => textAt(status, 'lastState', 'terminated', 'finishedAt'))
      .toSorted()
      .at(-1) ?? '';
  return count > 0 && last !== '' ? `${count} (${ageOf(last, now)} ago)` : String(count);
}

function gates(pod: KubeObject): string {
  const wanted = listAt(pod, 'spec', 'readinessGates').map((gate) => textAt(gate, 'conditionType'));
  if (wanted.length === 0) return '<none>';
  const conditions = listAt(pod, 'status', 'conditions');
  const met = wanted.filter((type) =>
    conditions.some(
      (condition) => textAt(condition, 'type') === type && textAt(condition, 'status') === 'True',
    ),
  );
  return `${met.length}/${wanted.length}`;
}

export const podColumns: readonly Column[] = [
  nameColumn,
  column('Ready', ready, { description: 'The aggregate readiness state of this pod for accepting traffic.' }),
  column('Status', state, { description: 'The aggregate status of the containers in this pod.' }),
  column('Restarts', restarts, {
    description:
      'The number of times the containers in this pod have been restarted and when the last container in this pod has restarted.',
  }),
  ageColumn,
  column(
    'IP',
    (pod) => orNone(textAt(listAt(pod, 'status', 'podIPs')[0], 'ip') || textAt(pod, 'status', 'podIP')),
    {
      wide: true,
      description: descriptions['V1PodStatus.podIP'],
    },
  ),
  column('Node', (pod) => orNone(textAt(pod, 'spec', 'nodeName')), {
    wide: true,
    description: descriptions['V1PodSpec.nodeName'],
  }),
  column('Nominated Node', (pod) => orNone(textAt(pod, 'status', 'nominatedNodeName')), {
    wide: true,
    description: descriptions['V1PodStatus.nominatedNodeName'],
  }),
  column('Readiness Gates', gates, { wide: true, description: descriptions['V1PodSpec.readinessGates'] }),
];

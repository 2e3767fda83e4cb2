/** Columns of workloads. */
import type { KubeObject } from '../../api/types.ts';
import {
  ageColumn,
  at,
  type Column,
  column,
  listAt,
  nameColumn,
  numberAt,
  orNone,
  selectorColumn,
  textAt,
} from './columns.ts';
import { ageOf, humanDuration } from './human-duration.ts';

const integer = { type: 'integer' };

function containers(...path: readonly string[]): readonly Column[] {
  const names = (field: string) => (object: KubeObject) =>
    listAt(object, ...path, 'containers')
      .map((each) => textAt(each, field))
      .join(',');
  return [
    column('Containers', names('name'), { wide: true }),
    column('Images', names('image'), { wide: true }),
  ];
}

const template = ['spec', 'template', 'spec'];
const selector = column('Selector', (object) => selectorColumn(at(object, 'spec', 'selector')), {
  wide: true,
});

function readyOf(object: KubeObject): string {
  return `${numberAt(object, 'status', 'readyReplicas')}/${numberAt(object, 'spec', 'replicas')}`;
}

export const deploymentColumns: readonly Column[] = [
  nameColumn,
  column('Ready', readyOf),
  column('Up-to-date', (object) => numberAt(object, 'status', 'updatedReplicas')),
  column('Available', (object) => numberAt(object, 'status', 'availableReplicas')),
  ageColumn,
  ...containers(...template),
  selector,
];

export const statefulSetColumns: readonly Column[] = [
  nameColumn,
  column('Ready', readyOf),
  ageColumn,
  ...containers(...template),
];

export const replicaSetColumns: readonly Column[] = [
  nameColumn,
  column('Desired', (object) => numberAt(object, 'spec', 'replicas'), integer),
  column('Current', (object) => numberAt(object, 'status', 'replicas'), integer),
  column('Ready', (object) => numberAt(object, 'status', 'readyReplicas'), integer),
  ageColumn,
  ...containers(...template),
  selector,
];

export const daemonSetColumns: readonly Column[] = [
  nameColumn,
  column('Desired', (object) => numberAt(object, 'status', 'desiredNumberScheduled'), integer),
  column('Current', (object) => numberAt(object, 'status', 'currentNumberScheduled'), integer),
  column('Ready', (object) => numberAt(object, 'status', 'numberReady'), integer),
  column('Up-to-date', (object) => numberAt(object, 'status', 'updatedNumberScheduled'), integer),
  column('Available', (object) => numberAt(object, 'status', 'numberAvailable'), integer),
  column('Node Selector', (object) => selectorColumn(at(object, 'spec', 'template', 'spec', 'nodeSelector'))),
  ageColumn,
  ...containers(...template),
  selector,
];

function jobStatus(job: KubeObject): string {
  const holds = (type: string): boolean =>
    listAt(job, 'status', 'conditions').some(
      (condition) => textAt(condition, 'type') === type && textAt(condition, 'status') === 'True',
    );
  if (holds('Complete')) return 'Complete';
  if (holds('Failed')) return 'Failed';
  if (job.metadata.deletionTimestamp !== undefined) return 'Terminating';
  if (holds('Suspended')) return 'Suspended';
  return holds('FailureTarget') ? 'FailureTarget' : 'Running';
}

function jobDuration(job: KubeObject, now: number): string {
  const [start, end] = [textAt(job, 'status', 'startTime'), textAt(job, 'status', 'completionTime')];
  if (start === '') return '';
  return humanDuration((end === '' ? now : Date.parse(end)) - Date.parse(start));
}

export const jobColumns: readonly Column[] = [
  nameColumn,
  column('Status', jobStatus),
  column(
    'Completions',
    (job) => `${numberAt(job, 'status', 'succeeded')}/${numberAt(job, 'spec', 'completions') || 1}`,
  ),
  column('Duration', jobDuration),
  ageColumn,
  ...containers(...template),
  selector,
];

export const cronJobColumns: readonly Column[] = [
  nameColumn,
  column('Schedule', (job) => textAt(job, 'spec', 'schedule')),
  column('Timezone', (job) => orNone(textAt(job, 'spec', 'timeZone'))),
  column('Suspend', (job) => (at(job, 'spec', 'suspend') === true ? 'True' : 'False'), { type: 'boolean' }),
  column('Active', (job) => listAt(job, 'status', 'active').length, integer),
  column('Last Schedule', (job, now) => {
    const last = textAt(job, 'status', 'lastScheduleTime');
    return last === '' ? '<none>' : ageOf(last, now);
  }),
  ageColumn,
  ...containers('spec', 'jobTemplate', ...template),
  column('Selector', (job) => selectorColumn(at(job, 'spec', 'jobTemplate', 'spec', 'selector')), {
    wide: true,
  }),
];

export const revisionColumns: readonly Column[] = [
  nameColumn,
  column('Controller', ({ metadata }) => {
    const owner = metadata.ownerReferences?.find((reference) => reference.controller);
    if (owner === undefined) return '<none>';
    const group = owner.apiVersion.includes('/') ? `.${owner.apiVersion.split('/')[0]}` : '';
    return `${owner.kind.toLowerCase()}${group}/${owner.name}`;
  }),
  column('Revision', (object) => numberAt(object, 'revision')),
  ageColumn,
];

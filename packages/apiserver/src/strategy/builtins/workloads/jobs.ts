/** Jobs and CronJobs: defaults, the generated selector, what is fixed. */

import type { ICronJob } from 'kubernetes-models/batch/v1/CronJob';
import type { IJob } from 'kubernetes-models/batch/v1/Job';
import type { IJobSpec } from 'kubernetes-models/batch/v1/JobSpec';
import type { FieldFault } from '../../../api/errors.ts';
import { invalidValue, notSupported, required } from '../../../api/fault.ts';
import { equal } from '../../../api/json.ts';
import { typed } from '../../../api/typed.ts';
import type { KubeObject } from '../../../api/types.ts';
import type { BuiltinHooks } from '../define.ts';
import { defaultPodSpec } from '../pod/default-pod-spec.ts';
import { notNegative, validateTemplate } from './pod-template.ts';

const job = (object: KubeObject) => typed<IJob>(object).spec;
const cronJob = (object: KubeObject) => typed<ICronJob>(object).spec;

function defaultJobSpec(spec: IJobSpec): void {
  if (spec.parallelism === undefined && spec.completions === undefined) {
    spec.parallelism = 1;
    spec.completions = 1;
  }
  spec.parallelism ??= 1;
  spec.backoffLimit ??= 6;
  spec.completionMode ??= 'NonIndexed';
  spec.suspend ??= false;
  spec.manualSelector ??= false;
  spec.podReplacementPolicy ??= spec.podFailurePolicy ? 'Failed' : 'TerminatingOrFailed';
  if (spec.template?.spec) defaultPodSpec(spec.template.spec);
}

/** Pods of a job carry its uid, so that its selector can never catch pods of another. */
function generateSelector(object: KubeObject, spec: IJobSpec): void {
  if (spec.manualSelector) return;
  const { uid = '', name = '' } = object.metadata;
  const labels = {
    'batch.kubernetes.io/controller-uid': uid,
    'batch.kubernetes.io/job-name': name,
    'controller-uid': uid,
    'job-name': name,
  };
  const metadata = (spec.template.metadata ??= {});
  metadata.labels = { ...metadata.labels, ...labels };
  spec.selector = {
    matchLabels: { ...spec.selector?.matchLabels, 'batch.kubernetes.io/controller-uid': uid },
  };
}

function completionFaults({ completionMode = 'NonIndexed', completions }: IJobSpec): FieldFault[] {
  if (!['Indexed', 'NonIndexed'].includes(completionMode))
    return [notSupported('spec.completionMode', completionMode, ['NonIndexed', 'Indexed'])];
  return completionMode === 'Indexed' && completions === undefined
    ? [required('spec.completions', 'when completion mode is Indexed')]
    : [];
}

export const jobHooks: BuiltinHooks = {
  default(object) {
    const spec = job(object);
    if (!spec) return;
    defaultJobSpec(spec);
  },
  prepareForCreate(object) {
    const spec = job(object);
    if (!spec) return;
    generateSelector(object, spec);
    object.metadata.labels ??= { ...spec.template.metadata?.labels };
  },
  validate(object) {
    const spec = job(object);
    if (!spec) return [];
    const faults = [
      ...notNegative(spec.parallelism, 'spec.parallelism'),
      ...notNegative(spec.completions, 'spec.completions'),
      ...notNegative(spec.activeDeadlineSeconds, 'spec.activeDeadlineSeconds'),
      ...notNegative(spec.backoffLimit, 'spec.backoffLimit'),
      ...notNegative(spec.ttlSecondsAfterFinished, 'spec.ttlSecondsAfterFinished'),
      ...completionFaults(spec),
      ...validateTemplate(spec.template, ['Always', 'OnFailure', 'Never']),
    ];
    const policy = spec.template?.spec?.restartPolicy;
    if (policy === 'Always' || policy === undefined)
      faults.push(required('spec.template.spec.restartPolicy', 'valid values: "OnFailure", "Never"'));
    return faults;
  },
  validateUpdate(object, old) {
    const fixed = ['completions', 'selector', 'template', 'completionMode'] as const;
    return fixed
      .filter((key) => !equal(job(object)?.[key], job(old)?.[key]))
      .map((key) => invalidValue(`spec.${key}`, job(object)?.[key], 'field is immutable'));
  },
};

export const cronJobHooks: BuiltinHooks = {
  default(object) {
    const spec = cronJob(object);
    if (!spec) return;
    spec.concurrencyPolicy ??= 'Allow';
    spec.suspend ??= false;
    spec.successfulJobsHistoryLimit ??= 3;
    spec.failedJobsHistoryLimit ??= 1;
    const template = spec.jobTemplate?.spec?.template?.spec;
    if (template) defaultPodSpec(template);
  },
  validate(object) {
    const spec = cronJob(object);
    if (!spec) return [];
    const faults = spec.schedule ? [] : [required('spec.schedule')];
    if (!['Allow', 'Forbid', 'Replace'].includes(spec.concurrencyPolicy ?? ''))
      faults.push(
        notSupported('spec.concurrencyPolicy', spec.concurrencyPolicy ?? '', ['Allow', 'Forbid', 'Replace']),
      );
    return faults;
  },
};

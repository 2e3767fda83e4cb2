import { until as untilFound } from '@slurm-operator/kube/testing';

/** As `until` of `kube`, for real daemons: they take their time, and to look at them costs a process. */
export const until: typeof untilFound = (what, look, patience) =>
  untilFound(what, look, { seconds: 300, everyMs: 200, ...patience });

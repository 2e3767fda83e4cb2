/**
 * What Slurm needs in many containers on one small machine, as keys of slurm.conf: sizes as claimed, no control groups inside, a
 * scheduler that does not dawdle. A real cluster needs none of it.
 */
export const smallMachineConf = {
  SlurmdParameters: 'config_overrides',
  ProctrackType: 'proctrack/linuxproc',
  SchedulerParameters: 'batch_sched_delay=0,sched_interval=1,bf_interval=1',
} as const;

/** The same as lines, for `extraConf`. */
export const smallMachineLines: readonly string[] = Object.entries(smallMachineConf).map(
  ([key, value]) => `${key}=${value}`,
);

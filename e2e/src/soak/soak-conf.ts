/** Lines of slurm.conf that the soak needs: an account of all jobs in a file, licences, and a partition that never goes. */
export const soakConf: readonly string[] = [
  'SlurmdParameters=config_overrides',
  'ProctrackType=proctrack/linuxproc',
  'SchedulerParameters=batch_sched_delay=0,sched_interval=1,bf_interval=1',
  'JobAcctGatherType=jobacct_gather/none',
  'SlurmdTimeout=60',
  'SelectTypeParameters=CR_Core',
  // A requeued job waits as long as a credential of its first run could be valid: two minutes by default.
  'AuthInfo=cred_expire=45',
  'Licenses=soak:2',
  'JobCompType=jobcomp/filetxt',
  // Not beside the state of slurmctld, where it would outlive the container: the trial of a configuration has no such directory.
  'JobCompLoc=/var/spool/slurmctld/jobs.txt',
  'PartitionName=all Nodes=ALL Default=YES State=UP MaxTime=INFINITE',
];

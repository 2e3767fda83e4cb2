/** Slurm's reasons why a job waits, in a sentence each. Pure. */
const reasons: Readonly<Record<string, string>> = {
  Priority: 'Others with a higher priority are considered first.',
  Resources: 'It is next, and waits for nodes to become free.',
  Dependency: 'It waits for another job.',
  DependencyNeverSatisfied:
    'The job that it waits for ended in a way that it does not accept: it will never start.',
  BeginTime: 'It asked for a later time.',
  JobHeldUser: 'Its owner holds it.',
  JobHeldAdmin: 'An administrator holds it.',
  QOSMaxJobsPerUserLimit: 'Its owner has as many jobs as the QOS allows.',
  QOSMaxCpuPerUserLimit: 'Its owner uses as many CPUs as the QOS allows.',
  QOSMaxGRESPerUser: 'Its owner uses as many GPUs as the QOS allows.',
  QOSGrpCpuLimit: 'All jobs of the QOS together use as many CPUs as it allows.',
  AssocGrpCpuLimit: 'The account uses as many CPUs as it may.',
  AssocMaxJobsLimit: 'The account has as many jobs as it may.',
  AssocGrpGRES: 'The account uses as many GPUs as it may.',
  PartitionTimeLimit: 'Its time limit is longer than the partition allows: it will not start as it is.',
  PartitionNodeLimit: 'It asks for more nodes than the partition allows: it will not start as it is.',
  PartitionDown: 'Its partition is down.',
  PartitionInactive: 'Its partition is inactive.',
  ReqNodeNotAvail: 'A node that it asks for is drained, down or reserved.',
  Reservation: 'It waits for its reservation.',
  Licenses: 'It waits for a license.',
  JobArrayTaskLimit: 'Its array runs as many tasks at once as it may.',
  BadConstraints: 'No node has what it asks for: it will not start as it is.',
  NodeDown: 'A node that it asks for is down.',
  InvalidAccount: 'Its account does not exist.',
  InvalidQOS: 'Its QOS does not exist.',
  Prolog: 'Its prolog runs.',
  None: 'The scheduler has not looked at it yet.',
};

/** Empty for a reason that is not known: Slurm's own word stands beside it. */
export const explainReason = (reason: string): string =>
  reasons[reason] ?? reasons[reason.replace(/[,(].*$/s, '')] ?? '';

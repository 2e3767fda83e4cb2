/** Cases of family F. */
import { custom, hour, job, minute, now, partition, reservation, slurmNode } from '../testing/objects.ts';
import type { RuleCase } from './rule-case.ts';

const waiting = (reason: string, more: object = {}) => job(7, { stateReason: reason, ...more });
const running = (id: number, node: string, minutes: number) => job(id, { state: 'RUNNING', nodes: node, startedAt: now - 5 * minute, timeLimit: minutes + 5, cpus: 64 });
const full = (name: string) => slurmNode(name, { state: 'ALLOCATED', allocatedCpus: 64, gresUsed: 'gpu:a100:8(IDX:0-7)' });
const big = { nodeCount: 4, cpus: 32, tresPerNode: 'gres/gpu:8' };

export const jobCases: readonly RuleCase[] = [
  { rule: 'F1', reason: 'others first', job: 7, values: { jobs: [waiting('Priority', { startedAt: now + 5 * hour }), job(8, { priority: 500 }), job(9, { priority: 200 })] }, says: /2 pending jobs of partition gpu have a higher priority \(this one 100, the next 200\)/, because: /expects to start it at 17:00/ },
  {
    rule: 'F2',
    reason: 'four nodes with eight GPUs',
    job: 7,
    values: {
      jobs: [waiting('Resources', big), running(4502, 'gpu-1', 60), running(4533, 'gpu-2', 245)],
      slurmNodes: [slurmNode('gpu-0'), full('gpu-1'), full('gpu-2'), slurmNode('gpu-31', { state: 'IDLE+DRAIN', reason: 'new disk', reasonSetBy: 'bob' })],
    },
    says: /asks for 4 nodes with 8 GPUs, 8 CPUs; 1 node has that now/,
    because: /2 more nodes are free by 16:05 \(jobs 4502 and 4533 reach their limits\)\.\n1 node that would fit takes no jobs: gpu-31 \("new disk"\)/,
    fix: /numnodes=1/,
  },
  { rule: 'F3', reason: 'no node has sixteen GPUs', values: { jobs: [waiting('Resources', { tresPerNode: 'gres/gpu:16' }), job(8, { stateReason: 'Resources', tresPerNode: 'gres/gpu:16' })] }, says: /Job 7 \(alice\): It asks for 1 node with 16 GPUs, 8 CPUs, and partition gpu has none.*1 other job \(8\)/, because: /more than 8 GPUs/ },
  { rule: 'F4', reason: 'an empty partition', values: { jobs: [waiting('PartitionConfig')], partitions: [partition('gpu', { nodeCount: 0 })], nodeSets: [custom('NodeSet', 'slurm-worker-gpu', { spec: { replicas: 0 } })] }, says: /has no nodes \(NodeSet slurm-worker-gpu has 0 replicas\)/, fix: /--replicas=1/ },
  { rule: 'F5', reason: 'a drained node and a window', job: 7, values: { jobs: [waiting('ReqNodeNotAvail', { stateDescription: 'ReqNodeNotAvail, UnavailableNodes:gpu-0', timeLimit: 480 })], slurmNodes: [slurmNode('gpu-0', { state: 'IDLE+DRAIN', reason: 'new disk' })], reservations: [reservation('maint', { startsAt: now + 2 * hour })] }, says: /not available: gpu-0/, because: /new disk[\s\S]*maint begins at 14:00/ },
  { rule: 'F6', reason: 'gone', values: { jobs: [waiting('ReservationDeleted', { reservation: 'r1' })] }, says: /reservation r1 does not exist/ },
  { rule: 'F6', reason: 'begins later', job: 7, values: { jobs: [waiting('Reservation', { reservation: 'r1' })], reservations: [reservation('r1')] }, says: /r1 begins at 13:00/ },
  { rule: 'F7', reason: 'time', values: { jobs: [waiting('PartitionTimeLimit', { timeLimit: 2880 })] }, says: /limit is 2-00:00:00, partition gpu allows 1-00:00:00/, fix: /timelimit=1-00:00:00/ },
  { rule: 'F7', reason: 'nodes', values: { jobs: [waiting('PartitionNodeLimit', { nodeCount: 9 })] }, says: /asks for 9 nodes, partition gpu allows 4/ },
  { rule: 'F8', reason: 'down', values: { jobs: [waiting('PartitionDown')], partitions: [partition('gpu', { state: ['DOWN'] })] }, says: /Partition gpu is DOWN/ },
  { rule: 'F9', reason: 'the account', job: 7, values: { jobs: [waiting('AssocGrpGRES', { tresPerNode: 'gres/gpu:8' }), job(1, { state: 'RUNNING', tresAllocated: 'cpu=4,gres/gpu=32' }), job(2, { state: 'RUNNING', user: 'bob', tresAllocated: 'gres/gpu=28' })] }, says: /Account ml is at a limit \(AssocGrpGRES\): it uses 60 GPUs in 2 running jobs; this job asks for 8 GPUs/, because: /alice 32 GPUs and bob 28 GPUs/ },
  { rule: 'F10', reason: 'the QOS', job: 7, values: { jobs: [waiting('QOSMaxCpuPerUserLimit'), job(1, { state: 'RUNNING', cpus: 16 })] }, says: /QOS normal is at a limit .* uses 16 CPUs in 1 running job; this job asks for 8 CPUs/ },
  { rule: 'F11', reason: 'two others', job: 7, values: { jobs: [waiting('Dependency', { dependency: 'afterok:411(unfulfilled),afterok:412(unfulfilled)' }), running(411, 'gpu-0', 60), job(412)] }, says: /waits for 411 \(RUNNING, ends by 13:00\) and 412 \(PENDING\)/ },
  { rule: 'F12', reason: 'failed', values: { jobs: [waiting('DependencyNeverSatisfied', { dependency: 'afterok:411(failed)' })] }, says: /never be satisfied: afterok:411\(failed\)/, fix: /kubectl slurm cancel 7/ },
  { rule: 'F13', reason: 'the user', values: { jobs: [waiting('JobHeldUser', { held: true })] }, says: /Its owner alice holds it/, fix: /kubectl slurm release 7/ },
  { rule: 'F13', reason: 'an administrator', values: { jobs: [waiting('JobHeldAdmin', { held: true, adminComment: 'see ticket 5' })] }, says: /administrator holds it: "see ticket 5"/ },
  { rule: 'F14', reason: 'no user', values: { jobs: [waiting('JobHeldAdmin', { stateDescription: 'slurm_cred_create failure, holding job.' })] }, says: /does not know user alice/ },
  { rule: 'F15', reason: 'launch failed', values: { jobs: [waiting('JobHeldUser', { stateDescription: 'launch failed requeued held', restarts: 1 })] }, says: /It started 1 time and could not be launched/, fix: /logs --job 7/ },
  { rule: 'F16', reason: 'after a requeue', job: 7, values: { jobs: [waiting('BeginTime', { eligibleAt: now + 2 * minute, restarts: 1 })] }, says: /not start before 12:02 \(it was requeued 1 time/ },
  { rule: 'F17', reason: 'no h200', values: { jobs: [waiting('BadConstraints', { constraints: 'h200' })] }, says: /feature h200, which no node has \(there is a100\)/ },
  { rule: 'F18', reason: 'matlab', job: 7, values: { jobs: [waiting('Licenses', { licenses: 'matlab:1' })], licenses: [{ name: 'matlab', total: 5, used: 5, free: 0, reserved: 0, remote: false }] }, says: /matlab 5 of 5 in use/ },
  { rule: 'F19', reason: 'a node failed', values: { jobs: [waiting('NodeDown', { restarts: 2 })] }, says: /requeued 2 times/ },
  { rule: 'F20', reason: 'never looked at', values: { jobs: [waiting('None', { consideredAt: undefined, submittedAt: now - hour })] }, says: /has not considered it for 1 h: 0 jobs in its queue/ },
  { rule: 'F21', reason: 'no default', values: { partitions: [partition('gpu', { isDefault: false })] }, says: /No partition is the default/ },
  { rule: 'F22', reason: 'a silent node', values: { slurmNodes: [slurmNode('gpu-0', { state: 'ALLOCATED+NOT_RESPONDING' })] }, says: /runs on gpu-0, which does not respond/ },
  { rule: 'F23', reason: 'memory', job: 7, values: { jobs: [job(7, { state: 'OUT_OF_MEMORY', nodes: 'gpu-0', memoryPerNode: 64_000, endedAt: now })] }, says: /more memory than it asked for \(64000 MB per node\) on gpu-0/, fix: /--mem/ },
  { rule: 'F23', reason: 'a code', job: 7, values: { jobs: [job(7, { state: 'FAILED', exitCode: 2 })] }, says: /exit code 2/ },
  { rule: 'F24', reason: 'forgotten', job: 7, values: { jobs: [], endedJob: { id: 7, state: ['COMPLETED'], endedAt: now - hour, elapsedSeconds: 90, nodes: 'gpu-0', exitCode: 0 } }, says: /ended as COMPLETED at 11:00 after 1 min on gpu-0/ },
  { rule: 'F25', reason: 'nothing is usable', values: { jobs: [waiting('Priority')], slurmNodes: [slurmNode('gpu-0', { state: 'IDLE+DRAIN', reason: 'x' })] }, says: /1 job waits, and none of the 1 node/ },
];

/** Cases of family E. */
import { before, condition, custom, hour, job, minute, now, pod, reservation, slurmNode } from '../testing/objects.ts';
import type { RuleCase } from './rule-case.ts';

const drain = (reason: string, more: object = {}) => ({ slurmNodes: [slurmNode('gpu-0', { state: 'IDLE+DRAIN', reason, reasonSetBy: 'bob', reasonSetAt: now - 72 * hour, ...more })] });

export const nodeCases: readonly RuleCase[] = [
  {
    rule: 'E1',
    reason: 'a rollout',
    values: { slurmNodes: [slurmNode('gpu-0', { state: 'MIXED+DRAIN', reason: 'slurm-operator: update' })], jobs: [job(1, { state: 'RUNNING', nodes: 'gpu-0', startedAt: now - minute, timeLimit: 61 })] },
    says: /operator drained gpu-0: update/,
    because: /gpu-0: 1 job until 13:00 at the latest/,
  },
  { rule: 'E2', reason: 'a person', values: drain('new disk'), says: /gpu-0 is drained by bob, 3 d ago: "new disk"/, fix: /kubectl slurm resume gpu-0/ },
  { rule: 'E3', reason: 'fewer GPUs', values: drain('gres/gpu count reported lower than configured (7 < 8)', { state: 'IDLE+DRAIN+INVALID_REG' }), says: /fewer resources/, because: /7 < 8/ },
  { rule: 'E4', reason: 'unkillable', values: drain('Kill task failed'), says: /did not end within UnkillableStepTimeout/ },
  { rule: 'E5', reason: 'a prolog', values: drain('Prolog error'), says: /script around a job failed on gpu-0/ },
  { rule: 'E6', reason: 'a policy', values: { slurmNodes: [slurmNode('gpu-0', { state: 'DOWN+NOT_RESPONDING', reason: 'Not responding' })] }, says: /does not reach gpu-0, although its pod is ready/ },
  { rule: 'E6', reason: 'a stale address', values: { slurmNodes: [slurmNode('gpu-0', { state: 'IDLE+NOT_RESPONDING', address: '10.1.2.3' })] }, says: /uses the address 10\.1\.2\.3, and the pod has 10\.0\.0\.1/, fix: /delete pod gpu-0/ },
  { rule: 'E7', reason: 'a restart', values: { slurmNodes: [slurmNode('gpu-0', { state: 'DOWN', reason: 'Node unexpectedly rebooted' })] }, says: /restarted while Slurm believed/ },
  { rule: 'E8', reason: 'a check', values: drain('[node_problem] GPU 3 fell off the bus'), says: /health check drained gpu-0/, because: /fell off the bus/ },
  { rule: 'E9', reason: 'a window', values: { reservations: [reservation('SlurmOperatorMaint-gpu', { flags: ['MAINT'], startsAt: now - minute })] }, says: /reserved for maintenance until 14:00 \(SlurmOperatorMaint-gpu\)/ },
  { rule: 'E10', reason: 'no such block', values: { nodeSets: [custom('NodeSet', 'gpu', { conditions: [condition('Degraded', 'True', 'UpdateRefused', 'topology.yaml has no block b7')] })] }, says: /no block b7/ },
  { rule: 'E11', reason: 'four releases', values: { slurmNodes: [slurmNode('gpu-0', { version: '24.05.1' })] }, says: /slurmd 24\.05\.1 on gpu-0 is too old for slurmctld 26\.05\.4/ },
  { rule: 'E12', reason: 'a new pod', values: drain('disk is broken'), says: /pod of gpu-0 is newer than its drain/, because: /disk is broken/ },
  { rule: 'E13', reason: 'an epilog hangs', values: { jobs: [job(99, { state: 'COMPLETED+COMPLETING', nodes: 'gpu-0', startedAt: now - hour, endedAt: now - 34 * minute })] }, says: /Job 99 \(alice\) has been completing for 34 min on gpu-0/ },
  { rule: 'E14', reason: 'down', values: { slurmNodes: [slurmNode('gpu-0', { state: 'DOWN', reason: 'lost', reasonSetBy: 'slurm', reasonSetAt: now - hour })] }, says: /gpu-0 is down: "lost" \(slurm, 1 h ago\)/ },
  { rule: 'E15', reason: 'powered down', values: { slurmNodes: [slurmNode('gpu-0', { state: 'IDLE+POWERED_DOWN' })] }, says: /gpu-0 is powered down/ },
  { rule: 'E16', reason: 'failed', values: { slurmNodes: [slurmNode('gpu-0', { state: 'IDLE+FAIL', reason: 'bad memory' })] }, says: /state FAIL: "bad memory"/ },
  { rule: 'E17', reason: 'a record is left', values: { slurmNodes: [slurmNode('gpu-7', { state: 'DOWN+DYNAMIC_NORM' })], pods: [pod('gpu-0', { age: minute, metadata: { creationTimestamp: before(minute) } })] }, says: /1 node without a pod: gpu-7/ },
];

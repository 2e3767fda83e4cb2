/** Cases of families D and G. */
import { before, condition, custom, hour, job, minute, now, pod } from '../testing/objects.ts';
import type { RuleCase } from './rule-case.ts';

const set = (conditions: readonly object[], more: object = {}) => ({ nodeSets: [custom('NodeSet', 'gpu', { spec: { replicas: 2 }, status: { nodeSetHash: 'new' }, conditions, ...more })] });
const ready = (reason: string, message = 'why') => [condition('Ready', 'False', reason, message)];
const logged = (key: string, text: string) => new Map([[key, text]]);
const rolling = (strategy: object, more: object = {}) => [custom('NodeSet', 'gpu', { spec: { replicas: 4, updateStrategy: strategy }, status: { nodeSetHash: 'new' }, ...more })];
const old = (name: string, more: object = {}) => pod(name, { revision: 'old', ...more });
const drained = { conditions: [{ type: 'SlurmNodeStateDrain', status: 'True', message: 'slurm-operator: update' }] };
const volume = (name: string) => ({ nodeName: 'machine-1', containers: [], volumes: [{ name: 'v', persistentVolumeClaim: { claimName: name } }] });

export const workerCases: readonly RuleCase[] = [
  { rule: 'D1', reason: 'nodes are full', values: { pods: [pod('gpu-0', { unschedulable: '0/3 nodes are available: 3 Insufficient nvidia.com/gpu.' })] }, says: /No Kubernetes node can run gpu-0: 0\/3 nodes/ },
  { rule: 'D2', reason: 'a taint', values: { pods: [pod('gpu-0', { unschedulable: '0/3 nodes are available: 3 node(s) had untolerated taint {dedicated: ml}.' })] }, says: /have the taint dedicated, which/, fix: /key: dedicated, operator: Exists/ },
  { rule: 'D3', reason: 'NUMA', values: { pods: [pod('gpu-0', { more: { phase: 'Failed', reason: 'TopologyAffinityError', message: 'cannot align' } })] }, says: /kubelet of machine-1 refuses gpu-0 \(TopologyAffinityError\): cannot align/ },
  { rule: 'D4', reason: 'two pods, one image', values: { pods: ['gpu-0', 'gpu-1'].map((name) => pod(name, { image: 'x/slurmd:1', waiting: 'ImagePullBackOff', message: '401 Unauthorized' })) }, says: /x\/slurmd:1 cannot be pulled for gpu-\[0-1\]/, because: /401 Unauthorized/ },
  { rule: 'D5', reason: 'read-only cgroups', values: { logs: logged('gpu-0/slurmd', 'error: cgroup/v2: mkdir: Read-only file system') }, says: /slurmd of gpu-0 cannot create control groups/ },
  { rule: 'D6', reason: 'no configuration', values: { logs: logged('gpu-0/slurmd', 'error: _fetch_controller_conf: DNS SRV lookup failed') }, says: /got no configuration/ },
  { rule: 'D7', reason: 'one of three is unknown', values: { pods: ['gpu-0', 'gpu-1', 'gpu-2'].map((name) => pod(name)) }, says: /^gpu-2 runs and Slurm does not know it/, fix: /logs slurmd\/gpu-2/ },
  { rule: 'D8', reason: 'most are unknown', values: { slurmNodes: [], jobs: [] }, says: /does not know 2 of 2 ready workers/ },
  { rule: 'D9', reason: 'the table is full', values: { logs: logged('gpu-0/slurmd', 'error: MaxNodeCount reached') }, says: /no more dynamic nodes/ },
  { rule: 'D10', reason: 'one name twice', values: { pods: [pod('a-0', { hostname: 'x' }), pod('b-0', { hostname: 'x' })] }, says: /Slurm node x is claimed by pod a-0 and pod b-0/ },
  { rule: 'D10', reason: 'a foreign node', values: set(ready('NameConflict', 'gpu-0 exists already')), says: /gpu-0 exists already/ },
  {
    rule: 'D11',
    reason: 'a node is lost',
    values: { machines: [{ metadata: { name: 'machine-2' }, status: { conditions: [{ type: 'Ready', status: 'Unknown', lastTransitionTime: before(3 * hour) }] } }] },
    says: /machine-2 has not responded for 3 h; its worker gpu-1 counts as lost/,
    fix: /kubectl delete node machine-2/,
  },
  { rule: 'D12', reason: 'killed', values: { pods: [pod('gpu-0', { ended: 'OOMKilled' })] }, says: /slurmd of gpu-0 was killed for memory/ },
  { rule: 'D13', reason: 'evicted', values: { pods: [pod('gpu-0', { more: { phase: 'Failed', reason: 'Evicted', message: 'low on ephemeral-storage' } })] }, says: /gpu-0 was evicted from machine-1: low on/ },
  { rule: 'D14', reason: 'stuck', values: { pods: [pod('gpu-0', { metadata: { deletionTimestamp: before(10 * minute), finalizers: ['x/y'] } })] }, says: /should have ended 10 min ago and still exists \(finalizers: x\/y\)/ },
  { rule: 'D15', reason: 'a crash loop', values: { pods: [pod('gpu-0', { waiting: 'CrashLoopBackOff', restarts: 1 })], logs: logged('gpu-0/slurmd', 'fatal: bad') }, says: /crash looping \(1 restart\): "fatal: bad"/ },
  { rule: 'D16', reason: 'no Secret to mount', values: { pods: [pod('gpu-0', { waiting: 'ContainerCreating' })], events: [{ reason: 'FailedMount', regarding: { name: 'gpu-0' }, note: 'secret "key" not found' }] }, says: /a volume cannot be mounted/, because: /"key" not found/ },
  { rule: 'D17', reason: 'a claim waits', values: { pods: [{ ...pod('gpu-0'), spec: volume('data-gpu-0') }], claims: [{ metadata: { name: 'data-gpu-0' }, status: { phase: 'Pending' } }] }, says: /gpu-0 waits for the volume of claim data-gpu-0/ },
  { rule: 'D18', reason: 'fewer GPUs', values: set(ready('ResourcesMismatch', 'Slurm has 8 GPUs, pods have 4')), says: /pods have 4/ },
  { rule: 'D19', reason: 'a misspelt field', values: set([condition('Degraded', 'True', 'FieldIgnored', 'spec.template.spec.dNSPolicy')]), says: /NodeSet gpu: spec\.template\.spec\.dNSPolicy/ },
  { rule: 'D20', reason: 'pods are refused', values: { ...set([]), pods: [pod('gpu-0')], events: [{ reason: 'FailedCreate', regarding: { name: 'gpu' }, note: 'denied by policy' }] }, says: /1 of 2 workers of gpu cannot be created: denied by policy/ },
  { rule: 'G1', reason: 'a worker waits', values: { pods: [pod('gpu-0', { ...drained, annotations: { 'nodeset.slinky.slurm.net/pod-deadline': new Date(now + hour).toISOString() } })] }, says: /1 worker of gpu waits for jobs: gpu-0\. The last job must end by 13:00/ },
  { rule: 'G2', reason: 'no limit', values: { pods: [pod('gpu-0', drained)], jobs: [job(9, { state: 'RUNNING', nodes: 'gpu-0', startedAt: now, timeLimit: 'infinite' })] }, says: /Job 9 \(alice\) on gpu-0 has no time limit/, fix: /jobid=9/ },
  { rule: 'G3', reason: 'Slurm is silent', values: set(ready('SlurmUnknown', 'unknown since 14:02')), says: /No worker of gpu is deleted: unknown since/ },
  { rule: 'G4', reason: 'a broken image uses the budget', values: { nodeSets: rolling({ type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 1 } }), pods: [old('gpu-0'), old('gpu-1'), old('gpu-2'), pod('gpu-3', { ready: false })] }, says: /rollout of gpu waits: gpu-3 is not ready and uses the whole budget \(maxUnavailable 1\)\. 3 workers/, fix: /rollout undo nodeset\/gpu/ },
  { rule: 'G5', reason: 'paused', values: { nodeSets: rolling({ type: 'RollingUpdate', rollingUpdate: { paused: true } }), pods: [old('gpu-0')] }, says: /1 worker of gpu has the old revision: paused is true/, fix: /rollout resume/ },
  { rule: 'G5', reason: 'a window', values: { nodeSets: rolling({ type: 'ScheduledUpdate', scheduledUpdate: { startTime: new Date(now + hour).toISOString() } }), pods: [old('gpu-0')] }, says: /window begins at 13:00/ },
  { rule: 'G5', reason: 'a partition', values: { nodeSets: rolling({ type: 'RollingUpdate', rollingUpdate: { partition: 2 } }), pods: [old('gpu-0'), old('gpu-1')] }, says: /2 workers of gpu have the old revision: partition 2/ },
  { rule: 'G6', reason: 'a newer image', values: set(ready('RolloutStuck', 'slurmd 26.11 is newer than slurmctld')), says: /newer than slurmctld/ },
  { rule: 'G7', reason: 'OnDelete', values: { nodeSets: rolling({ type: 'OnDelete' }), pods: [old('gpu-0'), old('gpu-1')] }, says: /OnDelete waits until you delete them \(gpu-\[0-1\]\)/ },
  { rule: 'G8', reason: 'a claim is leaving', values: { claims: [{ metadata: { name: 'data-gpu-4', deletionTimestamp: before(minute) }, status: { phase: 'Bound' } }] }, says: /data-gpu-4 is being deleted/ },
  { rule: 'G9', reason: 'helm and KEDA', values: { nodeSets: [custom('NodeSet', 'gpu', { spec: { replicas: 2 }, metadata: { managedFields: ['helm', 'keda'].map((manager) => ({ manager, fieldsV1: { 'f:spec': { 'f:replicas': {} } } })) } })] }, says: /written by helm and keda/ },
  { rule: 'G10', reason: 'no replicas', values: { nodeSets: [custom('NodeSet', 'gpu', { spec: { replicas: 0 } })], jobs: [job(7, { stateReason: 'Priority' })] }, says: /has 0 replicas, and 1 job waits/ },
  { rule: 'G11', reason: 'deletion waits', values: set(ready('Deleting', 'waits for 2 jobs'), { metadata: { deletionTimestamp: before(minute) } }), says: /being deleted and waits: waits for 2 jobs/ },
  { rule: 'G12', reason: 'pods are not ready', values: set(ready('PodsNotReady', 'pod gpu-1 is not ready')), says: /NodeSet gpu is not ready \(PodsNotReady\): pod gpu-1/ },
];


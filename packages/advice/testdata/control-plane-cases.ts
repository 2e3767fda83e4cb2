/** Cases of families A, B and C. */
import { before, condition, custom, hour, job, minute, now, pod, slurmNode } from '../testing/objects.ts';
import type { RuleCase } from './rule-case.ts';

const ready = (reason: string, message: string) => [condition('Ready', 'False', reason, message)];
const controller = (reason: string, message = 'why') => ({
  controllers: [custom('Controller', 'slurm', { conditions: ready(reason, message) })],
});
const disconnected = (reason: string) =>
  custom('Cluster', 'slurm', { conditions: [condition('SlurmConnected', 'False', reason, `http://x: ${reason}`)] });
const diag = (changed: object) => ({
  diag: { time: now, startedAt: now - hour, serverThreads: 2, agentQueue: 0, databaseQueue: 0, scheduleCycleLast: 1, scheduleQueueLength: 0, backfillLastDepth: 0, ...changed },
});
const claim = (name: string, more: object = {}, metadata: object = {}) => ({ metadata: { name, ...metadata }, spec: {}, status: { phase: 'Pending' }, ...more });
const crashing = (component: string, name: string) => pod(name, { component, waiting: 'CrashLoopBackOff', restarts: 5 });
const logged = (key: string, text: string) => new Map([[key, text]]);
const token = (spec: object, status: object, conditions?: readonly object[]) => ({
  tokens: [custom('Token', 'ci', { spec: { username: 'ci', ...spec }, status, ...(conditions === undefined ? {} : { conditions }) })],
});

export const controlPlaneCases: readonly RuleCase[] = [
  { rule: 'A1', reason: 'no CRD at all', values: { definitions: [] }, says: /^The CRDs of slurm-operator are not installed/, fix: /slurm-operator-crds/ },
  {
    rule: 'A1',
    reason: 'a CRD of another version',
    values: {
      definitions: ['accountings', 'clusters', 'controllers', 'loginsets', 'nodesets', 'restapis', 'tokens'].map((kind) => ({
        metadata: { name: `${kind}.slinky.slurm.net` },
        spec: { versions: [{ name: kind === 'nodesets' ? 'v1alpha1' : 'v1beta1', served: true }] },
      })),
    },
    says: /nodesets do not serve v1beta1/,
  },
  { rule: 'A2', reason: 'no Deployment', values: { operators: [] }, says: /No Deployment of slurm-operator/ },
  {
    rule: 'A2',
    reason: 'no replica is available',
    values: { operators: [{ metadata: { name: 'slurm-operator', namespace: 'slinky' }, spec: { replicas: 2 }, status: {} }] },
    says: /not available \(0 of 2 replicas\)/,
    fix: /-n slinky/,
  },
  {
    rule: 'A3',
    reason: 'the lease is old',
    values: { lease: { metadata: { name: 'l', namespace: 'slinky' }, spec: { renewTime: before(10 * minute), leaseDurationSeconds: 15, holderIdentity: 'pod-1' } } },
    says: /No operator has been leading for 10 min/,
    because: /pod-1/,
  },
  { rule: 'A4', reason: 'no endpoints', values: { webhook: { accepted: false, message: 'failed calling webhook "x": no endpoints available' } }, says: /does not reach the webhook/ },
  { rule: 'A4', reason: 'no pod, and failurePolicy Ignore', values: { webhook: { accepted: true, message: '', down: { namespace: 'slinky', name: 'slurm-operator-webhook' } } }, says: /without its checks/ },
  { rule: 'A5', reason: 'an untrusted certificate', values: { webhook: { accepted: false, message: 'failed calling webhook: x509: certificate signed by unknown authority' } }, says: /does not trust/ },
  { rule: 'A6', reason: 'a restricted namespace', values: { nodeSets: [custom('NodeSet', 'gpu', { conditions: ready('PodSecurityViolation', 'violates PodSecurity') })] }, says: /refuses the pods of NodeSet gpu: its Pod Security level is privileged/, fix: /enforce=privileged/ },
  { rule: 'A7', reason: 'a full quota', values: { nodeSets: [custom('NodeSet', 'gpu', { conditions: ready('QuotaExceeded', 'exceeded quota: compute') })] }, says: /exceeded quota: compute/ },
  { rule: 'A8', reason: 'no right to list events', values: { permissions: [{ verb: 'list', resource: 'events', allowed: false }] }, says: /You may not list events in slurm/ },
  { rule: 'A9', reason: 'Kubernetes 1.27', values: { kubernetesVersion: 'v1.27.3' }, says: /1\.27\.3 is older than 1\.29/ },
  {
    rule: 'A10',
    reason: 'two Deployments',
    values: { operators: ['a', 'b'].map((namespace) => ({ metadata: { name: 'slurm-operator', namespace }, spec: { replicas: 1 }, status: { availableReplicas: 1 } })) },
    says: /2 Deployments.*a\/slurm-operator and b\/slurm-operator/,
  },
  { rule: 'A11', reason: 'the operator is denied', values: controller('AccessDenied', 'cannot list pods'), says: /lacks a permission: cannot list pods/ },
  { rule: 'A12', reason: 'a terminating namespace', values: controller('NamespaceTerminating'), says: /namespace slurm is being deleted/ },
  { rule: 'B1', reason: 'refused', values: { clusters: [disconnected('ConnectionRefused')] }, says: /cannot use Slurm \(ConnectionRefused\): http/, fix: /logs slurmrestd/ },
  { rule: 'B1', reason: 'a reason with general advice', values: { clusters: [disconnected('TlsFailed')] }, says: /TlsFailed/, fix: /caConfigMapRef/ },
  {
    rule: 'B2',
    reason: 'a policy without the operator',
    values: {
      clusters: [disconnected('ConnectionTimeout')],
      networkPolicies: [
        { metadata: { name: 'restrict' }, spec: { podSelector: { matchLabels: { 'app.kubernetes.io/component': 'restapi' } }, ingress: [{ from: [{ namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'other' } } }] }] } },
      ],
    },
    says: /restrict selects slurmrestd and does not admit the namespace slinky/,
  },
  { rule: 'B3', reason: 'no usage file', values: { pods: [crashing('controller', 'c-0')], logs: logged('c-0/slurmctld', 'fatal: No Assoc usage file (/x/assoc_usage) to recover') }, says: /before it saved its state/, because: /assoc_usage/ },
  { rule: 'B4', reason: 'a crash', values: { pods: [crashing('controller', 'c-0')], logs: logged('c-0/slurmctld', 'Segmentation fault (core dumped)') }, says: /reads its saved state/ },
  { rule: 'B5', reason: 'wrong owner', values: { pods: [crashing('controller', 'c-0')], logs: logged('c-0/slurmctld', 'fatal: Incorrect permissions on state save loc: /var') }, says: /may not write/, fix: /fixOwnership/ },
  { rule: 'B6', reason: 'no default class', values: { claims: [claim('statesave-slurm-controller-0')] }, says: /waits for a volume: no StorageClass is the default/ },
  { rule: 'B6', reason: 'a class that does not exist', values: { claims: [claim('statesave-slurm-controller-0', { spec: { storageClassName: 'fast' } })] }, says: /StorageClass fast does not exist/ },
  { rule: 'B7', reason: 'a line is refused', values: controller('ConfigRejected', 'slurmctld: Parsing error at unrecognized key: Foo'), says: /Parsing error at unrecognized key/ },
  {
    rule: 'B8',
    reason: 'the node of slurmctld is lost',
    values: { machines: [{ metadata: { name: 'machine-1' }, status: { conditions: [{ type: 'Ready', status: 'Unknown', lastTransitionTime: before(12 * minute) }] } }] },
    says: /on the node machine-1, which has not responded for 12 min/,
    fix: /kubectl delete node machine-1/,
  },
  { rule: 'B9', reason: 'a crash loop', values: { pods: [crashing('controller', 'c-0')], logs: logged('c-0/slurmctld', 'starting\nerror: something is wrong\n') }, says: /crash looping \(5 restarts\): "error: something is wrong"/ },
  { rule: 'B10', reason: 'threads and queue', values: diag({ serverThreads: 251, agentQueue: 4120 }), says: /251 of 256 server threads are busy and 4,120 messages/ },
  { rule: 'B11', reason: 'records pile up', values: diag({ databaseQueue: 80_000 }), says: /80,000 records/ },
  { rule: 'B12', reason: 'killed for memory', values: { pods: [pod('slurm-restapi-0', { component: 'restapi', ended: 'OOMKilled' })] }, says: /slurmrestd was killed for memory/ },
  { rule: 'B13', reason: 'slurmd is newer', values: { pods: [pod('c-0', { component: 'controller', image: 'slurmctld:25.11' }), pod('gpu-0', { image: 'slurmd:26.05' })] }, says: /slurmd 26\.05 is newer than slurmctld 25\.11/ },
  { rule: 'B14', reason: 'a partition with jobs', values: controller('ConfigHeld', 'partition old has 3 jobs'), says: /held back: partition old has 3 jobs/ },
  { rule: 'B15', reason: 'no image', values: controller('ConfigUntried', 'the image cannot be pulled'), says: /could not be tried/, fix: /slurm-config-check/ },
  { rule: 'B16', reason: 'no pod is ready', values: { pods: [pod('slurm-restapi-0', { component: 'restapi', ready: false })] }, says: /No pod of slurmrestd is ready \(1 pod\)/ },
  { rule: 'B16', reason: 'scaled to 0', values: { restApis: [custom('RestApi', 'slurm', { spec: { replicas: 0 } })] }, says: /scaled to 0/ },
  { rule: 'B17', reason: 'a smaller volume', values: controller('VolumeUnchangeable', 'spec.persistence.size cannot shrink'), says: /cannot shrink/ },
  { rule: 'B18', reason: 'a missing Secret', values: controller('SecretNotFound', 'there is no Secret key in namespace slurm'), says: /Controller slurm: there is no Secret key/ },
  { rule: 'B19', reason: 'workers ended', values: controller('WorkersEnded', 'slurmd of 3 workers exited: bad gres.conf'), says: /3 workers exited/ },
  { rule: 'B20', reason: 'not ready for an hour', values: { pods: [pod('slurm-controller-0', { component: 'controller', ready: false })] }, says: /slurm-controller-0 has not been ready for 1 h/ },
  { rule: 'C1', reason: 'a wrong password', values: { accountings: [custom('Accounting', 'slurm', { conditions: [condition('DatabaseReachable', 'False', 'DatabaseRefused', 'Access denied for user')] })] }, says: /refuses slurmdbd: Access denied/ },
  { rule: 'C2', reason: 'no database', values: { accountings: [custom('Accounting', 'slurm', { conditions: [condition('DatabaseReachable', 'False', 'DatabaseUnreachable', 'mariadb:3306 refused')] })] }, says: /mariadb:3306 refused/ },
  { rule: 'C3', reason: 'no association', values: { jobs: [job(7, { stateReason: 'InvalidAccount' })], associations: [{ user: 'bob' }] }, says: /alice belongs to no account, so Slurm holds 1 job \(7\)/, fix: /sacctmgr -i add user alice/ },
  { rule: 'C4', reason: 'expired', values: token({ refresh: true }, { expiresAt: before(3 * hour) }), says: /of ci expired 3 h ago and was not renewed/ },
  { rule: 'C5', reason: 'root is not allowed', values: token({}, {}, ready('UserNotAllowed', 'root must be allowed')), says: /not issued: root must be allowed/ },
  { rule: 'C6', reason: 'a login pod waits', values: { pods: [pod('login-0', { component: 'login', ready: false })] }, says: /login pod login-0 has not been ready for 1 h/ },
  { rule: 'C7', reason: 'another key', values: { logs: logged('gpu-0/slurmd', 'error: failed to connect to any sack sockets') }, says: /messages of pod gpu-0/, because: /sack sockets/ },
  { rule: 'C8', reason: 'sssd is offline', values: { logs: logged('login-0/login', 'sssd[be]: Backend is offline') }, says: /Users are unknown on login-0/ },
  { rule: 'C9', reason: 'a clock ahead', values: { slurmNodes: [slurmNode('gpu-0', { bootedAt: now + 6 * minute })] }, says: /clock of gpu-0 is at least 6 min ahead/ },
  { rule: 'C10', reason: 'a rotation', values: { loginSets: [custom('LoginSet', 'login', { conditions: [condition('KeysCurrent', 'False', 'KeyRotation', '2 of 3 pods')] })] }, says: /rotated: 2 of 3 pods/ },
  { rule: 'C11', reason: 'slurmdbd is older', values: controller('AccountingOlder', 'slurmctld keeps 25.11'), says: /keeps 25\.11/ },
  { rule: 'C12', reason: 'slurmdbd exits', values: { pods: [crashing('accounting', 'a-0')], logs: logged('a-0/slurmdbd', 'fatal: no database') }, says: /slurmdbd in pod a-0 is crash looping: "fatal: no database"/ },
  { rule: 'C13', reason: 'expires soon', values: token({ refresh: false }, { expiresAt: new Date(now + hour).toISOString() }), says: /expires at 13:00 and is not renewed/ },
];

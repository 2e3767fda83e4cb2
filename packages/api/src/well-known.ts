/**
 * Every string that other programs know us by: the API group, labels, annotations, finalizers, the reason
 * prefix, resource names and ports. They are those of SlinkyProject/slurm-operator, so that manifests, scripts
 * and dashboards written for it keep working. Nothing here may change without a migration.
 */

export const group = 'slinky.slurm.net';
export const version = 'v1beta1';
export const apiVersion = `${group}/${version}`;
/** `kubectl get slurm` lists every kind of the group. */
export const category = 'slurm';

export const label = {
  name: 'app.kubernetes.io/name',
  instance: 'app.kubernetes.io/instance',
  component: 'app.kubernetes.io/component',
  partOf: 'app.kubernetes.io/part-of',
  managedBy: 'app.kubernetes.io/managed-by',
  /** The Controller that an object belongs to. */
  cluster: 'slinky.slurm.net/cluster',
  /** `"true"` on the slurmctld pod that is active. Informative: no Service of ours depends on it. */
  activeController: 'controller.slinky.slurm.net/active',
  podName: 'nodeset.slinky.slurm.net/pod-name',
  /** The ordinal, padded as `ordinalPadding` says. */
  podIndex: 'nodeset.slinky.slurm.net/pod-index',
  /** The pod's host name, which is the Slurm node's name. */
  podHostname: 'nodeset.slinky.slurm.net/pod-hostname',
  /** `"true"` while the node has work: the disruption budget matches it. */
  podProtect: 'nodeset.slinky.slurm.net/pod-protect',
  scalingMode: 'nodeset.slinky.slurm.net/scaling-mode',
  /** The revision of a worker pod and of its ControllerRevision. */
  revision: 'controller.kubernetes.io/hash',
  /** On a ConfigMap with a `script`: the dashboard offers it to those who submit. The value names a Cluster, or is empty for all of its namespace. */
  jobTemplate: 'slinky.slurm.net/job-template',
} as const;

export const annotation = {
  /** Exactly `"true"` on a worker pod drains its Slurm node; taking it away undrains. */
  podCordon: 'nodeset.slinky.slurm.net/pod-cordon',
  /** An int32: the lowest is deleted first. */
  podDeletionCost: 'nodeset.slinky.slurm.net/pod-deletion-cost',
  /** RFC 3339: when the last running job of the node must end. The earliest is deleted first. */
  podDeadline: 'nodeset.slinky.slurm.net/pod-deadline',
  /** On a Node, and copied to its worker pods: Slurm's dynamic topology. */
  topology: 'topology.slinky.slurm.net/spec',
  /** On a Node: features, separated by commas. */
  features: 'features.slinky.slurm.net/spec',
  /** On a Node: why it was cordoned; becomes the drain's reason. */
  nodeCordonReason: 'nodeset.slinky.slurm.net/node-cordon-reason',
  /** On a Node: the host name of its worker pod in DaemonSet mode. */
  hostnameOverride: 'nodeset.slinky.slurm.net/hostname-override',
  defaultContainer: 'kubectl.kubernetes.io/default-container',
  slurmKeyHash: 'slinky.slurm.net/slurm-key-hash',
  /** On a worker: the file with several keys that it can read. Ours. */
  slurmKeysFile: 'slinky.slurm.net/slurm-keys-file',
  /** On the Secret with the keys in force: their digests, and which of them signs. Ours. */
  slurmKeys: 'slinky.slurm.net/slurm-keys',
  /** On a Controller: take the next step of the change of slurm.key that this token names, whatever it waits for. Ours. */
  forceKey: 'slinky.slurm.net/force-key',
  jwtKeyHash: 'slinky.slurm.net/jwt-key-hash',
  slurmConfigHash: 'slinky.slurm.net/slurm-config-hash',
  slurmdbdConfHash: 'slinky.slurm.net/slurmdbd-conf-hash',
  sshdConfHash: 'slinky.slurm.net/sshd-conf-hash',
  sssdConfHash: 'slinky.slurm.net/sssd-conf-hash',
  sshHostKeysHash: 'slinky.slurm.net/ssh-host-keys-hash',
  /** On a Controller: make the Secret of slurmKeyRef if there is none. A JSON object: annotations of that Secret. Ours. */
  generateSlurmKey: 'slinky.slurm.net/generate-slurm-key',
  /** The same for the JWT key. */
  generateJwtKey: 'slinky.slurm.net/generate-jwt-key',
  /** On a Controller: put the configuration in force that this token names, whatever jobs it costs. See `status.heldConfig`. Ours. */
  forceConfig: 'slinky.slurm.net/force-config',
  /** On a Controller: put the configuration in force that this token names, without its trial. Ours. */
  skipConfigTrial: 'slinky.slurm.net/skip-config-trial',
} as const;

export const finalizer = {
  /** Removes a ScheduledUpdate's reservation before its NodeSet goes. Upstream's; here `drain` waits for the reservation as well. */
  reservation: 'nodeset.slinky.slurm.net/reservation',
  /** Drains the workers before their NodeSet goes (`deletionPolicy: Drain`). Ours; upstream has none. */
  drain: 'nodeset.slinky.slurm.net/drain',
  /** Removes a row from Slurm before the object that declares it goes (`deletionPolicy: Delete`). Ours. */
  declared: 'slinky.slurm.net/declared',
} as const;

/** What a NodeSet that may go is released from, in this order. After a move no other program removes upstream's. */
export const nodeSetFinalizers = [finalizer.reservation, finalizer.drain] as const;

/** The taint that keeps other work off worker nodes, where an administrator sets it; workers tolerate it. */
export const workerTaint = { key: 'nodeset.slinky.slurm.net/worker', effect: 'NoExecute' } as const;

/** How every drain and down that we order begins. A reason without it is a human's: never touched. */
export const reasonPrefix = 'slurm-operator: ';
/** How a feature that comes from a Node's annotation begins. */
export const featurePrefix = 'k8s/';

/** `app.kubernetes.io/name` of each workload, and the name of its main container. */
export const app = {
  controller: 'slurmctld',
  worker: 'slurmd',
  login: 'login',
  accounting: 'slurmdbd',
  restapi: 'slurmrestd',
} as const;

/** `app.kubernetes.io/component` of each workload. */
export const component = {
  controller: 'controller',
  worker: 'worker',
  login: 'login',
  accounting: 'accounting',
  restapi: 'restapi',
} as const;

export type Component = keyof typeof component;

export const port = {
  slurmctld: 6817,
  slurmd: 6818,
  slurmdbd: 6819,
  slurmrestd: 6820,
  ssh: 22,
  mysql: 3306,
} as const;

/** Owners inside our images. */
export const uid = { slurm: 401, nobody: 65534 } as const;

/** Files in `/etc/slurm` that hold keys. */
export const keyFile = {
  slurm: 'slurm.key',
  /** Several keys of auth/slurm: where it exists, Slurm reads it instead of slurm.key. */
  slurmKeys: 'slurm.jwks',
  jwt: 'jwt.key',
  jwks: 'jwks.json',
} as const;

/** The key under which a Token's Secret holds the token. */
export const tokenSecretKey = 'SLURM_JWT';

/** Names of everything that a custom resource of the given name owns. */
export const resourceName = {
  controller: (controller: string) => `${controller}-controller`,
  /** Headless: gives each slurmctld pod a DNS name. */
  controllerInternal: (controller: string) => `${controller}-controller-internal`,
  /** The pod of this ordinal, and the ClusterIP Service of the same name in front of it. */
  controllerPod: (controller: string, ordinal: number) => `${controller}-controller-${ordinal}`,
  config: (controller: string) => `${controller}-config`,
  /** What was tried last, and the name of its pod. */
  configTrial: (controller: string) => `${controller}-config-check`,
  /** The Secret with the keys of auth/slurm that are in force. */
  slurmKeys: (controller: string) => `${controller}-slurm-keys`,
  /** The Cluster object that a Controller owns. */
  cluster: (controller: string) => controller,
  accounting: (accounting: string) => `${accounting}-accounting`,
  restapi: (restapi: string) => `${restapi}-restapi`,
  login: (loginset: string) => loginset,
  sshHostKeys: (loginset: string) => `${loginset}-ssh-host-keys`,
  sshConfig: (owner: string) => `${owner}-ssh-config`,
  workers: (controller: string) => `slurm-workers-${controller}`,
  workersBudget: (controller: string) => `slurm-workers-pdb-${controller}`,
  reservation: (nodeset: string) => `SlurmOperatorMaint-${nodeset}`,
  /** A user name may hold what a Secret's name may not; those characters become dashes. */
  tokenSecret: (token: string, username: string) =>
    `${token}-jwt-${username
      .toLowerCase()
      .replaceAll(/[^a-z0-9.-]/g, '-')
      .replaceAll(/^[.-]+|[.-]+$/g, '')}`,
} as const;

/** The ClusterName of a Controller that names none. */
export const derivedClusterName = (namespace: string, controller: string): string =>
  `${namespace}_${controller}`;

/** The exchange of a Kubernetes identity for a Slurm token, as the manager serves it and `kubectl slurm` finds it. */
export const tokenExchange = {
  /** Of the Secret with its certificate, and of the ConfigMap that names the authority behind it (`ca.crt`). */
  name: 'slurm-operator-token-exchange',
  /** The name in the certificate. Clients come through a port-forward, so it is no host. */
  host: 'token-exchange.slurm-operator.internal',
  /** Of the container of the manager. */
  portName: 'token-exchange',
  path: '/v1/token',
} as const;

/**
 * Real Slurm as hand-written pods: slurmctld, slurmrestd and some slurmd, without any operator. It shows that a cluster
 * can run Slurm at all, and what an operator has to do.
 */
import { createHmac, randomBytes } from 'node:crypto';

export interface SlurmPodsOptions {
  readonly namespace: string;
  /** How many slurmd. */
  readonly workers: number;
  /** Tag of the three images. */
  readonly version: string;
  /** Seconds since the epoch, for the token's life. */
  readonly now: number;
}

interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
  readonly [field: string]: unknown;
}

const port = { slurmctld: 6817, slurmd: 6818, slurmrestd: 6820 } as const;

export function slurmPods(options: SlurmPodsOptions): Manifest[] {
  const { namespace, workers } = options;
  const jwtKey = randomBytes(32);
  const image = (name: string) => `slurm-operator/${name}:${options.version}`;
  const metadata = (name: string, labels?: Record<string, string>) => ({
    name,
    namespace,
    ...(labels === undefined ? {} : { labels }),
  });
  const service = (name: string): Manifest => ({
    apiVersion: 'v1',
    kind: 'Service',
    metadata: metadata(name),
    spec: { selector: { app: name }, ports: [{ port: port[name as keyof typeof port] }] },
  });
  const pod = (name: string, app: string, spec: Record<string, unknown>): Manifest => ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: metadata(name, { app }),
    spec: { automountServiceAccountToken: false, terminationGracePeriodSeconds: 5, ...spec },
  });
  const probe = (path: string, at: number) => ({
    httpGet: { path, port: at },
    periodSeconds: 1,
    failureThreshold: 60,
  });
  const config = { name: 'config', mountPath: '/etc/slurm', readOnly: true };
  const projected = (mode: number, ...sources: unknown[]) => ({
    name: 'config',
    projected: { defaultMode: mode, sources },
  });
  const configMap = { configMap: { name: 'slurm-config' } };
  const keys = (...names: string[]) => ({
    secret: { name: 'slurm-keys', items: names.map((key) => ({ key, path: key })) },
  });
  return [
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } },
    {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: metadata('slurm-keys'),
      data: { 'slurm.key': randomBytes(1024).toString('base64'), 'jwt_hs256.key': jwtKey.toString('base64') },
    },
    {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: metadata('slurm-config'),
      data: { 'slurm.conf': slurmConf, 'cgroup.conf': 'CgroupPlugin=disabled\n' },
    },
    service('slurmctld'),
    service('slurmrestd'),
    pod('slurmctld', 'slurmctld', {
      securityContext: { runAsUser: 401, runAsGroup: 401, runAsNonRoot: true, fsGroup: 401 },
      containers: [
        {
          name: 'slurmctld',
          image: image('slurmctld'),
          securityContext: { capabilities: { drop: ['ALL'] }, allowPrivilegeEscalation: false },
          readinessProbe: probe('/readyz', port.slurmctld),
          volumeMounts: [
            config,
            { name: 'state', mountPath: '/var/spool/slurmctld' },
            { name: 'run', mountPath: '/run/slurmctld' },
          ],
        },
      ],
      volumes: [
        projected(0o400, configMap, keys('slurm.key', 'jwt_hs256.key')),
        { name: 'state', emptyDir: {} },
        { name: 'run', emptyDir: { medium: 'Memory' } },
      ],
    }),
    pod('slurmrestd', 'slurmrestd', {
      securityContext: { runAsUser: 402, runAsGroup: 402, runAsNonRoot: true },
      containers: [
        {
          name: 'slurmrestd',
          image: image('slurmrestd'),
          args: ['-a', 'rest_auth/jwt', `0.0.0.0:${port.slurmrestd}`],
          env: [{ name: 'SLURM_JWT', value: 'daemon' }],
          securityContext: { capabilities: { drop: ['ALL'] }, allowPrivilegeEscalation: false },
          readinessProbe: { tcpSocket: { port: port.slurmrestd }, periodSeconds: 1, failureThreshold: 60 },
          volumeMounts: [config],
        },
      ],
      volumes: [projected(0o444, configMap)],
    }),
    ...Array.from({ length: workers }, (_, index) =>
      pod(`slurmd-${index}`, 'slurmd', {
        affinity: {
          podAntiAffinity: {
            preferredDuringSchedulingIgnoredDuringExecution: [
              {
                weight: 100,
                podAffinityTerm: {
                  labelSelector: { matchLabels: { app: 'slurmd' } },
                  topologyKey: 'kubernetes.io/hostname',
                },
              },
            ],
          },
        },
        containers: [
          {
            name: 'slurmd',
            image: image('slurmd'),
            args: [
              '-Z',
              '-b',
              '--conf-server',
              `slurmctld:${port.slurmctld}`,
              '--conf',
              'CPUs=1 RealMemory=1000',
            ],
            securityContext: {
              capabilities: { drop: ['ALL'], add: ['SETUID', 'SETGID', 'CHOWN', 'KILL'] },
              allowPrivilegeEscalation: false,
            },
            readinessProbe: probe('/readyz', port.slurmd),
            volumeMounts: [config],
          },
        ],
        volumes: [projected(0o400, keys('slurm.key'))],
      }),
    ),
    pod('client', 'client', {
      restartPolicy: 'Never',
      containers: [
        {
          name: 'client',
          image: image('slurmctld'),
          command: ['bash', '-c', clientScript],
          env: [
            { name: 'TOKEN', value: token(jwtKey, options.now) },
            { name: 'NODES', value: String(workers) },
          ],
        },
      ],
    }),
  ];
}

const slurmConf = `ClusterName=pods
SlurmctldHost=slurmctld
SlurmUser=slurm
AuthType=auth/slurm
CredType=auth/slurm
AuthInfo=use_client_ids
AuthAltTypes=auth/jwt
AuthAltParameters=jwt_key=/etc/slurm/jwt_hs256.key
SlurmctldParameters=enable_configless
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
MaxNodeCount=1024
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SlurmdParameters=config_overrides
ReturnToService=2
MpiDefault=none
StateSaveLocation=/var/spool/slurmctld
SlurmctldPidFile=/run/slurmctld/slurmctld.pid
SchedulerParameters=batch_sched_delay=0,sched_interval=1,bf_interval=1
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
`;

/** Sends HTTP over bash's own sockets: the image has no curl. Waits for the nodes, submits, waits for the end. */
const clientScript = String.raw`
set -u
ask() {
  exec 3<>/dev/tcp/slurmrestd/6820 || return 1
  printf '%s %s HTTP/1.1\r\nHost: slurmrestd\r\nX-SLURM-USER-TOKEN: %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\nConnection: Close\r\n\r\n%s' \
    "$1" "$2" "$TOKEN" "$(printf %s "$3" | wc -c)" "$3" >&3
  timeout 5 cat <&3
  exec 3>&-
}
flat() { tr -d ' \n\r'; }
api=/slurm/v0.0.45
until [ "$(ask GET $api/nodes/ '' 2>/dev/null | flat | grep -o '"state":\["IDLE"' | wc -l)" -ge "$NODES" ]; do sleep 0.2; done
echo "$NODES nodes idle"
body='{"job":{"name":"hello","nodes":"'$NODES'","tasks":'$NODES',"current_working_directory":"/tmp","environment":["PATH=/bin:/usr/bin"],"script":"#!/bin/bash\nsrun hostname\n"}}'
id=$(ask POST $api/job/submit "$body" | flat | grep -o '"job_id":[0-9]*' | head -n 1 | grep -o '[0-9]*')
if [ -z "$id" ]; then echo "the job was not taken"; exit 1; fi
echo "job $id submitted"
for attempt in $(seq 300); do
  answer=$(ask GET "$api/job/$id" '' | flat)
  case $answer in
    *'"job_state":["COMPLETED"]'*) echo "job $id COMPLETED on $(echo "$answer" | grep -o '"nodes":"[^"]*"' | head -n 1 | cut -d'"' -f4)"; exit 0 ;;
    *'"job_state":["FAILED"'* | *'"job_state":["NODE_FAIL"'* | *'"job_state":["CANCELLED"'*) echo "job $id ended badly: $answer"; exit 1 ;;
  esac
  sleep 0.1
done
echo "job $id did not end in time: $answer"
exit 1
`;

/** A token as slurmctld checks it: HS256 over the user's name and times. */
function token(key: Buffer, now: number): string {
  const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const text = `${encode({ alg: 'HS256', typ: 'JWT' })}.${encode({ sun: 'root', iat: now, exp: now + 3600 })}`;
  return `${text}.${createHmac('sha256', key).update(text).digest('base64url')}`;
}

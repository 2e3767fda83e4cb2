/** What stands beside a Slurm and is none of it, a database or a directory: one pod, and a Service in front of it. */
export interface Neighbour {
  readonly name: string;
  readonly image: string;
  /** What it listens on. */
  readonly port: number;
  /** The port of its Service. @default port */
  readonly servedAt?: number;
  readonly env?: readonly object[];
  readonly volumes?: readonly object[];
  readonly mounts?: readonly object[];
  /** What else its pod has: where it runs, whose its files are. */
  readonly pod?: object;
}

export function neighbour(wanted: Neighbour): { readonly service: object; readonly deployment: object } {
  const { name, image, port, servedAt = port, env = [], volumes = [], mounts = [], pod = {} } = wanted;
  const labels = { 'app.kubernetes.io/name': name };
  const container = {
    name,
    image,
    imagePullPolicy: 'IfNotPresent',
    env,
    volumeMounts: mounts,
    readinessProbe: { tcpSocket: { port }, periodSeconds: 1 },
  };
  return {
    service: {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name, labels },
      spec: { selector: labels, ports: [{ port: servedAt, targetPort: port }] },
    },
    deployment: {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name, labels },
      spec: {
        replicas: 1,
        // No two of them on one volume.
        strategy: { type: 'Recreate' },
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: { ...pod, containers: [container], volumes } },
      },
    },
  };
}

/** As slurmdbd wants it, with the names that the chart's defaults expect. */
export const mariadb = (
  wanted: Pick<Neighbour, 'image' | 'pod'> & {
    /** The Secret and its key. */
    readonly password: { readonly name: string; readonly key: string };
    /** A volume but for its name. */
    readonly data: object;
  },
): Neighbour => ({
  name: 'mariadb',
  image: wanted.image,
  port: 3306,
  env: [
    { name: 'MARIADB_DATABASE', value: 'slurm_acct_db' },
    { name: 'MARIADB_USER', value: 'slurm' },
    { name: 'MARIADB_PASSWORD', valueFrom: { secretKeyRef: wanted.password } },
  ],
  volumes: [{ name: 'data', ...wanted.data }],
  mounts: [{ name: 'data', mountPath: '/var/lib/mysql' }],
  ...(wanted.pod === undefined ? {} : { pod: wanted.pod }),
});

/** With the people of a ConfigMap. */
export const ldap = (image: string, people: string): Neighbour => ({
  name: 'ldap',
  image,
  port: 1389,
  volumes: [{ name: 'seed', configMap: { name: people } }],
  mounts: [{ name: 'seed', mountPath: '/seed' }],
});

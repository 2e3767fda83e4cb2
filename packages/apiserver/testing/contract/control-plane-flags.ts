/** The command lines of a control plane on one machine, for tests: who listens where, and which files they share. Pure. */

export interface ControlPlane {
  /** Holds every file that is named below. */
  readonly directory: string;
  readonly ports: { readonly etcdClient: number; readonly etcdPeer: number; readonly secure: number };
}

/** Files that must be in the directory before the programs start. */
export const files = {
  ca: 'ca.crt',
  servingCertificate: 'serving.crt',
  servingKey: 'serving.key',
  accountKey: 'sa.key',
  accountPublicKey: 'sa.pub',
  kubeconfig: 'kubeconfig',
} as const;

/** The arguments of each program; nothing listens beyond this machine. */
export function controlPlaneFlags({ directory, ports }: ControlPlane) {
  const at = (name: string) => `${directory}/${name}`;
  const etcd = `http://127.0.0.1:${ports.etcdClient}`;
  return {
    etcd: flags({
      'data-dir': at('etcd'),
      'listen-client-urls': etcd,
      'advertise-client-urls': etcd,
      'listen-peer-urls': `http://127.0.0.1:${ports.etcdPeer}`,
    }),
    'kube-apiserver': flags({
      'etcd-servers': etcd,
      'bind-address': '127.0.0.1',
      'secure-port': String(ports.secure),
      'cert-dir': at('certs'),
      'client-ca-file': at(files.ca),
      'tls-cert-file': at(files.servingCertificate),
      'tls-private-key-file': at(files.servingKey),
      'service-account-issuer': 'https://kubernetes.default.svc.cluster.local',
      'service-account-key-file': at(files.accountPublicKey),
      'service-account-signing-key-file': at(files.accountKey),
      'authorization-mode': 'RBAC',
      'service-cluster-ip-range': '10.0.0.0/24',
    }),
    'kube-controller-manager': flags({
      kubeconfig: at(files.kubeconfig),
      'root-ca-file': at(files.ca),
      'service-account-private-key-file': at(files.accountKey),
      'use-service-account-credentials': 'true',
      'bind-address': '127.0.0.1',
      'secure-port': '0',
      'leader-elect': 'false',
    }),
  } as const;
}

function flags(values: Readonly<Record<string, string>>): string[] {
  return Object.entries(values).map(([name, value]) => `--${name}=${value}`);
}

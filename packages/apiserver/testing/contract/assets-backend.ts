/**
 * A real control plane from a directory of binaries (KUBEBUILDER_ASSETS): kube-apiserver, and kube-controller-manager
 * if it is there, with etcd from the same directory or from Debian. Nothing is built or downloaded but Debian's etcd.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { unpackTools } from '@slurm-operator/sandbox';
import { CertificateAuthority } from '../../src/pki/certificate-authority.ts';
import { kubeconfig } from '../../src/pki/kubeconfig.ts';
import { type Backend, Caller } from './backend.ts';

export interface AssetsBackend {
  readonly backend: Backend;
  stop(): Promise<void>;
}

const readyDeadline = 60_000;

export async function startAssets(assets: string): Promise<AssetsBackend> {
  const apiserver = join(assets, 'kube-apiserver');
  if (!existsSync(apiserver))
    throw new Error(`KUBEBUILDER_ASSETS=${assets} holds no kube-apiserver: give a directory that does`);
  const manager = join(assets, 'kube-controller-manager');
  const etcd = existsSync(join(assets, 'etcd'))
    ? join(assets, 'etcd')
    : (await unpackTools({ packages: ['etcd-server'] })).path('etcd');
  const directory = await mkdtemp(join(tmpdir(), 'contract-assets-'));
  const children: ChildProcess[] = [];
  const stop = async (): Promise<void> => {
    await Promise.all(children.toReversed().map(ended));
    await rm(directory, { recursive: true, force: true });
  };
  try {
    const [client, peer, secure] = await freePorts(3);
    const now = Date.now();
    const authority = await CertificateAuthority.create(now);
    const serving = await authority.serving(['127.0.0.1', 'localhost'], now);
    const admin = await authority.client({ name: 'kubernetes-admin', groups: ['system:masters'] }, now);
    const signing = generateKeyPairSync('rsa', { modulusLength: 2048 });
    const url = `https://127.0.0.1:${secure}`;
    const files = {
      'ca.crt': authority.caPem,
      'serving.crt': serving.certificatePem,
      'serving.key': serving.keyPem,
      'sa.key': signing.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
      'sa.pub': signing.publicKey.export({ type: 'spki', format: 'pem' }).toString(),
      kubeconfig: kubeconfig({ url, caPem: authority.caPem, user: 'kubernetes-admin', credentials: admin }),
    };
    for (const [name, text] of Object.entries(files))
      await writeFile(join(directory, name), text, { mode: 0o600 });
    const at = (name: string) => join(directory, name);
    const start = (program: string, flags: Readonly<Record<string, string>>): void => {
      const args = Object.entries(flags).map(([name, value]) => `--${name}=${value}`);
      children.push(spawn(program, args, { stdio: 'ignore' }));
    };
    start(etcd, {
      'data-dir': at('etcd'),
      'listen-client-urls': `http://127.0.0.1:${client}`,
      'advertise-client-urls': `http://127.0.0.1:${client}`,
      'listen-peer-urls': `http://127.0.0.1:${peer}`,
    });
    start(apiserver, {
      'etcd-servers': `http://127.0.0.1:${client}`,
      'bind-address': '127.0.0.1',
      'secure-port': String(secure),
      'cert-dir': at('certs'),
      'client-ca-file': at('ca.crt'),
      'tls-cert-file': at('serving.crt'),
      'tls-private-key-file': at('serving.key'),
      'service-account-issuer': 'https://kubernetes.default.svc.cluster.local',
      'service-account-key-file': at('sa.pub'),
      'service-account-signing-key-file': at('sa.key'),
      'authorization-mode': 'RBAC',
      'service-cluster-ip-range': '10.0.0.0/24',
    });
    const backend: Backend = {
      name: `the binaries of ${assets}`,
      url,
      caPem: authority.caPem,
      certificatePem: admin.certificatePem,
      keyPem: admin.keyPem,
      controllers: existsSync(manager),
    };
    await ready(backend);
    if (backend.controllers)
      start(manager, {
        kubeconfig: at('kubeconfig'),
        'root-ca-file': at('ca.crt'),
        'service-account-private-key-file': at('sa.key'),
        'use-service-account-credentials': 'true',
        'bind-address': '127.0.0.1',
        'secure-port': '0',
        'leader-elect': 'false',
      });
    return { backend, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function ready(backend: Backend): Promise<void> {
  const caller = new Caller(backend);
  const deadline = Date.now() + readyDeadline;
  try {
    for (;;) {
      const answer = await caller.call({ method: 'GET', path: '/readyz' }).catch(() => undefined);
      if (answer?.status === 200) return;
      if (Date.now() > deadline)
        throw new Error(`${backend.name}: kube-apiserver was not ready within ${readyDeadline} ms`);
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
  } finally {
    caller.close();
  }
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  child.kill('SIGTERM');
  const timer = setTimeout(() => child.kill('SIGKILL'), 10_000);
  await exit;
  clearTimeout(timer);
}

async function freePorts(count: number): Promise<number[]> {
  const servers = Array.from({ length: count }, () => createServer());
  const ports: number[] = [];
  for (const server of servers) {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    ports.push((server.address() as AddressInfo).port);
  }
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  return ports;
}

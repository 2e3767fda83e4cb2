/**
 * A real control plane from a directory of binaries (KUBEBUILDER_ASSETS): kube-apiserver, with etcd from the same directory
 * or from Debian, and later kube-controller-manager if it is there. Nothing is built or downloaded but Debian's etcd.
 */
import { generateKeyPairSync } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createAuthority, issueClient, issueServing } from '@slurm-operator/kubernetes-values';
import { unpackTools } from '@slurm-operator/sandbox';
import { kubeconfig } from '../../src/pki/credentials.ts';
import { type Backend, Caller } from './backend.ts';
import { ChildProgram } from './child-program.ts';
import { controlPlaneFlags, files } from './control-plane-flags.ts';

export interface AssetsBackend {
  /** The API server alone: nothing but the requests of a case writes there. */
  readonly backend: Backend;
  /** The same server from now on with controllers; undefined when there is no kube-controller-manager. */
  startControllers(): Backend | undefined;
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
  const children: ChildProgram[] = [];
  const stop = async (): Promise<void> => {
    for (const child of children.toReversed()) await child.stop();
    await rm(directory, { recursive: true, force: true });
  };
  try {
    const [etcdClient = 0, etcdPeer = 0, secure = 0] = await freePorts(3);
    const url = `https://127.0.0.1:${secure}`;
    const { caPem, admin } = await writeFiles(directory, url);
    const flags = controlPlaneFlags({ directory, ports: { etcdClient, etcdPeer, secure } });
    children.push(new ChildProgram(etcd, flags.etcd));
    children.push(new ChildProgram(apiserver, flags['kube-apiserver']));
    const backend: Backend = {
      name: `the binaries of ${assets}`,
      url,
      caPem,
      certificatePem: admin.certificatePem,
      keyPem: admin.keyPem,
      controllers: false,
      kubelets: false,
    };
    await ready(backend, children);
    const startControllers = (): Backend | undefined => {
      if (!existsSync(manager)) return undefined;
      children.push(new ChildProgram(manager, flags['kube-controller-manager']));
      return { ...backend, name: `${backend.name} with controllers`, controllers: true };
    };
    return { backend, startControllers, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Makes keys and certificates, and leaves them where the programs look for them. */
async function writeFiles(directory: string, url: string) {
  const now = Date.now();
  const authority = await createAuthority({ name: 'contract-ca', now });
  const serving = await issueServing(authority, { hosts: ['127.0.0.1', 'localhost'], now });
  const admin = await issueClient(authority, { name: 'kubernetes-admin', groups: ['system:masters'], now });
  const signing = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const caPem = authority.certificatePem;
  const texts: Readonly<Record<keyof typeof files, string>> = {
    ca: caPem,
    servingCertificate: serving.certificatePem,
    servingKey: serving.keyPem,
    accountKey: signing.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    accountPublicKey: signing.publicKey.export({ type: 'spki', format: 'pem' }).toString(),
    kubeconfig: kubeconfig({ url, caPem, user: 'kubernetes-admin', credentials: admin }),
  };
  for (const [what, text] of Object.entries(texts))
    await writeFile(join(directory, files[what as keyof typeof files]), text, { mode: 0o600 });
  return { caPem, admin };
}

async function ready(backend: Backend, children: readonly ChildProgram[]): Promise<void> {
  const caller = new Caller(backend);
  const deadline = Date.now() + readyDeadline;
  try {
    for (;;) {
      const answer = await caller.call({ method: 'GET', path: '/readyz' }).catch(() => undefined);
      if (answer?.status === 200) return;
      const dead = children.map((child) => child.ended).find((why) => why !== undefined);
      if (dead !== undefined) throw new Error(`${backend.name}: ${dead}`);
      if (Date.now() > deadline)
        throw new Error(`${backend.name}: kube-apiserver was not ready within ${readyDeadline} ms`);
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
  } finally {
    caller.close();
  }
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

/** An embedded API server: puts its parts together and serves them on a loopback port. */
import { randomInt, randomUUID } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { createAuthority, issueClient, issueServing, type KeyPair } from '@slurm-operator/kubernetes-values';
import type { ServerEnvironment } from './api/types.ts';
import { AuditLog } from './audit/audit-log.ts';
import { Authenticator } from './authorization/authenticator.ts';
import { Authorizer } from './authorization/authorizer.ts';
import { bootstrap } from './bootstrap.ts';
import { Faults } from './faults/faults.ts';
import { keepNamespacesFilled } from './housekeeping/namespace-content.ts';
import { followQuotas } from './housekeeping/quota-status.ts';
import { AUTHORITY_NAME, keptAuthority, kubeconfig } from './pki/credentials.ts';
import { Listener } from './request/listener.ts';
import { serve } from './request/pipeline.ts';
import { serveUpgrade } from './request/upgrade.ts';
import { Registry } from './resource/registry.ts';
import type { Caches, ServerParts } from './resource/request-context.ts';
import { readSnapshotFile, SnapshotKeeper, writeSnapshotFile } from './store/snapshot-keeper.ts';
import { Store } from './store/store.ts';
import { builtinResources } from './strategy/builtins/builtin-resources.ts';
import { useServiceNetwork } from './strategy/builtins/service/allocate-service.ts';
import { CustomResources } from './strategy/custom-resources/custom-resources.ts';

export interface ApiServerOptions {
  /** 0 (the default) takes a free one. */
  readonly port?: number;
  /** The address to listen on; 127.0.0.1 by default. */
  readonly host?: string;
  /** More names and addresses for the serving certificate. */
  readonly hosts?: readonly string[];
  /** The range Services get their addresses from, at least a /23; 10.96.0.0/16 by default. */
  readonly serviceNetwork?: string;
  /** A directory that keeps the state over a stop; nothing is kept without it. */
  readonly data?: string;
  /** Events kept for watches that resume; 20,000 by default. */
  readonly historyLimit?: number;
  /** Requests kept in the audit log; 100,000 by default. */
  readonly auditLimit?: number;
  /** The certificate authority to go on with; a fresh one by default. */
  readonly authority?: KeyPair;
  readonly environment?: Partial<ServerEnvironment>;
  /** For tests of clients: what follows the store with a delay, as the caches of a real server do. */
  readonly caches?: (store: Store, registry: Registry) => Caches;
}

export interface ApiServer {
  readonly url: string;
  readonly port: number;
  readonly caPem: string;
  readonly caKeyPem: string;
  /** The administrator's certificate (kubernetes-admin of system:masters). */
  readonly admin: KeyPair;
  readonly faults: Faults;
  readonly audit: AuditLog;
  readonly store: Store;
  readonly parts: ServerParts;
  /** For the administrator. */
  kubeconfig(): string;
  /** For any user, with a certificate of its own. */
  kubeconfigFor(user: { readonly name: string; readonly groups?: readonly string[] }): Promise<string>;
  /** A serving certificate of this server's authority, for the agents of nodes and for webhooks. */
  certificateFor(hosts: readonly string[]): Promise<KeyPair>;
  /** Writes the whole state to a file. */
  save(file: string): Promise<void>;
  /** Puts the state of a file back, as restoring a backup of etcd does. */
  load(file: string): Promise<void>;
  /** Ends all connections and gives the port back; with `data` the state is written first. */
  stop(): Promise<void>;
  /** Cuts all connections and serves the same state on the same port again. */
  restart(): Promise<void>;
}

const nameCharacters = 'bcdfghjklmnpqrstvwxz2456789';

const systemEnvironment: ServerEnvironment = {
  now: () => Date.now(),
  uuid: () => randomUUID(),
  random: () => Math.random(),
  nameSuffix: (length) =>
    Array.from({ length }, () => nameCharacters[randomInt(nameCharacters.length)]).join(''),
};

export async function startApiServer(options: ApiServerOptions = {}): Promise<ApiServer> {
  const environment: ServerEnvironment = { ...systemEnvironment, ...options.environment };
  const host = options.host ?? '127.0.0.1';
  const now = environment.now();
  if (options.data !== undefined) await mkdir(options.data, { recursive: true });
  const authority =
    options.authority ??
    (options.data === undefined
      ? await createAuthority({ name: AUTHORITY_NAME, now })
      : await keptAuthority(options.data, now));
  const [serving, admin] = await Promise.all([
    issueServing(authority, {
      hosts: [
        '127.0.0.1',
        '::1',
        'localhost',
        'kubernetes',
        'kubernetes.default',
        'kubernetes.default.svc',
        ...(options.hosts ?? []),
      ],
      now,
    }),
    issueClient(authority, { name: 'kubernetes-admin', groups: ['system:masters'], now }),
  ]);

  const store = new Store(options.historyLimit === undefined ? {} : { historyLimit: options.historyLimit });
  if (options.serviceNetwork !== undefined) useServiceNetwork(store, options.serviceNetwork);
  const registry = new Registry();
  const caches = options.caches?.(store, registry);
  const parts: ServerParts = {
    store,
    registry,
    environment,
    authority,
    authenticator: new Authenticator({ authority, store, environment }),
    authorizer: new Authorizer(caches?.configuration ?? store),
    ...(caches === undefined ? {} : { caches }),
  };
  const customResources = new CustomResources(
    caches === undefined ? parts : { ...parts, store: caches.definitions },
  );
  for (const definition of builtinResources()) registry.register(definition);

  const snapshotFile = options.data === undefined ? undefined : join(options.data, 'state.json');
  const kept = snapshotFile === undefined ? undefined : await readSnapshotFile(snapshotFile);
  if (kept !== undefined) store.restore(kept);
  bootstrap(parts);
  followQuotas(parts);
  keepNamespacesFilled(parts);
  // No client can have seen versions before the first request, so no watch may resume from them.
  store.compact();
  customResources.start();
  const keeper = snapshotFile === undefined ? undefined : new SnapshotKeeper(store, snapshotFile);

  const audit = new AuditLog(options.auditLimit);
  const listener = new Listener({
    host,
    port: options.port ?? 0,
    certificatePem: serving.certificatePem,
    keyPem: serving.keyPem,
    caPem: authority.certificatePem,
    // Whatever a request brings about, it costs at most its own connection.
    handle: (request, response) =>
      void serve({ parts, faults, audit }, request, response).catch(() => response.destroy()),
    upgrade: (request, socket, head) =>
      void serveUpgrade({ parts, audit }, request, socket, head).catch(() => socket.destroy()),
  });
  const faults = new Faults({ store, cut: () => listener.cut() });
  await listener.open();
  const url = `https://${host.includes(':') ? `[${host}]` : host}:${listener.port}`;
  const configFor = (user: string, credentials: KeyPair) =>
    kubeconfig({ url, caPem: authority.certificatePem, user, credentials });

  return {
    url,
    port: listener.port,
    caPem: authority.certificatePem,
    caKeyPem: authority.keyPem,
    admin,
    faults,
    audit,
    store,
    parts,
    kubeconfig: () => configFor('kubernetes-admin', admin),
    async kubeconfigFor({ name, groups = [] }) {
      return configFor(name, await issueClient(authority, { name, groups, now: environment.now() }));
    },
    certificateFor: (hosts) => issueServing(authority, { hosts, now: environment.now() }),
    save: (file) => writeSnapshotFile(file, store.snapshot()),
    async load(file) {
      const snapshot = await readSnapshotFile(file);
      if (snapshot === undefined) throw new Error(`there is no snapshot ${file}: save one first`);
      faults.restore(snapshot);
    },
    async stop() {
      // Not left to the sockets: one whose end goes unnoticed would keep the process alive with its watch.
      faults.cutWatches({}, 'end');
      await listener.close();
      customResources.stop();
      await keeper?.stop();
    },
    async restart() {
      await listener.close();
      await listener.open();
    },
  };
}

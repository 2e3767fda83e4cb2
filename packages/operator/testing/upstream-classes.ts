/** Classes of users who move from upstream: how their objects differ from `testdata/upstream`. */
import type { Change, UpstreamManifest } from './upstream-cluster.ts';

export interface UpstreamClass {
  readonly name: string;
  readonly change: Change;
}

type Json = Record<string, unknown>;

const specOf = (manifest: UpstreamManifest) => (manifest as unknown as { spec?: Json }).spec ?? {};
const withSpec = (manifest: UpstreamManifest, spec: Json): UpstreamManifest =>
  ({ ...manifest, spec }) as unknown as UpstreamManifest;
const belongsTo = ({ metadata }: UpstreamManifest, owner: string) =>
  metadata.ownerReferences?.some(({ uid }) => uid === owner) ?? false;
const without = (object: Json, ...fields: string[]): Json =>
  Object.fromEntries(Object.entries(object).filter(([field]) => !fields.includes(field)));

const isOne = ({ kind, metadata }: UpstreamManifest, wanted: string, name: string) =>
  kind === wanted && metadata.name === name;

/** slurmctld, slurmrestd and workers only. */
const plain: Change = (manifest) => {
  if (['Accounting', 'LoginSet', 'Token'].includes(manifest.kind)) return undefined;
  if (belongsTo(manifest, 'Accounting/slurm') || belongsTo(manifest, 'LoginSet/slurm-login-slinky'))
    return undefined;
  return manifest.kind === 'Controller'
    ? withSpec(manifest, without(specOf(manifest), 'accountingRef'))
    : manifest;
};

/** Upstream's chart gives such a Controller its keys and the address, nothing else. */
const externalSlurmctld: Change = (manifest) => {
  const kept = plain(manifest);
  if (kept === undefined) return undefined;
  if (kept.kind === 'Controller') {
    const { slurmKeyRef, jwtHs256KeyRef } = specOf(kept);
    const externalConfig = { host: 'head.example', port: 6817 };
    return withSpec(kept, { slurmKeyRef, jwtHs256KeyRef, external: true, externalConfig });
  }
  const gone = belongsTo(kept, 'Controller/slurm') && kept.kind !== 'ConfigMap';
  return gone || isOne(kept, 'PersistentVolumeClaim', 'statesave-slurm-controller-0') ? undefined : kept;
};

/** Upstream's chart gives such an Accounting no key references. */
const externalSlurmdbd: Change = (manifest) => {
  if (manifest.kind === 'Accounting')
    return withSpec(manifest, { external: true, externalConfig: { host: 'dbd.example', port: 6819 } });
  return belongsTo(manifest, 'Accounting/slurm') ? undefined : manifest;
};

/** Two slurmctld on a claim that the user made. */
const highAvailability: Change = (manifest) => {
  const spec = specOf(manifest);
  if (manifest.kind === 'Controller')
    return withSpec(manifest, {
      ...spec,
      ha: { enabled: true, backups: 1 },
      persistence: { enabled: true, existingClaim: 'statesave-slurm-controller-0' },
    });
  if (isOne(manifest, 'PersistentVolumeClaim', 'statesave-slurm-controller-0'))
    return withSpec(manifest, { ...spec, accessModes: ['ReadWriteMany'] });
  if (!isOne(manifest, 'StatefulSet', 'slurm-controller')) return manifest;
  const template = spec['template'] as { spec: { volumes: object[] } };
  const claim = { name: 'statesave', persistentVolumeClaim: { claimName: 'statesave-slurm-controller-0' } };
  const pod = { ...template.spec, volumes: [...template.spec.volumes, claim] };
  return withSpec(manifest, {
    ...without(spec, 'volumeClaimTemplates'),
    replicas: 2,
    template: { ...template, spec: pod },
  });
};

/** 1.0 and 1.1: the old name of the JWT key, and a field that 1.2 dropped. */
const firstReleases: Change = (manifest) => {
  const text = JSON.stringify(manifest)
    .replaceAll('slurm-auth-jwt"', 'slurm-auth-jwths256"')
    .replaceAll('jwt.key"', 'jwt_hs256.key"')
    .replaceAll('slurm-1.2.1', 'slurm-1.0.2');
  const old = JSON.parse(text) as UpstreamManifest;
  return old.kind === 'NodeSet' ? withSpec(old, { ...specOf(old), taintKubeNodes: true }) : old;
};

/** A container of the user that mounts a generated volume, a port by its name, and a misspelt field. */
const customTemplates: Change = (manifest) => {
  const spec = specOf(manifest);
  const sidecar = {
    name: 'log-shipper',
    image: 'example.com/shipper:1',
    volumeMounts: [{ name: 'slurm-logfile', mountPath: '/logs' }],
  };
  const addSidecar = (holder: Json): Json => {
    const template = (holder['template'] ?? {}) as Json;
    return {
      ...holder,
      template: { ...template, spec: { ...(template['spec'] as Json), containers: [sidecar] } },
    };
  };
  if (isOne(manifest, 'NodeSet', 'slurm-worker-gpu') || manifest.kind === 'Controller')
    return withSpec(manifest, addSidecar(spec));
  if (isOne(manifest, 'ControllerRevision', 'slurm-worker-gpu-7c9d5f6b84')) {
    const { data } = manifest as unknown as { data: { spec: Json } };
    return { ...manifest, data: { spec: addSidecar(data.spec) } } as unknown as UpstreamManifest;
  }
  if (manifest.kind !== 'LoginSet') return manifest;
  return withSpec(manifest, {
    ...spec,
    login: { ...(spec['login'] as Json), ports: [{ name: 'login', containerPort: 2222 }] },
    template: { spec: { dNSPolicy: 'Default' } },
  });
};

export const upstreamClasses: readonly UpstreamClass[] = [
  { name: 'plain', change: plain },
  { name: 'accounting', change: (manifest) => manifest },
  { name: 'external-slurmctld', change: externalSlurmctld },
  { name: 'external-slurmdbd', change: externalSlurmdbd },
  { name: 'high-availability', change: highAvailability },
  { name: 'first-releases', change: firstReleases },
  { name: 'custom-templates', change: customTemplates },
];

/**
 * Some refusals show a spec in the server's internal form: Go field names, every field, one blank per level.
 * The tables name the fields, in order, of the types that appear there often; other types are shown with the fields
 * they have, which is close enough to read.
 */
import { equal } from '../../api/json.ts';
import { unifiedDiff } from './line-diff.ts';

interface InternalType {
  /** `GoName` or `GoName=jsonName`, with `:Type` for a struct, `:*Type` for one that may be missing, `[]:Type` for a list. */
  readonly fields: readonly string[];
}

function type(fields: string): InternalType {
  return { fields: fields.trim().split(/\s+/) };
}

const TYPES: Readonly<Record<string, InternalType>> = {
  PodSpec: type(`Volumes InitContainers[]:Container Containers[]:Container EphemeralContainers RestartPolicy
    TerminationGracePeriodSeconds ActiveDeadlineSeconds DNSPolicy NodeSelector ServiceAccountName
    AutomountServiceAccountToken NodeName SecurityContext:PodSecurityContext ImagePullSecrets Hostname Subdomain
    SetHostnameAsFQDN Affinity SchedulerName Tolerations[]:Toleration HostAliases PriorityClassName Priority
    PreemptionPolicy DNSConfig ReadinessGates RuntimeClassName Overhead EnableServiceLinks
    TopologySpreadConstraints OS SchedulingGates ResourceClaims Resources HostnameOverride`),
  Container:
    type(`Name Image Command Args WorkingDir Ports EnvFrom Env[]:EnvVar Resources:ResourceRequirements
    ResizePolicy RestartPolicy RestartPolicyRules VolumeMounts VolumeDevices LivenessProbe ReadinessProbe StartupProbe
    Lifecycle TerminationMessagePath TerminationMessagePolicy ImagePullPolicy SecurityContext Stdin StdinOnce TTY`),
  EnvVar: type('Name Value ValueFrom'),
  ResourceRequirements: type('Limits Requests Claims'),
  Toleration: type('Key Operator Value Effect TolerationSeconds'),
  // The internal form keeps the pod's host settings here.
  PodSecurityContext:
    type(`HostNetwork HostPID HostIPC ShareProcessNamespace HostUsers SELinuxOptions=seLinuxOptions
    WindowsOptions RunAsUser RunAsGroup RunAsNonRoot SupplementalGroups SupplementalGroupsPolicy FSGroup=fsGroup Sysctls
    FSGroupChangePolicy=fsGroupChangePolicy SeccompProfile AppArmorProfile SELinuxChangePolicy=seLinuxChangePolicy`),
  PersistentVolumeClaimSpec:
    type(`AccessModes Selector Resources:VolumeResources VolumeName StorageClassName VolumeMode
    DataSource DataSourceRef VolumeAttributesClassName`),
  VolumeResources: type('Limits Requests'),
  PersistentVolumeSource:
    type(`GCEPersistentDisk=gcePersistentDisk AWSElasticBlockStore=awsElasticBlockStore HostPath
    Glusterfs NFS=nfs RBD=rbd Quobyte ISCSI=iscsi FlexVolume Cinder CephFS=cephfs FC=fc Flocker AzureFile VsphereVolume
    AzureDisk PhotonPersistentDisk PortworxVolume ScaleIO=scaleIO Local StorageOS=storageos
    CSI=csi:*CSIPersistentVolumeSource`),
  CSIPersistentVolumeSource:
    type(`Driver VolumeHandle ReadOnly FSType=fsType VolumeAttributes ControllerPublishSecretRef
    NodeStageSecretRef NodePublishSecretRef ControllerExpandSecretRef NodeExpandSecretRef`),
};

const EMPTY_TEXT = new Set(
  `RestartPolicy DNSPolicy ServiceAccountName NodeName Hostname Subdomain SchedulerName PriorityClassName Name Image
   FSType WorkingDir Value Key Operator Effect TerminationMessagePath TerminationMessagePolicy ImagePullPolicy VolumeName`.split(
    /\s+/,
  ),
);
const FALSE = new Set(['ReadOnly', 'HostNetwork', 'HostPID', 'HostIPC', 'Stdin', 'StdinOnce', 'TTY']);

/** The difference of two specs in internal form, as refusals append it; empty when they are equal. */
export function internalDiff(typeName: string, before: unknown, after: unknown): string {
  if (equal(before, after)) return '';
  return unifiedDiff(internalText(typeName, before), internalText(typeName, after));
}

function internalText(typeName: string, value: unknown): string {
  return JSON.stringify(internal(typeName, value), undefined, 1);
}

function internal(typeName: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value ?? null;
  const known = TYPES[typeName];
  if (!known || Array.isArray(value)) return generic(value);
  const source = value as Record<string, unknown>;
  const out: Record<string, unknown> = {};
  for (const field of known.fields) {
    const [label = '', type_] = field.split(':');
    const nested = type_?.replace('*', '');
    const [name = '', json = jsonName(name)] = label.replace('[]', '').split('=');
    const item = name === 'SecurityContext' && typeName === 'PodSpec' ? hostSettings(source) : source[json];
    const missing = item === undefined && type_?.startsWith('*') === true;
    out[name] = missing ? null : internalField(name, item, nested, label.includes('[]'), typeName);
  }
  return out;
}

function internalField(
  name: string,
  item: unknown,
  nested: string | undefined,
  list: boolean,
  parent: string,
): unknown {
  if (item === undefined) {
    if (nested && !list) return internal(nested, {});
    if (EMPTY_TEXT.has(name) && !(name === 'RestartPolicy' && parent === 'Container')) return '';
    return FALSE.has(name) ? false : null;
  }
  if (nested && list && Array.isArray(item)) return item.map((entry) => internal(nested, entry));
  if (nested && !list) return internal(nested, item);
  return generic(item);
}

function hostSettings(spec: Record<string, unknown>): Record<string, unknown> {
  const { hostNetwork, hostPID, hostIPC, shareProcessNamespace, hostUsers } = spec;
  const own = (spec['securityContext'] ?? {}) as Record<string, unknown>;
  return { hostNetwork, hostPID, hostIPC, shareProcessNamespace, hostUsers, ...own };
}

function jsonName(goName: string): string {
  if (goName === 'TTY' || goName === 'OS') return goName.toLowerCase();
  if (goName.startsWith('DNS')) return `dns${goName.slice(3)}`;
  if (goName.startsWith('Host')) return `host${goName.slice(4)}`;
  return `${goName.charAt(0).toLowerCase()}${goName.slice(1)}`;
}

/** A value of a type that has no table: keys of maps stay, keys of structs get their capital. */
function generic(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(generic);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value as Record<string, unknown>);
  const isMap = entries.every(([, item]) => typeof item === 'string' || typeof item === 'number');
  return Object.fromEntries(
    entries.map(([key, item]) => [
      isMap ? key : `${key.charAt(0).toUpperCase()}${key.slice(1)}`,
      generic(item),
    ]),
  );
}

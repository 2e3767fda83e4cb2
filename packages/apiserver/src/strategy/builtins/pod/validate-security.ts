/** What is wrong with security contexts: of a pod and of a container. */
import type { IContainer } from 'kubernetes-models/v1/Container';
import type { IPodSpec } from 'kubernetes-models/v1/PodSpec';
import type { FieldFault } from '../../../api/errors.ts';
import { duplicate, forbiddenField, invalidValue, notSupported, required } from '../../../api/fault.ts';

const ID_RANGE = 'must be between 0 and 2147483647, inclusive';
const SYSCTL = '([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?';
const profileTypes = ['Localhost', 'RuntimeDefault', 'Unconfined'];

export function podSecurityFaults(spec: IPodSpec, path: string): FieldFault[] {
  const { securityContext: context, hostPID, shareProcessNamespace } = spec;
  const at = `${path}.securityContext`;
  const faults: FieldFault[] = [];
  if (context) {
    faults.push(...idFaults(context.fsGroup, `${at}.fsGroup`));
    faults.push(...idFaults(context.runAsUser, `${at}.runAsUser`));
    faults.push(...idFaults(context.runAsGroup, `${at}.runAsGroup`));
    for (const [index, group] of (context.supplementalGroups ?? []).entries())
      faults.push(...idFaults(group, `${at}.supplementalGroups[${index}]`));
  }
  if (shareProcessNamespace === true && hostPID === true)
    faults.push(
      invalidValue(
        `${at}.shareProcessNamespace`,
        true,
        'ShareProcessNamespace and HostPID cannot both be enabled',
      ),
    );
  if (!context) return faults;
  faults.push(...sysctlFaults(context.sysctls ?? [], spec, `${at}.sysctls`));
  faults.push(
    ...oneOf(context.fsGroupChangePolicy, `${at}.fsGroupChangePolicy`, ['Always', 'OnRootMismatch']),
  );
  faults.push(...profileFaults(context.seccompProfile, `${at}.seccompProfile`, 'seccomp'));
  faults.push(...profileFaults(context.appArmorProfile, `${at}.appArmorProfile`, 'AppArmor'));
  faults.push(
    ...oneOf(context.supplementalGroupsPolicy, `${at}.supplementalGroupsPolicy`, ['Merge', 'Strict']),
  );
  return faults;
}

/** Namespaces of the host are not for pods with users of their own. */
export function hostUsersFaults(spec: IPodSpec, path: string): FieldFault[] {
  if (spec.hostUsers !== false) return [];
  return (['hostNetwork', 'hostPID', 'hostIPC'] as const)
    .filter((field) => spec[field] === true)
    .map((field) => forbiddenField(`${path}.${field}`, 'when `hostUsers` is false'));
}

export function containerSecurityFaults({ securityContext }: IContainer, path: string): FieldFault[] {
  if (!securityContext) return [];
  const { runAsUser, runAsGroup, procMount, allowPrivilegeEscalation, privileged, capabilities } =
    securityContext;
  const faults = [
    ...idFaults(runAsUser, `${path}.runAsUser`),
    ...idFaults(runAsGroup, `${path}.runAsGroup`),
    ...oneOf(procMount, `${path}.procMount`, ['Default', 'Unmasked']),
  ];
  if (allowPrivilegeEscalation === false) {
    const refuse = (what: string) =>
      faults.push(
        invalidValue(
          path,
          internalContext(securityContext),
          `cannot set \`allowPrivilegeEscalation\` to false and ${what}`,
        ),
      );
    if (privileged === true) refuse('`privileged` to true');
    if (capabilities?.add?.includes('CAP_SYS_ADMIN')) refuse('`capabilities.Add` CAP_SYS_ADMIN');
  }
  faults.push(...profileFaults(securityContext.seccompProfile, `${path}.seccompProfile`, 'seccomp'));
  faults.push(...profileFaults(securityContext.appArmorProfile, `${path}.appArmorProfile`, 'AppArmor'));
  return faults;
}

interface Profile {
  readonly type?: string;
  readonly localhostProfile?: string;
}

function profileFaults(
  profile: Profile | undefined,
  path: string,
  what: 'seccomp' | 'AppArmor',
): FieldFault[] {
  if (!profile) return [];
  const { type = '', localhostProfile } = profile;
  const field = what === 'seccomp' ? 'seccompProfile' : 'appArmorProfile';
  if (type === '') return [required(`${path}.type`, `type is required when ${field} is set`)];
  const faults = oneOf(type, `${path}.type`, profileTypes);
  if (type === 'Localhost') {
    if (!localhostProfile)
      faults.push(required(`${path}.localhostProfile`, `must be set when ${what} type is Localhost`));
  } else if (localhostProfile !== undefined)
    faults.push(
      invalidValue(
        `${path}.localhostProfile`,
        localhostProfile,
        `can only be set when ${what} type is Localhost`,
      ),
    );
  return faults;
}

/** Settings of the node's own namespaces are not for pods that share them. */
function hostSysctlFaults(name: string, spec: IPodSpec, path: string): FieldFault[] {
  if (spec.hostNetwork === true && name.startsWith('net.'))
    return [invalidValue(path, name, "may not be specified when 'hostNetwork' is true")];
  if (spec.hostIPC === true && /^(?:kernel\.(?:shm|msg|sem)|fs\.mqueue\.)/.test(name))
    return [invalidValue(path, name, "may not be specified when 'hostIPC' is true")];
  return [];
}

function sysctlFaults(
  sysctls: readonly { readonly name?: string }[],
  spec: IPodSpec,
  path: string,
): FieldFault[] {
  const seen = new Set<string>();
  return sysctls.flatMap(({ name = '' }, index) => {
    const at = `${path}[${index}].name`;
    if (name === '') return [required(at)];
    if (name.length > 253 || !new RegExp(`^${SYSCTL}$`).test(name))
      return [invalidValue(at, name, `must have at most 253 characters and match regex ^${SYSCTL}$`)];
    const normal = name.replaceAll('/', '.');
    if (seen.has(normal)) return [duplicate(at, name)];
    seen.add(normal);
    return hostSysctlFaults(normal, spec, at);
  });
}

/** Refusals show the whole context with the server's own field names. */
function internalContext(context: NonNullable<IContainer['securityContext']>): Record<string, unknown> {
  const { capabilities } = context;
  return {
    Capabilities: capabilities ? { Add: capabilities.add ?? null, Drop: capabilities.drop ?? null } : null,
    Privileged: context.privileged ?? null,
    SELinuxOptions: context.seLinuxOptions ?? null,
    WindowsOptions: context.windowsOptions ?? null,
    RunAsUser: context.runAsUser ?? null,
    RunAsGroup: context.runAsGroup ?? null,
    RunAsNonRoot: context.runAsNonRoot ?? null,
    ReadOnlyRootFilesystem: context.readOnlyRootFilesystem ?? null,
    AllowPrivilegeEscalation: context.allowPrivilegeEscalation ?? null,
    ProcMount: context.procMount ?? null,
    SeccompProfile: context.seccompProfile ?? null,
    AppArmorProfile: context.appArmorProfile ?? null,
  };
}

export function idFaults(id: number | undefined, path: string): FieldFault[] {
  return id !== undefined && (id < 0 || id > 2_147_483_647) ? [invalidValue(path, id, ID_RANGE)] : [];
}

export function oneOf(value: string | undefined, path: string, supported: readonly string[]): FieldFault[] {
  return value === undefined || supported.includes(value) ? [] : [notSupported(path, value, supported)];
}

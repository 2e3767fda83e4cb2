/** What is wrong with the containers of a pod. */

import { dnsLabel, portName } from '@slurm-operator/kubernetes-values';
import type { IContainer } from 'kubernetes-models/v1/Container';
import type { FieldFault } from '../../../api/errors.ts';
import { duplicate, forbiddenField, invalidValue, notFoundValue, required } from '../../../api/fault.ts';
import { validateEnvironment } from './validate-environment.ts';
import { PORT_RANGE, probeNames, validateProbes } from './validate-probe.ts';
import { takenClaimFaults } from './validate-resource-claims.ts';
import { validateResources } from './validate-resources.ts';
import { containerSecurityFaults, oneOf } from './validate-security.ts';
import { relativeFaults } from './volume-files.ts';

const ONLY_SIDECARS = 'may not be set for init containers without restartPolicy=Always';

/** What the containers of one pod share. */
export interface PodNames {
  readonly volumes: ReadonlySet<string>;
  /** Those of the volumes that come from a claim. */
  readonly claims: ReadonlySet<string>;
  /** Names of the pod's claims of devices. */
  readonly resourceClaims: readonly string[];
  /** Of the pod, for handlers that sleep. */
  readonly gracePeriod: number | undefined;
  readonly restartPolicy: string | undefined;
  /** Names of containers seen so far. */
  readonly containers: Set<string>;
}

export function validateContainers(
  containers: readonly IContainer[],
  path: string,
  names: PodNames,
): FieldFault[] {
  const isInit = path.endsWith('.initContainers');
  const faults = containers.flatMap((container, index) => {
    const at = `${path}[${index}]`;
    const isTwice = names.containers.has(container.name);
    if (container.name) names.containers.add(container.name);
    return [
      ...commonFaults(container, at, names),
      ...oneOf(container.restartPolicy, `${at}.restartPolicy`, ['Always', 'Never', 'OnFailure']),
      ...(isTwice ? [duplicate(`${at}.name`, container.name)] : []),
      // Init containers run one after the other.
      ...(isInit ? hostPortConflicts(container, at, new Set()) : []),
      ...roleFaults(container, at, isInit, names.gracePeriod),
    ];
  });
  if (isInit) return faults;
  const taken = new Set<string>();
  return [
    ...faults,
    ...containers.flatMap((container, index) => hostPortConflicts(container, `${path}[${index}]`, taken)),
  ];
}

function commonFaults(container: IContainer, at: string, names: PodNames): FieldFault[] {
  return [
    ...(container.name
      ? dnsLabel(container.name).map((text) => invalidValue(`${at}.name`, container.name, text))
      : [required(`${at}.name`)]),
    ...(container.image ? [] : [required(`${at}.image`)]),
    ...oneOf(container.terminationMessagePolicy, `${at}.terminationMessagePolicy`, [
      'File',
      'FallbackToLogsOnError',
    ]),
    ...validatePorts(container, at),
    ...validateEnvironment(container, at),
    ...validateMounts(container, at, names.volumes),
    ...validateDevices(container, at, names),
    ...oneOf(container.imagePullPolicy, `${at}.imagePullPolicy`, ['Always', 'IfNotPresent', 'Never']),
    ...validateResources(container.resources, `${at}.resources`),
    ...takenClaimFaults(container.resources?.claims ?? [], names.resourceClaims, `${at}.resources.claims`),
    ...resizeFaults(container.resizePolicy ?? [], `${at}.resizePolicy`, names.restartPolicy),
    ...containerSecurityFaults(container, `${at}.securityContext`),
  ];
}

/** Rules for a pod that templates are exempt from, because some mean something else by such an image. */
export function podOnlyContainerFaults(containers: readonly IContainer[], path: string): FieldFault[] {
  return containers.flatMap(({ image = '' }, index) =>
    image.trim() === image
      ? []
      : [invalidValue(`${path}[${index}].image`, image, 'must not have leading or trailing whitespace')],
  );
}

/** An init container that ends has nothing to probe. */
function roleFaults(
  container: IContainer,
  path: string,
  isInit: boolean,
  gracePeriod: number | undefined,
): FieldFault[] {
  if (!isInit || container.restartPolicy === 'Always') return validateProbes(container, path, gracePeriod);
  return (['lifecycle', ...probeNames] as const)
    .filter((key) => container[key] !== undefined)
    .map((key) => forbiddenField(`${path}.${key}`, ONLY_SIDECARS));
}

function validatePorts(container: IContainer, path: string): FieldFault[] {
  const faults: FieldFault[] = [];
  const names = new Set<string>();
  for (const [index, port] of (container.ports ?? []).entries()) {
    const at = `${path}.ports[${index}]`;
    if (port.name) {
      const wrong = portName(port.name);
      faults.push(...wrong.map((text) => invalidValue(`${at}.name`, port.name, text)));
      if (wrong.length === 0 && names.has(port.name)) faults.push(duplicate(`${at}.name`, port.name));
      names.add(port.name);
    }
    if (!port.containerPort) faults.push(required(`${at}.containerPort`));
    else if (port.containerPort < 1 || port.containerPort > 65535)
      faults.push(invalidValue(`${at}.containerPort`, port.containerPort, PORT_RANGE));
    if (port.hostPort !== undefined && port.hostPort !== 0 && (port.hostPort < 1 || port.hostPort > 65535))
      faults.push(invalidValue(`${at}.hostPort`, port.hostPort, PORT_RANGE));
    faults.push(...oneOf(port.protocol, `${at}.protocol`, ['SCTP', 'TCP', 'UDP']));
  }
  return faults;
}

function hostPortConflicts(container: IContainer, path: string, taken: Set<string>): FieldFault[] {
  return (container.ports ?? []).flatMap((port, index) => {
    if (!port.hostPort) return [];
    const text = `${port.protocol}/${port.hostIP ?? ''}/${port.hostPort}`;
    if (taken.has(text)) return [duplicate(`${path}.ports[${index}].hostPort`, text)];
    taken.add(text);
    return [];
  });
}

function validateMounts(container: IContainer, path: string, volumes: ReadonlySet<string>): FieldFault[] {
  const faults: FieldFault[] = [];
  const paths = new Set<string>();
  for (const [index, mount] of (container.volumeMounts ?? []).entries()) {
    const at = `${path}.volumeMounts[${index}]`;
    if (!mount.name) faults.push(required(`${at}.name`));
    if (!volumes.has(mount.name)) faults.push(notFoundValue(`${at}.name`, mount.name));
    if (!mount.mountPath) faults.push(required(`${at}.mountPath`));
    if (paths.has(mount.mountPath))
      faults.push(invalidValue(`${at}.mountPath`, mount.mountPath, 'must be unique'));
    paths.add(mount.mountPath);
    // These are named without the index by the real server.
    if (mount.subPath) faults.push(...relativeFaults(mount.subPath, `${path}.volumeMounts.subPath`));
    if (mount.subPathExpr) {
      if (mount.subPath)
        faults.push(
          invalidValue(
            `${at}.subPathExpr`,
            mount.subPathExpr,
            'subPathExpr and subPath are mutually exclusive',
          ),
        );
      faults.push(...relativeFaults(mount.subPathExpr, `${path}.volumeMounts.subPathExpr`));
    }
    faults.push(
      ...oneOf(mount.mountPropagation, `${path}.volumeMounts.mountPropagation`, [
        'Bidirectional',
        'HostToContainer',
        'None',
      ]),
    );
    if (mount.mountPropagation === 'Bidirectional' && container.securityContext?.privileged !== true)
      faults.push(
        forbiddenField(
          `${path}.volumeMounts.mountPropagation`,
          'Bidirectional mount propagation is available only to privileged containers',
        ),
      );
    faults.push(...recursiveFaults(mount, `${path}.volumeMounts.recursiveReadOnly`));
  }
  return faults;
}

type Mount = NonNullable<IContainer['volumeMounts']>[number];

function recursiveFaults(
  { recursiveReadOnly, readOnly, mountPropagation }: Mount,
  path: string,
): FieldFault[] {
  if (recursiveReadOnly === undefined || recursiveReadOnly === 'Disabled') return [];
  if (!['Enabled', 'IfPossible'].includes(recursiveReadOnly))
    return oneOf(recursiveReadOnly, path, ['Disabled', 'Enabled', 'IfPossible']);
  const faults: FieldFault[] = [];
  if (readOnly !== true) faults.push(forbiddenField(path, 'may only be specified when readOnly is true'));
  if (mountPropagation !== undefined && mountPropagation !== 'None')
    faults.push(forbiddenField(path, 'may only be specified when mountPropagation is None or not specified'));
  return faults;
}

function validateDevices(container: IContainer, path: string, { volumes, claims }: PodNames): FieldFault[] {
  return (container.volumeDevices ?? []).flatMap(({ name, devicePath }, index) => {
    const at = `${path}.volumeDevices[${index}]`;
    const faults: FieldFault[] = [];
    if (!name) faults.push(required(`${at}.name`));
    if (volumes.has(name) && !claims.has(name))
      faults.push(
        invalidValue(
          `${at}.name`,
          name,
          'can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode',
        ),
      );
    if (!volumes.has(name)) faults.push(notFoundValue(`${at}.name`, name));
    if (!devicePath) faults.push(required(`${at}.devicePath`));
    return faults;
  });
}

/** The real server names the list for all faults but one. */
function resizeFaults(
  policies: NonNullable<IContainer['resizePolicy']>,
  path: string,
  podRestartPolicy: string | undefined,
): FieldFault[] {
  const seen = new Set<string>();
  return policies.flatMap(({ resourceName, restartPolicy }, index) => {
    const faults: FieldFault[] = [];
    if (seen.has(resourceName)) faults.push(duplicate(`${path}[${index}]`, resourceName));
    seen.add(resourceName);
    if (!resourceName) faults.push(required(path));
    else faults.push(...oneOf(resourceName, path, ['cpu', 'memory']));
    if (!restartPolicy) faults.push(required(path));
    else faults.push(...oneOf(restartPolicy, path, ['NotRequired', 'RestartContainer']));
    if (podRestartPolicy === 'Never' && restartPolicy !== 'NotRequired')
      faults.push(invalidValue(path, restartPolicy, "must be 'NotRequired' when `restartPolicy` is 'Never'"));
    return faults;
  });
}

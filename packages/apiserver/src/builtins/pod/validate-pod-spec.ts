/** What is wrong with a pod spec, in the order and the words of the API. */
import type { IContainer } from 'kubernetes-models/v1/Container';
import type { IPodSpec } from 'kubernetes-models/v1/PodSpec';
import type { IProbe } from 'kubernetes-models/v1/Probe';
import type { IVolume } from 'kubernetes-models/v1/Volume';
import type { FieldFault } from '../../errors.ts';
import { duplicate, forbiddenField, invalidValue, notFoundValue, notSupported, required } from '../fault.ts';
import {
  dnsLabel,
  dnsSubdomain,
  environmentName,
  labelValue,
  portName,
  qualifiedName,
} from '../name-rules.ts';
import { compareQuantities, parseQuantity } from '../quantity.ts';

const PORT_RANGE = 'must be between 1 and 65535, inclusive';
const NOT_NEGATIVE = 'must be greater than or equal to 0';

export function validatePodSpec(spec: IPodSpec, path: string): FieldFault[] {
  const faults: FieldFault[] = [];
  const volumes = new Set<string>();
  for (const [index, volume] of (spec.volumes ?? []).entries())
    faults.push(...validateVolume(volume, `${path}.volumes[${index}]`, volumes));
  const names = new Set<string>();
  const main = spec.containers ?? [];
  if (main.length === 0) faults.push(required(`${path}.containers`));
  faults.push(...validateContainers(main, `${path}.containers`, volumes, names));
  faults.push(...validateContainers(spec.initContainers ?? [], `${path}.initContainers`, volumes, names));
  faults.push(...oneOf(spec.restartPolicy, `${path}.restartPolicy`, ['Always', 'OnFailure', 'Never']));
  faults.push(
    ...oneOf(spec.dnsPolicy, `${path}.dnsPolicy`, [
      'ClusterFirst',
      'ClusterFirstWithHostNet',
      'Default',
      'None',
    ]),
  );
  if (spec.activeDeadlineSeconds !== undefined && spec.activeDeadlineSeconds < 1)
    faults.push(
      invalidValue(
        `${path}.activeDeadlineSeconds`,
        spec.activeDeadlineSeconds,
        'must be between 1 and 2147483647, inclusive',
      ),
    );
  if ((spec.terminationGracePeriodSeconds ?? 0) < 0)
    faults.push(
      invalidValue(`${path}.terminationGracePeriodSeconds`, spec.terminationGracePeriodSeconds, NOT_NEGATIVE),
    );
  for (const [key, value] of Object.entries(spec.nodeSelector ?? {})) {
    for (const text of qualifiedName(key)) faults.push(invalidValue(`${path}.nodeSelector`, key, text));
    for (const text of labelValue(value)) faults.push(invalidValue(`${path}.nodeSelector`, value, text));
  }
  faults.push(...named(spec.serviceAccountName, `${path}.serviceAccountName`, dnsSubdomain));
  faults.push(...named(spec.nodeName, `${path}.nodeName`, dnsSubdomain));
  faults.push(...named(spec.hostname, `${path}.hostname`, dnsLabel));
  faults.push(...named(spec.subdomain, `${path}.subdomain`, dnsLabel));
  for (const [index, toleration] of (spec.tolerations ?? []).entries()) {
    const at = `${path}.tolerations[${index}]`;
    if (toleration.key)
      for (const text of qualifiedName(toleration.key))
        faults.push(invalidValue(`${at}.key`, toleration.key, text));
    if (!toleration.key && toleration.operator !== 'Exists')
      faults.push(
        invalidValue(
          `${at}.operator`,
          toleration.operator ?? '',
          'operator must be Exists when `key` is empty, which means "match all values and all keys"',
        ),
      );
    if (toleration.operator === 'Exists' && toleration.value)
      faults.push(
        invalidValue(`${at}.operator`, toleration.value, "value must be empty when `operator` is 'Exists'"),
      );
    if (toleration.operator && !['Equal', 'Exists', 'Lt', 'Gt'].includes(toleration.operator))
      faults.push(notSupported(`${at}.operator`, toleration.operator, ['Equal', 'Exists']));
    if (toleration.effect)
      faults.push(
        ...oneOf(toleration.effect, `${at}.effect`, ['NoSchedule', 'PreferNoSchedule', 'NoExecute']),
      );
    if (toleration.tolerationSeconds !== undefined && toleration.effect !== 'NoExecute')
      faults.push(
        invalidValue(
          `${at}.effect`,
          toleration.effect ?? '',
          "effect must be 'NoExecute' when `tolerationSeconds` is set",
        ),
      );
  }
  for (const [index, constraint] of (spec.topologySpreadConstraints ?? []).entries()) {
    const at = `${path}.topologySpreadConstraints[${index}]`;
    if (constraint.maxSkew <= 0)
      faults.push(invalidValue(`${at}.maxSkew`, constraint.maxSkew, 'must be greater than zero'));
    if (!constraint.topologyKey) faults.push(required(`${at}.topologyKey`, 'can not be empty'));
    faults.push(
      ...oneOf(constraint.whenUnsatisfiable, `${at}.whenUnsatisfiable`, ['DoNotSchedule', 'ScheduleAnyway']),
    );
  }
  return faults;
}

function validateContainers(
  containers: readonly IContainer[],
  path: string,
  volumes: ReadonlySet<string>,
  names: Set<string>,
): FieldFault[] {
  return containers.flatMap((container, index) => {
    const at = `${path}[${index}]`;
    const faults: FieldFault[] = [];
    if (!container.name) faults.push(required(`${at}.name`));
    else
      faults.push(
        ...dnsLabel(container.name).map((text) => invalidValue(`${at}.name`, container.name, text)),
      );
    if (names.has(container.name)) faults.push(duplicate(`${at}.name`, container.name));
    names.add(container.name);
    if (!container.image) faults.push(required(`${at}.image`));
    else if (container.image.trim() !== container.image)
      faults.push(
        invalidValue(`${at}.image`, container.image, 'must not have leading or trailing whitespace'),
      );
    for (const [key, probe] of probesOf(container)) faults.push(...validateProbe(probe, `${at}.${key}`));
    faults.push(...validatePorts(container, at));
    faults.push(...validateEnvironment(container, at));
    faults.push(...validateMounts(container, at, volumes));
    faults.push(
      ...oneOf(container.imagePullPolicy, `${at}.imagePullPolicy`, ['Always', 'IfNotPresent', 'Never']),
    );
    faults.push(
      ...oneOf(container.terminationMessagePolicy, `${at}.terminationMessagePolicy`, [
        'File',
        'FallbackToLogsOnError',
      ]),
    );
    faults.push(...validateResources(container.resources, `${at}.resources`));
    return faults;
  });
}

function probesOf(container: IContainer): [string, IProbe][] {
  const probes: [string, IProbe | undefined][] = [
    ['livenessProbe', container.livenessProbe],
    ['readinessProbe', container.readinessProbe],
    ['startupProbe', container.startupProbe],
  ];
  return probes.filter((entry): entry is [string, IProbe] => entry[1] !== undefined);
}

function validateProbe(probe: IProbe, path: string): FieldFault[] {
  const faults: FieldFault[] = [];
  const handlers = [probe.exec, probe.httpGet, probe.tcpSocket, probe.grpc].filter(
    (handler) => handler !== undefined,
  );
  if (handlers.length === 0) faults.push(required(path, 'must specify a handler type'));
  if (handlers.length > 1) faults.push(forbiddenField(path, 'may not specify more than 1 handler type'));
  const port = probe.httpGet?.port ?? probe.tcpSocket?.port ?? probe.grpc?.port;
  if (typeof port === 'number' && (port < 1 || port > 65535)) {
    const handler = probe.httpGet ? 'httpGet' : probe.tcpSocket ? 'tcpSocket' : 'grpc';
    faults.push(invalidValue(`${path}.${handler}.port`, port, PORT_RANGE));
  }
  for (const key of [
    'initialDelaySeconds',
    'timeoutSeconds',
    'periodSeconds',
    'successThreshold',
    'failureThreshold',
  ] as const) {
    const value = probe[key];
    if (value !== undefined && value < 0) faults.push(invalidValue(`${path}.${key}`, value, NOT_NEGATIVE));
  }
  return faults;
}

function validatePorts(container: IContainer, path: string): FieldFault[] {
  const faults: FieldFault[] = [];
  const names = new Set<string>();
  for (const [index, port] of (container.ports ?? []).entries()) {
    const at = `${path}.ports[${index}]`;
    if (port.name) {
      for (const text of portName(port.name)) faults.push(invalidValue(`${at}.name`, port.name, text));
      if (names.has(port.name)) faults.push(duplicate(`${at}.name`, port.name));
      names.add(port.name);
    }
    if (!port.containerPort) faults.push(required(`${at}.containerPort`));
    else if (port.containerPort < 1 || port.containerPort > 65535)
      faults.push(invalidValue(`${at}.containerPort`, port.containerPort, PORT_RANGE));
    if (port.hostPort !== undefined && (port.hostPort < 1 || port.hostPort > 65535))
      faults.push(invalidValue(`${at}.hostPort`, port.hostPort, PORT_RANGE));
    faults.push(...oneOf(port.protocol, `${at}.protocol`, ['SCTP', 'TCP', 'UDP']));
  }
  return faults;
}

function validateEnvironment(container: IContainer, path: string): FieldFault[] {
  return (container.env ?? []).flatMap((variable, index) => {
    const at = `${path}.env[${index}]`;
    if (!variable.name) return [required(`${at}.name`)];
    const faults = environmentName(variable.name).map((text) =>
      invalidValue(`${at}.name`, variable.name, text),
    );
    if (variable.valueFrom && variable.value)
      faults.push(invalidValue(`${at}.valueFrom`, '', 'may not be specified when `value` is not empty'));
    return faults;
  });
}

function validateMounts(container: IContainer, path: string, volumes: ReadonlySet<string>): FieldFault[] {
  const faults: FieldFault[] = [];
  const paths = new Set<string>();
  for (const [index, mount] of (container.volumeMounts ?? []).entries()) {
    const at = `${path}.volumeMounts[${index}]`;
    if (!mount.name) faults.push(required(`${at}.name`));
    else if (!volumes.has(mount.name)) faults.push(notFoundValue(`${at}.name`, mount.name));
    if (!mount.mountPath) faults.push(required(`${at}.mountPath`));
    if (paths.has(mount.mountPath))
      faults.push(invalidValue(`${at}.mountPath`, mount.mountPath, 'must be unique'));
    paths.add(mount.mountPath);
  }
  return faults;
}

function validateVolume(volume: IVolume, path: string, names: Set<string>): FieldFault[] {
  const faults: FieldFault[] = [];
  if (!volume.name) faults.push(required(`${path}.name`));
  else faults.push(...dnsLabel(volume.name).map((text) => invalidValue(`${path}.name`, volume.name, text)));
  if (names.has(volume.name)) faults.push(duplicate(`${path}.name`, volume.name));
  names.add(volume.name);
  const sources = Object.keys(volume).filter((key) => key !== 'name');
  for (const extra of sources.slice(1))
    faults.push(forbiddenField(`${path}.${extra}`, 'may not specify more than 1 volume type'));
  if (volume.hostPath && !volume.hostPath.path) faults.push(required(`${path}.hostPath.path`));
  if (volume.secret && !volume.secret.secretName) faults.push(required(`${path}.secret.secretName`));
  if (volume.configMap && !volume.configMap.name) faults.push(required(`${path}.configMap.name`));
  if (volume.persistentVolumeClaim && !volume.persistentVolumeClaim.claimName)
    faults.push(required(`${path}.persistentVolumeClaim.claimName`));
  return faults;
}

export function validateResources(
  resources:
    | { limits?: Record<string, string | number>; requests?: Record<string, string | number> }
    | undefined,
  path: string,
): FieldFault[] {
  const faults: FieldFault[] = [];
  for (const part of ['limits', 'requests'] as const)
    for (const [name, text] of Object.entries(resources?.[part] ?? {}).toSorted(byKey))
      if ((parseQuantity(text)?.nanos ?? 0n) < 0n)
        faults.push(invalidValue(`${path}.${part}[${name}]`, String(text), NOT_NEGATIVE));
  for (const [name, text] of Object.entries(resources?.requests ?? {}).toSorted(byKey)) {
    const limitText = resources?.limits?.[name];
    const limit = limitText === undefined ? undefined : parseQuantity(limitText);
    const request = parseQuantity(text);
    if (limit && request && compareQuantities(request, limit) > 0)
      faults.push(
        invalidValue(
          `${path}.requests`,
          String(text),
          `must be less than or equal to ${name} limit of ${limitText}`,
        ),
      );
  }
  return faults;
}

function byKey(a: readonly [string, unknown], b: readonly [string, unknown]): number {
  return a[0] < b[0] ? -1 : a[0] > b[0] ? 1 : 0;
}

function named(value: string | undefined, path: string, rule: (text: string) => string[]): FieldFault[] {
  return value ? rule(value).map((text) => invalidValue(path, value, text)) : [];
}

function oneOf(value: string | undefined, path: string, supported: readonly string[]): FieldFault[] {
  return value === undefined || supported.includes(value) ? [] : [notSupported(path, value, supported)];
}

/**
 * The environment of a container: what the image says, then Services, then envFrom, then env, later ones winning.
 * A reference to something that is missing is an error with the words a user of Kubernetes knows.
 */
import { bytes, milliCpu } from '@slurm-operator/kubernetes-values';
import type { Container, DataObject, Pod } from '../../objects/objects.ts';
import { AgentError } from '../errors.ts';
import { fieldValue } from './field-value.ts';

export interface EnvironmentInput {
  readonly pod: Pod;
  readonly container: Container;
  readonly imageEnv: Readonly<Record<string, string>>;
  readonly configMap: (name: string) => DataObject | undefined;
  readonly secret: (name: string) => DataObject | undefined;
  /** Variables that name the Services of the namespace. */
  readonly services: ReadonlyMap<string, string>;
  /** What `limits` means where the container sets none: the node's own. */
  readonly nodeAllocatable: Readonly<Record<string, string>>;
}

export function buildEnvironment(input: EnvironmentInput): Map<string, string> {
  const result = new Map<string, string>();
  for (const [key, value] of Object.entries(input.imageEnv)) result.set(key, value);
  result.set('HOSTNAME', input.pod.spec.hostname ?? input.pod.metadata.name);
  for (const [key, value] of input.services) result.set(key, value);
  // References see Services and what came before them, but not the image's own variables.
  const known = new Map(input.services);
  const put = (key: string, value: string) => {
    result.set(key, value);
    known.set(key, value);
  };
  for (const source of input.container.envFrom ?? []) {
    const prefix = source.prefix ?? '';
    if (source.configMapRef !== undefined) {
      const name = source.configMapRef.name ?? '';
      const found = input.configMap(name);
      if (found === undefined && source.configMapRef.optional !== true) throw missing('configmap', name);
      for (const [key, value] of Object.entries(found?.data ?? {})) put(prefix + key, value);
    }
    if (source.secretRef !== undefined) {
      const name = source.secretRef.name ?? '';
      const found = input.secret(name);
      if (found === undefined && source.secretRef.optional !== true) throw missing('secret', name);
      for (const [key, value] of Object.entries(found?.data ?? {})) put(prefix + key, fromBase64(value));
    }
  }
  for (const variable of input.container.env ?? []) {
    if (variable.valueFrom === undefined) put(variable.name, expand(variable.value ?? '', known));
    else {
      const value = valueFrom(input, variable.valueFrom);
      if (value !== undefined) put(variable.name, value);
    }
  }
  return result;
}

type ValueFrom = NonNullable<NonNullable<Container['env']>[number]['valueFrom']>;

function valueFrom(input: EnvironmentInput, from: ValueFrom): string | undefined {
  if (from.fieldRef !== undefined) return fieldValue(input.pod, from.fieldRef.fieldPath);
  if (from.resourceFieldRef !== undefined)
    return resourceValue(input.container, from.resourceFieldRef, input.nodeAllocatable);
  if (from.configMapKeyRef !== undefined) {
    const { name = '', key, optional } = from.configMapKeyRef;
    const found = input.configMap(name);
    const value = found?.data?.[key];
    if (value === undefined && optional !== true)
      throw found === undefined ? missing('configmap', name) : missingKey('ConfigMap', input, name, key);
    return value;
  }
  if (from.secretKeyRef !== undefined) {
    const { name = '', key, optional } = from.secretKeyRef;
    const found = input.secret(name);
    const value = found?.data?.[key];
    if (value === undefined && optional !== true)
      throw found === undefined ? missing('secret', name) : missingKey('Secret', input, name, key);
    return value === undefined ? undefined : fromBase64(value);
  }
  return undefined;
}

const missing = (kind: string, name: string) =>
  new AgentError('CreateContainerConfigError', `${kind} "${name}" not found`);

const missingKey = (kind: string, { pod }: EnvironmentInput, name: string, key: string) =>
  new AgentError(
    'CreateContainerConfigError',
    `couldn't find key ${key} in ${kind} ${pod.metadata.namespace ?? ''}/${name}`,
  );

const fromBase64 = (text: string) => Buffer.from(text, 'base64').toString('utf8');

export interface ResourceFieldRef {
  readonly resource: string;
  readonly divisor?: string | number;
}

/** `limits.cpu` and friends as a whole number of the divisor, rounded up. */
export function resourceValue(
  container: Container,
  ref: ResourceFieldRef,
  nodeAllocatable: Readonly<Record<string, string>>,
): string {
  const [kind = '', ...rest] = ref.resource.split('.');
  const resource = rest.join('.');
  const resources = container.resources as
    | Readonly<Record<string, Readonly<Record<string, string | number>> | undefined>>
    | undefined;
  const own =
    resources?.[kind]?.[resource] ?? (kind === 'limits' ? nodeAllocatable[resource] : undefined) ?? '0';
  const divisor = ref.divisor === undefined || String(ref.divisor) === '0' ? '1' : String(ref.divisor);
  if (resource === 'cpu') return String(Math.ceil(milliCpu(own) / milliCpu(divisor)));
  return String(Math.ceil(bytes(own) / bytes(divisor)));
}

/** `$(NAME)` in commands, arguments and values. `$$(NAME)` stays as `$(NAME)`; an unknown name stays as it is. */
export function expand(text: string, variables: ReadonlyMap<string, string>): string {
  return text.replaceAll(/\$\$|\$\(([^()]*)\)/g, (match, name: string | undefined) => {
    if (match === '$$') return '$';
    return variables.get(name ?? '') ?? match;
  });
}

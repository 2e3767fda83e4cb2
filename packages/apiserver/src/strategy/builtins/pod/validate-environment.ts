/** What is wrong with the environment of a container. */

import {
  configMapKey,
  dnsSubdomain,
  environmentName,
  qualifiedName,
} from '@slurm-operator/kubernetes-values';
import type { IContainer } from 'kubernetes-models/v1/Container';
import type { IEnvVarSource } from 'kubernetes-models/v1/EnvVarSource';
import type { FieldFault } from '../../../api/errors.ts';
import { invalidValue, notSupported, required } from '../../../api/fault.ts';

/** Fields of a pod that can be written into it. */
const readable = new Set(
  `metadata.annotations metadata.labels metadata.name metadata.namespace metadata.uid spec.nodeName spec.host
   spec.restartPolicy spec.serviceAccountName spec.schedulerName status.phase status.hostIP status.hostIPs status.podIP
   status.podIPs`.split(/\s+/),
);
const asVariable = [
  'metadata.name',
  'metadata.namespace',
  'metadata.uid',
  'spec.nodeName',
  'spec.serviceAccountName',
  'status.hostIP',
  'status.hostIPs',
  'status.podIP',
  'status.podIPs',
];
export const asFile = [
  'metadata.annotations',
  'metadata.labels',
  'metadata.name',
  'metadata.namespace',
  'metadata.uid',
];

const sources = ['fieldRef', 'resourceFieldRef', 'configMapKeyRef', 'secretKeyRef'] as const;

export function validateEnvironment(container: IContainer, path: string): FieldFault[] {
  const variables = (container.env ?? []).flatMap((variable, index) => {
    const at = `${path}.env[${index}]`;
    const faults = variable.name
      ? environmentName(variable.name).map((text) => invalidValue(`${at}.name`, variable.name, text))
      : [required(`${at}.name`)];
    if (variable.valueFrom)
      faults.push(...sourceFaults(variable.valueFrom, `${at}.valueFrom`, Boolean(variable.value)));
    return faults;
  });
  const whole = (container.envFrom ?? []).flatMap((source, index) => {
    const at = `${path}.envFrom[${index}]`;
    const { prefix = '' } = source;
    const faults =
      prefix === '' ? [] : environmentName(prefix).map((text) => invalidValue(`${at}.prefix`, prefix, text));
    const given = (['configMapRef', 'secretRef'] as const).filter((name) => source[name] !== undefined);
    for (const key of given) {
      const name = source[key]?.name ?? '';
      if (name === '') faults.push(required(`${at}.${key}.name`));
      else faults.push(...dnsSubdomain(name).map((text) => invalidValue(`${at}.${key}.name`, name, text)));
    }
    // These are named without the index by the real server.
    if (given.length === 0)
      faults.push(invalidValue(`${path}.envFrom`, '', 'must specify one of: `configMapRef` or `secretRef`'));
    else if (given.length > 1)
      faults.push(
        invalidValue(`${path}.envFrom`, '', 'may not have more than one field specified at a time'),
      );
    return faults;
  });
  return [...variables, ...whole];
}

function sourceFaults(source: IEnvVarSource, path: string, hasValue: boolean): FieldFault[] {
  const given = sources.filter((name) => source[name] !== undefined);
  const faults = given.flatMap((name) => {
    const at = `${path}.${name}`;
    switch (name) {
      case 'fieldRef':
        return fieldRefFaults(source.fieldRef?.fieldPath ?? '', at, asVariable);
      case 'resourceFieldRef':
        return resourceRefFaults(source.resourceFieldRef, at);
      default: {
        const { key = '', name: of = '' } = source[name] ?? {};
        return [
          ...dnsSubdomain(of).map((text) => invalidValue(`${at}.name`, of, text)),
          ...(key === ''
            ? [required(`${at}.key`)]
            : configMapKey(key).map((text) => invalidValue(`${at}.key`, key, text))),
        ];
      }
    }
  });
  if (given.length === 0)
    faults.push(
      invalidValue(
        path,
        '',
        'must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`',
      ),
    );
  else if (hasValue) faults.push(invalidValue(path, '', 'may not be specified when `value` is not empty'));
  else if (given.length > 1)
    faults.push(invalidValue(path, '', 'may not have more than one field specified at a time'));
  return faults;
}

const amounts = ['cpu', 'ephemeral-storage', 'memory'];
const asAmount = ['limits', 'requests'].flatMap((side) => amounts.map((name) => `${side}.${name}`));
const DIVISORS = '1, 1k, 1M, 1G, 1T, 1P, 1E, 1Ki, 1Mi, 1Gi, 1Ti, 1Pi, 1Ei';
const divisorNames: Readonly<Record<string, string>> = {
  memory: 'memory',
  'ephemeral-storage': 'local ephemeral storage',
};

function resourceRefFaults(
  reference: { readonly resource?: string; readonly divisor?: string | number } | undefined,
  path: string,
): FieldFault[] {
  const { resource = '', divisor = '0' } = reference ?? {};
  if (resource === '') return [required(`${path}.resource`)];
  if (/^(?:limits|requests)\.hugepages-/.test(resource)) return [];
  if (!asAmount.includes(resource)) return [notSupported(`${path}.resource`, resource, asAmount)];
  const text = String(divisor);
  const [, amount = ''] = resource.split('.');
  if (text === '0') return [];
  const allowed = amount === 'cpu' ? ['1m', '1'] : DIVISORS.split(', ');
  if (allowed.includes(text)) return [];
  const words =
    amount === 'cpu'
      ? "only divisor's values 1m and 1 are supported with the cpu resource"
      : `only divisor's values ${DIVISORS} are supported with the ${divisorNames[amount] ?? amount} resource`;
  return [invalidValue(`${path}.divisor`, resource, words)];
}

export function fieldRefFaults(field: string, path: string, allowed: readonly string[]): FieldFault[] {
  const at = `${path}.fieldPath`;
  if (field === '') return [required(at)];
  const subscript = /\['(.*)'\]$/.exec(field)?.[1];
  const bare = field.replace(/\['.*'\]$/, '');
  if (!readable.has(bare) || (subscript !== undefined && !/^metadata\.(?:labels|annotations)$/.test(bare)))
    return [invalidValue(at, field, `error converting fieldPath: field label not supported: ${field}`)];
  if (subscript !== undefined) {
    const key = bare === 'metadata.annotations' ? subscript.toLowerCase() : subscript;
    return qualifiedName(key).map((text) => invalidValue(path, key, text));
  }
  return allowed.includes(bare === 'spec.host' ? 'spec.nodeName' : bare)
    ? []
    : [notSupported(at, field, allowed)];
}

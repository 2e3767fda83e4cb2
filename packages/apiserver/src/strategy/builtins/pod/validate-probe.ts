/** What is wrong with the probes and lifecycle handlers of a container. */

import { portName } from '@slurm-operator/kubernetes-values';
import type { IContainer } from 'kubernetes-models/v1/Container';
import type { IProbe } from 'kubernetes-models/v1/Probe';
import type { FieldFault } from '../../../api/errors.ts';
import { forbiddenField, invalidValue, notSupported, required } from '../../../api/fault.ts';

export const PORT_RANGE = 'must be between 1 and 65535, inclusive';
const NOT_NEGATIVE = 'must be greater than or equal to 0';

export const probeNames = ['livenessProbe', 'readinessProbe', 'startupProbe'] as const;

export function validateProbes(container: IContainer, path: string, gracePeriod?: number): FieldFault[] {
  const faults: FieldFault[] = [];
  for (const hook of ['postStart', 'preStop'] as const) {
    const handler = container.lifecycle?.[hook];
    if (handler) faults.push(...validateHandler(handler, `${path}.lifecycle.${hook}`, gracePeriod));
  }
  for (const name of probeNames) {
    const probe = container[name];
    if (probe) faults.push(...validateProbe(probe, `${path}.${name}`, name));
  }
  return faults;
}

function validateProbe(probe: IProbe, path: string, name: (typeof probeNames)[number]): FieldFault[] {
  const faults = validateHandler(probe, path);
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
  const grace = probe.terminationGracePeriodSeconds;
  if (grace !== undefined && grace <= 0)
    faults.push(invalidValue(`${path}.terminationGracePeriodSeconds`, grace, 'must be greater than 0'));
  else if (grace !== undefined && name === 'readinessProbe')
    faults.push(
      invalidValue(`${path}.terminationGracePeriodSeconds`, grace, 'must not be set for readinessProbes'),
    );
  if (name !== 'readinessProbe' && (probe.successThreshold ?? 1) > 1)
    faults.push(invalidValue(`${path}.successThreshold`, probe.successThreshold, 'must be 1'));
  return faults;
}

/** The parts that probes and lifecycle handlers share. */
type Handler = Pick<IProbe, 'exec' | 'httpGet' | 'tcpSocket' | 'grpc'> & {
  readonly sleep?: { readonly seconds?: number };
};

function validateHandler(handler: Handler, path: string, gracePeriod?: number): FieldFault[] {
  const faults: FieldFault[] = [];
  let count = 0;
  for (const type of ['exec', 'httpGet', 'tcpSocket', 'grpc', 'sleep'] as const) {
    if (handler[type] === undefined) continue;
    count += 1;
    if (count > 1) faults.push(forbiddenField(`${path}.${type}`, 'may not specify more than 1 handler type'));
    else if (type === 'sleep')
      faults.push(...sleepFaults(handler.sleep?.seconds ?? 0, gracePeriod, `${path}.sleep`));
    else faults.push(...actionFaults(handler, type, `${path}.${type}`));
  }
  if (count === 0) faults.push(required(path, 'must specify a handler type'));
  return faults;
}

function sleepFaults(seconds: number, gracePeriod: number | undefined, path: string): FieldFault[] {
  if (gracePeriod === undefined || (seconds >= 0 && seconds <= gracePeriod)) return [];
  const rule = `must be non-negative and less than terminationGracePeriodSeconds (${gracePeriod})`;
  return [invalidValue(path, seconds, rule)];
}

const HEADER_NAME =
  "a valid HTTP header must consist of alphanumeric characters or '-' (e.g. 'X-Header-Name', regex used for validation is '[-A-Za-z0-9]+')";

function headerFaults(headers: readonly { readonly name: string }[], path: string): FieldFault[] {
  return headers
    .filter(({ name }) => !/^[-A-Za-z0-9]+$/.test(name))
    .map(({ name }) => invalidValue(path, name, HEADER_NAME));
}

function actionFaults(handler: Handler, type: Exclude<keyof Handler, 'sleep'>, path: string): FieldFault[] {
  if (type === 'exec') return handler.exec?.command?.length ? [] : [required(`${path}.command`)];
  const port = handler[type]?.port;
  const faults: FieldFault[] = [];
  if (type === 'httpGet' && !handler.httpGet?.path) faults.push(required(`${path}.path`));
  if (typeof port === 'number' && (port < 1 || port > 65535))
    faults.push(invalidValue(`${path}.port`, port, PORT_RANGE));
  if (typeof port === 'string')
    faults.push(...portName(port).map((text) => invalidValue(`${path}.port`, port, text)));
  const scheme = handler.httpGet?.scheme;
  if (type === 'httpGet' && scheme !== undefined && !['HTTP', 'HTTPS'].includes(scheme))
    faults.push(notSupported(`${path}.scheme`, scheme, ['HTTP', 'HTTPS']));
  if (type === 'httpGet')
    faults.push(...headerFaults(handler.httpGet?.httpHeaders ?? [], `${path}.httpHeaders`));
  return faults;
}

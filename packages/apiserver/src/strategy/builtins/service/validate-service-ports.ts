/** What is wrong with the ports of a Service. */

import { dnsLabel, portName, qualifiedName } from '@slurm-operator/kubernetes-values';
import type { IServicePort } from 'kubernetes-models/v1/ServicePort';
import type { IServiceSpec } from 'kubernetes-models/v1/ServiceSpec';
import type { FieldFault } from '../../../api/errors.ts';
import { duplicate, forbiddenField, invalidValue, notSupported, required } from '../../../api/fault.ts';
import { isHeadless } from './default-service.ts';

const PORT_RANGE = 'must be between 1 and 65535, inclusive';

export function portFaults(spec: IServiceSpec): FieldFault[] {
  const ports = spec.ports ?? [];
  const names = new Set<string>();
  return [
    ...ports.flatMap((port, index) => onePortFaults(port, `spec.ports[${index}]`, ports.length > 1, names)),
    ...ports.flatMap((port, index) => nodePortFaults(spec, port, `spec.ports[${index}]`)),
    ...twice(ports, ({ port, protocol }) => `${protocol}/${port}`).map((index) =>
      duplicate(`spec.ports[${index}]`, shown(ports[index], { port: true })),
    ),
    ...twice(ports, ({ nodePort, protocol }) => (nodePort ? `${protocol}/${nodePort}` : undefined)).map(
      (index) => duplicate(`spec.ports[${index}]`, shown(ports[index], { port: false })),
    ),
  ];
}

function onePortFaults(
  port: IServicePort,
  path: string,
  needsName: boolean,
  names: Set<string>,
): FieldFault[] {
  const faults: FieldFault[] = [];
  if (!port.name) {
    if (needsName) faults.push(required(`${path}.name`));
  } else {
    for (const text of dnsLabel(port.name)) faults.push(invalidValue(`${path}.name`, port.name, text));
    if (names.has(port.name)) faults.push(duplicate(`${path}.name`, port.name));
    names.add(port.name);
  }
  if (outOfRange(port.port)) faults.push(invalidValue(`${path}.port`, port.port, PORT_RANGE));
  if (port.protocol && !['SCTP', 'TCP', 'UDP'].includes(port.protocol))
    faults.push(notSupported(`${path}.protocol`, port.protocol, ['SCTP', 'TCP', 'UDP']));
  const target = port.targetPort;
  if (typeof target === 'number' && outOfRange(target))
    faults.push(invalidValue(`${path}.targetPort`, target, PORT_RANGE));
  if (typeof target === 'string')
    for (const text of portName(target)) faults.push(invalidValue(`${path}.targetPort`, target, text));
  if (port.appProtocol)
    for (const text of qualifiedName(port.appProtocol))
      faults.push(invalidValue(`${path}.appProtocol`, port.appProtocol, text));
  return faults;
}

function nodePortFaults(spec: IServiceSpec, { nodePort }: IServicePort, path: string): FieldFault[] {
  if (!nodePort) return [];
  if (spec.type === 'ClusterIP' || isHeadless(spec))
    return [forbiddenField(`${path}.nodePort`, "may not be used when `type` is 'ClusterIP'")];
  return spec.type === 'ExternalName'
    ? [forbiddenField(`${path}.nodePort`, "may not be used when `type` is 'ExternalName'")]
    : [];
}

/** Indexes of the ports whose key stood before. */
function twice(ports: readonly IServicePort[], keyOf: (port: IServicePort) => string | undefined): number[] {
  const seen = new Set<string>();
  return ports.flatMap((port, index) => {
    const key = keyOf(port);
    if (key === undefined) return [];
    const again = seen.has(key);
    seen.add(key);
    return again ? [index] : [];
  });
}

/** Faults show a port in the server's own form, with nothing in it but what is twice. */
function shown(port: IServicePort | undefined, { port: byPort }: { readonly port: boolean }): object {
  return {
    Name: '',
    Protocol: port?.protocol ?? '',
    AppProtocol: null,
    Port: byPort ? port?.port : 0,
    TargetPort: 0,
    NodePort: byPort ? 0 : port?.nodePort,
  };
}

function outOfRange(port: number): boolean {
  return !Number.isInteger(port) || port < 1 || port > 65535;
}

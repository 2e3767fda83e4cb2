/** What is wrong with the ports of a Service. */

import { dnsLabel, portName, qualifiedName } from '@slurm-operator/kubernetes-values';
import type { IServicePort } from 'kubernetes-models/v1/ServicePort';
import type { IServiceSpec } from 'kubernetes-models/v1/ServiceSpec';
import type { FieldFault } from '../../../api/errors.ts';
import { duplicate, forbiddenField, invalidValue, notSupported, required } from '../../../api/fault.ts';

export const PORT_RANGE = 'must be between 1 and 65535, inclusive';

export function portFaults({ ports = [] }: IServiceSpec): FieldFault[] {
  const names = new Set<string>();
  return ports.flatMap((port, index) => onePortFaults(port, `spec.ports[${index}]`, ports.length > 1, names));
}

/** What is wrong with ports beside each other and beside the type. */
export function portUseFaults({ type, ports = [] }: IServiceSpec): FieldFault[] {
  const onNodes = ports.flatMap(({ nodePort }, index) =>
    nodePort && type === 'ClusterIP'
      ? [forbiddenField(`spec.ports[${index}].nodePort`, "may not be used when `type` is 'ClusterIP'")]
      : [],
  );
  return [
    ...onNodes,
    ...twice(ports, ({ nodePort, protocol }) => (nodePort ? `${protocol}/${nodePort}` : undefined)).map(
      (index) => duplicate(`spec.ports[${index}].nodePort`, ports[index]?.nodePort),
    ),
    ...twice(ports, ({ port, protocol }) => `${protocol}/${port}`).map((index) =>
      duplicate(`spec.ports[${index}]`, shown(ports[index])),
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
function shown(port: IServicePort | undefined): object {
  return {
    Name: '',
    Protocol: port?.protocol ?? '',
    AppProtocol: null,
    Port: port?.port,
    TargetPort: 0,
    NodePort: 0,
  };
}

function outOfRange(port: number): boolean {
  return !Number.isInteger(port) || port < 1 || port > 65535;
}

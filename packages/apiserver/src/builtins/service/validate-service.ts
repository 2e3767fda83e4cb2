/** What is wrong with a Service, or with a change of one. */
import type { IServiceSpec } from 'kubernetes-models/v1/ServiceSpec';
import type { FieldFault } from '../../errors.ts';
import { duplicate, invalidValue, notSupported, required } from '../fault.ts';
import { dnsLabel, dnsSubdomain, labelValue, portName, qualifiedName } from '../name-rules.ts';
import { isHeadless } from './default-service.ts';

const PORT_RANGE = 'must be between 1 and 65535, inclusive';
const TYPES = ['ClusterIP', 'ExternalName', 'LoadBalancer', 'NodePort'];

export function validateService(spec: IServiceSpec): FieldFault[] {
  const faults: FieldFault[] = [];
  if (!spec.ports?.length && !isHeadless(spec) && spec.type !== 'ExternalName')
    faults.push(required('spec.ports'));
  if (spec.type === 'ExternalName') {
    if (!spec.externalName) faults.push(required('spec.externalName'));
    else
      faults.push(
        ...dnsSubdomain(spec.externalName).map((text) =>
          invalidValue('spec.externalName', spec.externalName, text),
        ),
      );
  }
  faults.push(...portFaults(spec));
  for (const [key, value] of Object.entries(spec.selector ?? {})) {
    for (const text of qualifiedName(key)) faults.push(invalidValue('spec.selector', key, text));
    for (const text of labelValue(value)) faults.push(invalidValue('spec.selector', value, text));
  }
  if (spec.sessionAffinity && !['ClientIP', 'None'].includes(spec.sessionAffinity))
    faults.push(notSupported('spec.sessionAffinity', spec.sessionAffinity, ['ClientIP', 'None']));
  if (spec.type && !TYPES.includes(spec.type)) faults.push(notSupported('spec.type', spec.type, TYPES));
  return faults;
}

function portFaults(spec: IServiceSpec): FieldFault[] {
  const faults: FieldFault[] = [];
  const names = new Set<string>();
  const numbers = new Set<string>();
  const ports = spec.ports ?? [];
  for (const [index, port] of ports.entries()) {
    const at = `spec.ports[${index}]`;
    if (!port.name) {
      if (ports.length > 1) faults.push(required(`${at}.name`));
    } else {
      for (const text of dnsLabel(port.name)) faults.push(invalidValue(`${at}.name`, port.name, text));
      if (names.has(port.name)) faults.push(duplicate(`${at}.name`, port.name));
      names.add(port.name);
    }
    if (outOfRange(port.port)) faults.push(invalidValue(`${at}.port`, port.port, PORT_RANGE));
    if (port.protocol && !['SCTP', 'TCP', 'UDP'].includes(port.protocol))
      faults.push(notSupported(`${at}.protocol`, port.protocol, ['SCTP', 'TCP', 'UDP']));
    const target = port.targetPort;
    if (typeof target === 'number' && outOfRange(target))
      faults.push(invalidValue(`${at}.targetPort`, target, PORT_RANGE));
    if (typeof target === 'string')
      for (const text of portName(target)) faults.push(invalidValue(`${at}.targetPort`, target, text));
    const key = `${port.protocol}/${port.port}`;
    if (numbers.has(key)) faults.push(duplicate(at, { port: port.port, protocol: port.protocol }));
    numbers.add(key);
  }
  return faults;
}

export function validateServiceUpdate(spec: IServiceSpec, old: IServiceSpec): FieldFault[] {
  const before = old.clusterIPs?.[0];
  // Changing to or from ExternalName gives up or takes a new address.
  if (!before || old.type === 'ExternalName' || spec.type === 'ExternalName') return [];
  if (spec.clusterIPs?.[0] === before) return [];
  return [invalidValue('spec.clusterIPs[0]', spec.clusterIPs ?? null, 'may not change once set')];
}

function outOfRange(port: number): boolean {
  return !Number.isInteger(port) || port < 1 || port > 65535;
}

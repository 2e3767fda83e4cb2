/** Ingresses: rules for hosts, paths and backends. */

import { isIP } from 'node:net';
import { dnsLabel1035, dnsSubdomain, portName } from '@slurm-operator/kubernetes-values';
import type { IHTTPIngressPath } from 'kubernetes-models/networking.k8s.io/v1/HTTPIngressPath';
import type { IIngress } from 'kubernetes-models/networking.k8s.io/v1/Ingress';
import type { IIngressBackend } from 'kubernetes-models/networking.k8s.io/v1/IngressBackend';
import type { IIngressRule } from 'kubernetes-models/networking.k8s.io/v1/IngressRule';
import type { FieldFault } from '../../api/errors.ts';
import { invalidValue, notSupported, required } from '../../api/fault.ts';
import { typed } from '../../api/typed.ts';
import type { BuiltinHooks } from './define.ts';
import { PORT_RANGE } from './pod/validate-probe.ts';

const badSequences = ['//', '/./', '/../', '%2f', '%2F'];
const badEndings = ['/..', '/.'];

export const ingressHooks: BuiltinHooks = {
  validate(object) {
    const { spec } = typed<IIngress>(object);
    const { rules = [], defaultBackend, tls = [], ingressClassName } = spec ?? {};
    const faults: FieldFault[] = [];
    if (rules.length === 0 && !defaultBackend)
      faults.push(invalidValue('spec', null, 'either `defaultBackend` or `rules` must be specified'));
    if (defaultBackend) faults.push(...backendFaults(defaultBackend, 'spec.defaultBackend'));
    faults.push(...rules.flatMap((rule, index) => ruleFaults(rule, `spec.rules[${index}]`)));
    for (const [index, { hosts = [], secretName }] of tls.entries()) {
      for (const [place, host] of hosts.entries())
        faults.push(...hostFaults(host, `spec.tls[${index}].hosts[${place}]`));
      faults.push(...named(secretName, `spec.tls[${index}].secretName`));
    }
    faults.push(...named(ingressClassName, 'spec.ingressClassName'));
    return faults;
  },
};

function named(name: string | undefined, path: string): FieldFault[] {
  return name ? dnsSubdomain(name).map((text) => invalidValue(path, name, text)) : [];
}

/** The first label of a host may be a star. */
function hostFaults(host: string, path: string): FieldFault[] {
  const rest = host.startsWith('*.') ? host.slice(2) : host;
  return dnsSubdomain(rest).map((text) => invalidValue(path, host, text));
}

function ruleFaults({ host, http }: IIngressRule, path: string): FieldFault[] {
  const faults: FieldFault[] = [];
  if (host) {
    if (isIP(host) !== 0)
      faults.push(invalidValue(`${path}.host`, host, 'must be a DNS name, not an IP address'));
    faults.push(...hostFaults(host, `${path}.host`));
  }
  if (!http) return faults;
  if (!http.paths?.length) faults.push(required(`${path}.http.paths`));
  for (const [index, one] of (http.paths ?? []).entries())
    faults.push(...pathFaults(one, `${path}.http.paths[${index}]`));
  return faults;
}

function pathFaults({ path = '', pathType, backend }: IHTTPIngressPath, at: string): FieldFault[] {
  if (!pathType) return [required(`${at}.pathType`, 'pathType must be specified')];
  const faults: FieldFault[] = [];
  const refuse = (why: string) => faults.push(invalidValue(`${at}.path`, path, why));
  switch (pathType) {
    case 'Exact':
    case 'Prefix':
      if (!path.startsWith('/')) refuse('must be an absolute path');
      for (const bad of badSequences) if (path.includes(bad)) refuse(`must not contain '${bad}'`);
      for (const bad of badEndings) if (path.endsWith(bad)) refuse(`cannot end with '${bad}'`);
      break;
    case 'ImplementationSpecific':
      if (path !== '' && !path.startsWith('/')) refuse('must be an absolute path');
      break;
    default:
      faults.push(notSupported(`${at}.pathType`, pathType, ['Exact', 'ImplementationSpecific', 'Prefix']));
  }
  return [...faults, ...backendFaults(backend ?? {}, `${at}.backend`)];
}

function backendFaults({ resource, service }: IIngressBackend, path: string): FieldFault[] {
  if (resource && service) return [invalidValue(path, '', 'cannot set both resource and service backends')];
  if (resource) return [];
  if (!service) return [invalidValue(path, '', 'resource or service backend is required')];
  const at = `${path}.service`;
  const { name: portNamed = '', number = 0 } = service.port ?? {};
  const faults = service.name
    ? dnsLabel1035(service.name).map((text) => invalidValue(`${at}.name`, service.name, text))
    : [required(`${at}.name`)];
  if (portNamed && number) faults.push(invalidValue(path, '', 'cannot set both port name & port number'));
  else if (portNamed)
    faults.push(...portName(portNamed).map((text) => invalidValue(`${at}.port.name`, portNamed, text)));
  else if (number !== 0) {
    if (number < 1 || number > 65_535) faults.push(invalidValue(`${at}.port.number`, number, PORT_RANGE));
  } else faults.push(required(path, 'port name or number is required'));
  return faults;
}

/** What is wrong with a Service, or with a change of one. */
import { isIP } from 'node:net';
import { dnsSubdomain, labelValue, qualifiedName } from '@slurm-operator/kubernetes-values';
import type { IServiceSpec } from 'kubernetes-models/v1/ServiceSpec';
import type { FieldFault } from '../../../api/errors.ts';
import { forbiddenField, invalidValue, notSupported, required } from '../../../api/fault.ts';
import { isHeadless, needsHealthCheck, reachableFromOutside } from './default-service.ts';
import { clusterIpFieldFaults } from './service-families.ts';
import { PORT_RANGE, portFaults, portUseFaults } from './validate-service-ports.ts';

const TYPES = ['ClusterIP', 'ExternalName', 'LoadBalancer', 'NodePort'];
const POLICIES = ['Cluster', 'Local'];
const IP_ADDRESS = 'must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)';
const CIDR = 'must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)';
/** The longest that a client may be sent to the same pod. */
const MAXIMUM_AFFINITY_SECONDS = 86_400;
const DISTRIBUTIONS = ['PreferClose', 'PreferSameNode', 'PreferSameZone'];

export function validateService(spec: IServiceSpec): FieldFault[] {
  const faults: FieldFault[] = [];
  if (!spec.ports?.length && !isHeadless(spec) && spec.type !== 'ExternalName')
    faults.push(required('spec.ports'));
  if (spec.type === 'LoadBalancer' && isHeadless(spec))
    faults.push(
      invalidValue('spec.clusterIPs[0]', 'None', "may not be set to 'None' for LoadBalancer services"),
    );
  if (spec.type === 'NodePort' && isHeadless(spec))
    faults.push(invalidValue('spec.clusterIPs[0]', 'None', "may not be set to 'None' for NodePort services"));
  if (spec.type === 'ExternalName') faults.push(...externalNameFaults(spec));
  faults.push(...portFaults(spec));
  for (const [key, value] of Object.entries(spec.selector ?? {})) {
    for (const text of qualifiedName(key)) faults.push(invalidValue('spec.selector', key, text));
    for (const text of labelValue(value)) faults.push(invalidValue('spec.selector', value, text));
  }
  faults.push(...affinityFaults(spec));
  faults.push(...clusterIpFieldFaults(spec));
  faults.push(...externalIpFaults(spec.externalIPs ?? []));
  if (!spec.type) faults.push(required('spec.type'));
  else if (!TYPES.includes(spec.type)) faults.push(notSupported('spec.type', spec.type, TYPES));
  faults.push(...portUseFaults(spec), ...sourceRangeFaults(spec));
  if (spec.type !== 'LoadBalancer')
    for (const field of ['allocateLoadBalancerNodePorts', 'loadBalancerClass'] as const)
      if (spec[field] !== undefined)
        faults.push(forbiddenField(`spec.${field}`, "may only be used when `type` is 'LoadBalancer'"));
  if (spec.type === 'LoadBalancer' && spec.loadBalancerClass !== undefined)
    for (const text of qualifiedName(spec.loadBalancerClass))
      faults.push(invalidValue('spec.loadBalancerClass', spec.loadBalancerClass, text));
  faults.push(...trafficFaults(spec));
  if (spec.trafficDistribution !== undefined && !DISTRIBUTIONS.includes(spec.trafficDistribution))
    faults.push(notSupported('spec.trafficDistribution', spec.trafficDistribution, DISTRIBUTIONS));
  return faults;
}

function externalNameFaults(spec: IServiceSpec): FieldFault[] {
  const { externalName, clusterIPs, ipFamilies, ipFamilyPolicy } = spec;
  const faults = Object.entries({ clusterIPs, ipFamilies, ipFamilyPolicy })
    .filter(([, value]) => value !== undefined && value.length > 0)
    .map(([field]) => forbiddenField(`spec.${field}`, 'may not be set for ExternalName services'));
  // A trailing dot is that of a name that is complete.
  const name = externalName?.replace(/\.$/, '');
  if (!name) faults.push(required('spec.externalName'));
  else faults.push(...dnsSubdomain(name).map((text) => invalidValue('spec.externalName', name, text)));
  return faults;
}

function affinityFaults({ sessionAffinity, sessionAffinityConfig }: IServiceSpec): FieldFault[] {
  if (!sessionAffinity) return [required('spec.sessionAffinity')];
  if (!['ClientIP', 'None'].includes(sessionAffinity))
    return [notSupported('spec.sessionAffinity', sessionAffinity, ['ClientIP', 'None'])];
  const seconds = sessionAffinityConfig?.clientIP?.timeoutSeconds;
  if (
    sessionAffinity === 'ClientIP' &&
    seconds !== undefined &&
    (seconds <= 0 || seconds > MAXIMUM_AFFINITY_SECONDS)
  )
    return [
      invalidValue(
        'spec.sessionAffinityConfig.clientIP.timeoutSeconds',
        seconds,
        `must be greater than 0 and less than ${MAXIMUM_AFFINITY_SECONDS}`,
      ),
    ];
  return [];
}

function externalIpFaults(addresses: readonly string[]): FieldFault[] {
  return addresses.flatMap((address, index) => {
    const at = `spec.externalIPs[${index}]`;
    if (isIP(address) === 0) return [invalidValue(at, address, IP_ADDRESS)];
    if (address === '0.0.0.0' || address === '::')
      return [invalidValue(at, address, 'may not be unspecified (0.0.0.0 or ::)')];
    if (address.startsWith('127.') || address === '::1')
      return [invalidValue(at, address, 'may not be in the loopback range (127.0.0.0/8, ::1/128)')];
    return address.startsWith('169.254.') || /^fe[89ab]/i.test(address)
      ? [invalidValue(at, address, 'may not be in the link-local range (169.254.0.0/16, fe80::/10)')]
      : [];
  });
}

/** The field is named as the real server names it, with a capital. */
function sourceRangeFaults({ type, loadBalancerSourceRanges: ranges = [] }: IServiceSpec): FieldFault[] {
  if (ranges.length === 0) return [];
  const path = 'spec.LoadBalancerSourceRanges';
  if (type !== 'LoadBalancer')
    return [forbiddenField(path, "may only be used when `type` is 'LoadBalancer'")];
  return ranges.flatMap((range, index) => {
    const [address = '', bits = ''] = range.trim().split('/');
    const family = isIP(address);
    const isCidr = family !== 0 && /^\d+$/.test(bits) && Number(bits) <= (family === 4 ? 32 : 128);
    return isCidr ? [] : [invalidValue(`${path}[${index}]`, range, CIDR)];
  });
}

function trafficFaults(spec: IServiceSpec): FieldFault[] {
  const faults: FieldFault[] = [];
  const external = spec.externalTrafficPolicy;
  const outside =
    reachableFromOutside(spec) || (spec.type === 'ClusterIP' && (spec.externalIPs ?? []).length > 0);
  if (external && !outside)
    faults.push(
      invalidValue(
        'spec.externalTrafficPolicy',
        external,
        'may only be set for externally-accessible services',
      ),
    );
  else if (external && !POLICIES.includes(external))
    faults.push(notSupported('spec.externalTrafficPolicy', external, POLICIES));
  else if (!external && reachableFromOutside(spec)) faults.push(required('spec.externalTrafficPolicy'));
  const node = spec.healthCheckNodePort;
  if (needsHealthCheck(spec)) {
    if (!node) faults.push(required('spec.healthCheckNodePort'));
    else if (node < 1 || node > 65_535)
      faults.push(invalidValue('spec.healthCheckNodePort', node, PORT_RANGE));
  } else if (node)
    faults.push(
      invalidValue(
        'spec.healthCheckNodePort',
        node,
        "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'",
      ),
    );
  const internal = spec.internalTrafficPolicy;
  if (internal && !POLICIES.includes(internal))
    faults.push(notSupported('spec.internalTrafficPolicy', internal, POLICIES));
  return faults;
}

export function validateServiceUpdate(spec: IServiceSpec, old: IServiceSpec): FieldFault[] {
  return [
    ...addressUpdateFaults(spec, old),
    ...familyUpdateFaults(spec, old),
    ...classUpdateFaults(spec, old),
    ...healthCheckUpdateFaults(spec, old),
  ];
}

/** Another load balancer would leave behind what the first one made. */
function classUpdateFaults(spec: IServiceSpec, old: IServiceSpec): FieldFault[] {
  const stays = spec.type === 'LoadBalancer' && old.type === 'LoadBalancer';
  if (!stays || spec.loadBalancerClass === old.loadBalancerClass) return [];
  return [invalidValue('spec.loadBalancerClass', spec.loadBalancerClass ?? null, 'may not change once set')];
}

function healthCheckUpdateFaults(spec: IServiceSpec, old: IServiceSpec): FieldFault[] {
  const stays = needsHealthCheck(spec) && needsHealthCheck(old);
  return stays && spec.healthCheckNodePort !== old.healthCheckNodePort
    ? [forbiddenField('spec.healthCheckNodePort', 'field is immutable')]
    : [];
}

function addressUpdateFaults(spec: IServiceSpec, old: IServiceSpec): FieldFault[] {
  // Changing to or from ExternalName gives up or takes a new address.
  if (old.type === 'ExternalName' || spec.type === 'ExternalName') return [];
  if (isHeadless(spec) && isHeadless(old)) return [];
  const [now, before] = [spec.clusterIPs ?? [], old.clusterIPs ?? []];
  if (before.length > 0 && now.length === 0)
    return [invalidValue('spec.clusterIPs[0]', now, 'primary clusterIP can not be unset')];
  return before[0] !== undefined && now[0] !== before[0]
    ? [invalidValue('spec.clusterIPs[0]', now, 'may not change once set')]
    : [];
}

function familyUpdateFaults(spec: IServiceSpec, old: IServiceSpec): FieldFault[] {
  if (old.type === 'ExternalName' || spec.type === 'ExternalName') return [];
  if (isHeadless(spec) || isHeadless(old)) return [];
  const [now, before] = [spec.ipFamilies ?? [], old.ipFamilies ?? []];
  return before[0] !== undefined && now[0] !== before[0]
    ? [invalidValue('spec.ipFamilies[0]', now, 'may not change once set')]
    : [];
}

/** What is wrong with a pod spec, in the order and the words of the API. */
import { isIP } from 'node:net';
import { dnsLabel, dnsSubdomain, labelValue, qualifiedName } from '@slurm-operator/kubernetes-values';
import type { IPodSpec } from 'kubernetes-models/v1/PodSpec';
import type { FieldFault } from '../../../api/errors.ts';
import { invalidValue, required } from '../../../api/fault.ts';
import { type PodNames, validateContainers } from './validate-container.ts';
import { resourceClaimFaults } from './validate-resource-claims.ts';
import { validatePodLevelResources } from './validate-resources.ts';
import { affinityFaults, gateFaults, spreadFaults, tolerationFaults } from './validate-scheduling.ts';
import { hostUsersFaults, oneOf, podSecurityFaults } from './validate-security.ts';
import { validateVolume } from './validate-volume.ts';

const IP_ADDRESS = 'must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)';
const MAXIMUM_NAMESERVERS = 3;
const MAXIMUM_SEARCHES = 32;
const MAXIMUM_SEARCH_CHARACTERS = 2048;

export function validatePodSpec(spec: IPodSpec, path: string): FieldFault[] {
  const faults: FieldFault[] = [];
  const volumes = new Set<string>();
  for (const [index, volume] of (spec.volumes ?? []).entries())
    faults.push(...validateVolume(volume, `${path}.volumes[${index}]`, volumes));
  const claims = (spec.volumes ?? []).filter((volume) => volume.persistentVolumeClaim ?? volume.ephemeral);
  const names: PodNames = {
    volumes,
    claims: new Set(claims.map(({ name }) => name)),
    resourceClaims: (spec.resourceClaims ?? []).map(({ name }) => name),
    gracePeriod: spec.terminationGracePeriodSeconds,
    restartPolicy: spec.restartPolicy,
    containers: new Set(),
  };
  faults.push(...resourceClaimFaults(spec.resourceClaims ?? [], `${path}.resourceClaims`));
  const main = spec.containers ?? [];
  if (main.length === 0) faults.push(required(`${path}.containers`));
  faults.push(...validateContainers(main, `${path}.containers`, names));
  faults.push(...validateContainers(spec.initContainers ?? [], `${path}.initContainers`, names));
  faults.push(...validatePodLevelResources(spec, path));
  faults.push(...hostNetworkFaults(spec, path));
  faults.push(...oneOf(spec.restartPolicy, `${path}.restartPolicy`, ['Always', 'OnFailure', 'Never']));
  faults.push(
    ...oneOf(spec.dnsPolicy, `${path}.dnsPolicy`, [
      'ClusterFirstWithHostNet',
      'ClusterFirst',
      'Default',
      'None',
    ]),
  );
  for (const [key, value] of Object.entries(spec.nodeSelector ?? {})) {
    for (const text of qualifiedName(key)) faults.push(invalidValue(`${path}.nodeSelector`, key, text));
    for (const text of labelValue(value)) faults.push(invalidValue(`${path}.nodeSelector`, value, text));
  }
  faults.push(...podSecurityFaults(spec, path));
  if (spec.affinity) faults.push(...affinityFaults(spec.affinity, `${path}.affinity`));
  faults.push(...dnsConfigFaults(spec, `${path}.dnsConfig`));
  for (const [index, { conditionType }] of (spec.readinessGates ?? []).entries())
    for (const text of qualifiedName(conditionType))
      faults.push(invalidValue(`${path}.readinessGates[${index}].conditionType`, conditionType, text));
  faults.push(...gateFaults(spec.schedulingGates ?? [], `${path}.schedulingGates`));
  faults.push(...spreadFaults(spec.topologySpreadConstraints ?? [], `${path}.topologySpreadConstraints`));
  faults.push(...hostUsersFaults(spec, path));
  faults.push(...named(spec.serviceAccountName, `${path}.serviceAccountName`, dnsSubdomain));
  faults.push(...named(spec.nodeName, `${path}.nodeName`, dnsSubdomain));
  const deadline = spec.activeDeadlineSeconds;
  if (deadline !== undefined && (deadline < 1 || deadline > 2_147_483_647))
    faults.push(
      invalidValue(`${path}.activeDeadlineSeconds`, deadline, 'must be between 1 and 2147483647, inclusive'),
    );
  faults.push(...named(spec.hostname, `${path}.hostname`, dnsLabel));
  faults.push(...named(spec.subdomain, `${path}.subdomain`, dnsLabel));
  faults.push(...tolerationFaults(spec.tolerations ?? [], `${path}.tolerations`));
  faults.push(...hostAliasFaults(spec, `${path}.hostAliases`));
  faults.push(...named(spec.priorityClassName, `${path}.priorityClassName`, dnsSubdomain));
  faults.push(...named(spec.runtimeClassName, `${path}.runtimeClassName`, dnsSubdomain));
  faults.push(...oneOf(spec.preemptionPolicy, `${path}.preemptionPolicy`, ['PreemptLowerPriority', 'Never']));
  faults.push(...oneOf(spec.os?.name, `${path}.os.name`, ['linux', 'windows']));
  return faults;
}

/** The ports of such a pod are ports of its node. In a template they may be left out: they are filled in when the pod is created. */
function hostNetworkFaults(spec: IPodSpec, path: string): FieldFault[] {
  if (spec.hostNetwork !== true) return [];
  return (spec.containers ?? []).flatMap(({ ports = [] }, index) =>
    ports.flatMap(({ hostPort, containerPort }, place) =>
      hostPort === containerPort || (path !== 'spec' && !hostPort)
        ? []
        : [
            invalidValue(
              `${path}.containers[${index}].ports[${place}].hostPort`,
              hostPort ?? 0,
              'must match `containerPort` when `hostNetwork` is true',
            ),
          ],
    ),
  );
}

function dnsConfigFaults({ dnsPolicy, dnsConfig }: IPodSpec, path: string): FieldFault[] {
  if (dnsPolicy === 'None' && !dnsConfig)
    return [required(path, 'must provide `dnsConfig` when `dnsPolicy` is None')];
  const { nameservers = [], searches = [], options = [] } = dnsConfig ?? {};
  const faults: FieldFault[] = [];
  if (dnsPolicy === 'None' && nameservers.length === 0)
    return [
      required(`${path}.nameservers`, 'must provide at least one DNS nameserver when `dnsPolicy` is None'),
    ];
  if (nameservers.length > MAXIMUM_NAMESERVERS)
    faults.push(
      invalidValue(
        `${path}.nameservers`,
        nameservers,
        `must not have more than ${MAXIMUM_NAMESERVERS} nameservers`,
      ),
    );
  for (const [index, address] of nameservers.entries())
    if (isIP(address) === 0) faults.push(invalidValue(`${path}.nameservers[${index}]`, address, IP_ADDRESS));
  if (searches.length > MAXIMUM_SEARCHES)
    faults.push(
      invalidValue(`${path}.searches`, searches, `must not have more than ${MAXIMUM_SEARCHES} search paths`),
    );
  if (searches.join(' ').length > MAXIMUM_SEARCH_CHARACTERS)
    faults.push(
      invalidValue(
        `${path}.searches`,
        searches,
        `must not have more than ${MAXIMUM_SEARCH_CHARACTERS} characters (including spaces) in the search list`,
      ),
    );
  for (const [index, search] of searches.entries())
    if (search !== '.')
      faults.push(
        ...searchPath(search.replace(/\.$/, '')).map((text) =>
          invalidValue(`${path}.searches[${index}]`, search.replace(/\.$/, ''), text),
        ),
      );
  for (const [index, { name }] of options.entries())
    if (!name) faults.push(required(`${path}.options[${index}]`, 'must not be empty'));
  return faults;
}

/** Search paths may have underscores, other than the names of objects. */
function searchPath(text: string): string[] {
  const label = '_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?';
  const rule = `${label}(\\.${label})*`;
  if (text.length > 253) return ['must be no more than 253 characters'];
  return new RegExp(`^${rule}$`).test(text)
    ? []
    : [
        `a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '_', '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '${rule}')`,
      ];
}

function hostAliasFaults({ hostAliases = [] }: IPodSpec, path: string): FieldFault[] {
  return hostAliases.flatMap(({ ip, hostnames = [] }, index) => [
    ...(isIP(ip) === 0 ? [invalidValue(`${path}[${index}].ip`, ip, IP_ADDRESS)] : []),
    ...hostnames.flatMap((name, place) =>
      dnsSubdomain(name).map((text) => invalidValue(`${path}[${index}].hostnames[${place}]`, name, text)),
    ),
  ]);
}

function named(value: string | undefined, path: string, rule: (text: string) => string[]): FieldFault[] {
  return value ? rule(value).map((text) => invalidValue(path, value, text)) : [];
}

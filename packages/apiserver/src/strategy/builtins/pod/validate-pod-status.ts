/** What a write of a pod's status may not do. */

import { isIP } from 'node:net';
import { dnsSubdomain, qualifiedName } from '@slurm-operator/kubernetes-values';
import type { IPod } from 'kubernetes-models/v1/Pod';
import type { FieldFault } from '../../../api/errors.ts';
import { duplicate, forbiddenField, invalidValue } from '../../../api/fault.ts';

const RESTARTED = 'may not be transitioned to non-terminated state';

type Status = NonNullable<IPod['status']>;

export function validatePodStatus(pod: IPod, old: IPod): FieldFault[] {
  const status = pod.status ?? {};
  const before = old.status ?? {};
  const faults: FieldFault[] = [];
  for (const [index, condition] of (status.conditions ?? []).entries())
    for (const text of qualifiedName(condition.type))
      faults.push(invalidValue(`status.conditions[${index}].Type`, condition.type, text));
  const nominated = status.nominatedNodeName;
  if (nominated && nominated !== before.nominatedNodeName)
    for (const text of dnsSubdomain(nominated))
      faults.push(invalidValue('status.nominatedNodeName', nominated, text));
  if (before.qosClass !== undefined && status.qosClass !== before.qosClass)
    faults.push(invalidValue('status.qosClass', status.qosClass, 'field is immutable'));
  const policy = old.spec?.restartPolicy ?? 'Always';
  const sidecars = (old.spec?.initContainers ?? [])
    .filter(({ restartPolicy }) => restartPolicy === 'Always')
    .map(({ name }) => name);
  faults.push(
    ...restarts(status, before, policy, 'containerStatuses'),
    ...restarts(status, before, policy, 'initContainerStatuses', sidecars),
    // These are never started again, whatever the pod says.
    ...restarts(status, before, 'Never', 'ephemeralContainerStatuses'),
    ...addressFaults(status.podIPs?.map(addressOf), 'status.podIPs'),
  );
  const [host] = status.hostIPs ?? [];
  if (host !== undefined && status.hostIP !== host.ip)
    faults.push(invalidValue('status.hostIPs[0].ip', addressOf(host), 'must be equal to `hostIP`'));
  faults.push(...addressFaults(status.hostIPs?.map(addressOf), 'status.hostIPs'));
  return faults;
}

/** The schema asks for it, and yet it may be missing. */
const addressOf = ({ ip = '' }: { readonly ip?: string }): string => ip;

const IP_ADDRESS = 'must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)';

/** One address of each family at most. Faults of the list show it in the form of the API server. */
function addressFaults(addresses: readonly string[] | undefined, path: string): FieldFault[] {
  const list = addresses ?? [];
  const faults = list.flatMap((ip, index) =>
    isIP(ip) === 0 ? [invalidValue(`${path}[${index}]`, ip, IP_ADDRESS)] : [],
  );
  if (list.length < 2) return faults;
  if (list.length > 2 || new Set(list.map(isIP)).size < 2)
    faults.push(
      invalidValue(
        path,
        list.map((ip) => ({ IP: ip })),
        'may specify no more than one IP for each IP family',
      ),
    );
  for (const [index, ip] of list.entries())
    if (list.indexOf(ip) < index) faults.push(duplicate(`${path}[${index}]`, { IP: ip }));
  return faults;
}

/** A container that ended for good does not run again. The index of a fault is that of the status before. */
function restarts(
  status: Status,
  before: Status,
  policy: string,
  list: 'containerStatuses' | 'initContainerStatuses' | 'ephemeralContainerStatuses',
  sidecars: readonly string[] = [],
): FieldFault[] {
  if (policy === 'Always') return [];
  return (before[list] ?? []).flatMap(({ name, state }, index) => {
    const ended = state?.terminated;
    // One that failed may be started again under this policy.
    const mayRestart = policy === 'OnFailure' && ended?.exitCode !== 0;
    if (ended === undefined || mayRestart || sidecars.includes(name)) return [];
    const now = status[list]?.find((container) => container.name === name);
    return now === undefined || now.state?.terminated !== undefined
      ? []
      : [forbiddenField(`status.${list}[${index}].state`, RESTARTED)];
  });
}

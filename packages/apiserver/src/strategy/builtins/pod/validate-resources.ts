/** What is wrong with requests and limits, of a container or of a pod as a whole. */

import { Quantity, qualifiedName } from '@slurm-operator/kubernetes-values';
import type { IPodSpec } from 'kubernetes-models/v1/PodSpec';
import type { FieldFault } from '../../../api/errors.ts';
import { forbiddenField, invalidValue, notSupported, required } from '../../../api/fault.ts';

type Amounts = Record<string, string | number>;

export interface Resources {
  readonly limits?: Amounts;
  readonly requests?: Amounts;
}

const NOT_NEGATIVE = 'must be greater than or equal to 0';
const ofContainers = new Set(['cpu', 'memory', 'ephemeral-storage']);
/** Names without a domain that mean something somewhere, if only to a quota. */
const standard = new Set(
  `cpu memory ephemeral-storage requests.cpu requests.memory requests.ephemeral-storage limits.cpu limits.memory
   limits.ephemeral-storage pods resourcequotas services replicationcontrollers secrets configmaps
   persistentvolumeclaims storage requests.storage services.nodeports services.loadbalancers`.split(/\s+/),
);
const onPods = ['cpu', 'hugepages-', 'memory'];

const isHugePages = (name: string) => name.startsWith('hugepages-');
const isExtended = (name: string) =>
  name.includes('/') && !name.startsWith('kubernetes.io/') && !name.includes('.kubernetes.io/');
/** Only what the kubelet can share out again may be promised twice. */
const mayOvercommit = (name: string) => !isHugePages(name) && !isExtended(name);
export const isPodLevel = (name: string) => name === 'cpu' || name === 'memory' || isHugePages(name);

export function validateResources(resources: Resources | undefined, path: string): FieldFault[] {
  const { limits = {}, requests = {} } = resources ?? {};
  const faults = [
    ...sorted(limits).flatMap(([name, amount]) => amountFaults(name, amount, `${path}.limits[${name}]`)),
    ...sorted(requests).flatMap(([name, amount]) => [
      ...amountFaults(name, amount, `${path}.requests[${name}]`),
      ...requestFaults(name, amount, limits[name], path),
    ]),
  ];
  const names = new Set([...Object.keys(limits), ...Object.keys(requests)]);
  if ([...names].some(isHugePages) && !names.has('cpu') && !names.has('memory'))
    faults.push(forbiddenField(path, 'HugePages require cpu or memory'));
  return faults;
}

function amountFaults(name: string, amount: string | number, path: string): FieldFault[] {
  const faults = nameFaults(name, path);
  const quantity = Quantity.parse(amount);
  if (quantity === undefined) return faults;
  if (quantity.nanos < 0n) faults.push(invalidValue(path, String(amount), NOT_NEGATIVE));
  if ((isExtended(name) || isHugePages(name)) && quantity.nanos % 1_000_000_000n !== 0n)
    faults.push(invalidValue(path, String(amount), 'must be an integer'));
  if (isHugePages(name)) {
    const page = Quantity.parse(name.slice('hugepages-'.length));
    if (page === undefined || page.nanos <= 0n || quantity.nanos % page.nanos !== 0n)
      faults.push(
        invalidValue(path, String(amount), `${amount} is not positive integer multiple of ${name}`),
      );
  }
  return faults;
}

function nameFaults(name: string, path: string): FieldFault[] {
  const faults = qualifiedName(name).map((text) => invalidValue(path, name, text));
  if (faults.length > 0) return faults;
  if (!name.includes('/')) {
    if (!standard.has(name) && !isHugePages(name))
      faults.push(invalidValue(path, name, 'must be a standard resource type or fully qualified'));
    if (!ofContainers.has(name) && !isHugePages(name))
      faults.push(invalidValue(path, name, 'must be a standard resource for containers'));
  } else if (name.startsWith('requests.') && isExtended(name))
    faults.push(invalidValue(path, name, "doesn't follow extended resource name standard"));
  return faults;
}

function requestFaults(
  name: string,
  amount: string | number,
  limit: string | number | undefined,
  path: string,
): FieldFault[] {
  const request = Quantity.parse(amount);
  const most = limit === undefined ? undefined : Quantity.parse(limit);
  if (limit === undefined)
    return mayOvercommit(name)
      ? []
      : [required(`${path}.limits`, 'Limit must be set for non overcommitable resources')];
  if (request === undefined || most === undefined) return [];
  const order = request.compare(most);
  const bound = `${name} limit of ${limit}`;
  if (order !== 0 && !mayOvercommit(name))
    return [invalidValue(`${path}.requests`, String(amount), `must be equal to ${bound}`)];
  return order > 0
    ? [invalidValue(`${path}.requests`, String(amount), `must be less than or equal to ${bound}`)]
    : [];
}

/** Resources of the pod as a whole: only some may be given there, and the containers must fit into them. */
export function validatePodLevelResources(spec: IPodSpec, path: string): FieldFault[] {
  const { resources } = spec;
  if (resources === undefined) return [];
  const at = `${path}.resources`;
  const foreign = (['limits', 'requests'] as const).flatMap((part) =>
    sorted(resources[part] ?? {})
      .filter(([name]) => !isPodLevel(name))
      .map(([name]) => notSupported(`${at}.${part}[${name}]`, name, onPods)),
  );
  if (foreign.length > 0) return foreign;
  return [
    ...validateResources(resources, at),
    ...tooSmallFor(spec, resources, at),
    ...tooLargeContainers(spec, resources, path),
  ];
}

function tooSmallFor(spec: IPodSpec, { requests = {} }: Resources, path: string): FieldFault[] {
  const wanted = containerRequests(spec);
  return sorted(requests).flatMap(([name, amount]) => {
    const total = wanted.get(name);
    const given = Quantity.parse(amount);
    if (total === undefined || given === undefined || given.compare(total) >= 0) return [];
    const detail = `must be greater than or equal to aggregate container requests of ${total.toString()}`;
    return [invalidValue(`${path}.requests[${name}]`, String(amount), detail)];
  });
}

function tooLargeContainers(spec: IPodSpec, { limits = {} }: Resources, path: string): FieldFault[] {
  return (spec.containers ?? []).flatMap((container, index) =>
    sorted(container.resources?.limits ?? {}).flatMap(([name, amount]) => {
      const most = limits[name] === undefined ? undefined : Quantity.parse(limits[name]);
      const own = Quantity.parse(amount);
      if (most === undefined || own === undefined || own.compare(most) <= 0) return [];
      const at = `${path}.containers[${index}].resources.limits[${name}]`;
      return [
        invalidValue(at, String(amount), `must be less than or equal to pod limits of ${limits[name]}`),
      ];
    }),
  );
}

/** What the containers of a pod ask for together, of what a pod may be given as a whole. */
export function containerRequests(spec: IPodSpec): Map<string, Quantity> {
  const total = new Map<string, Quantity>();
  for (const { resources } of spec.containers ?? [])
    for (const [name, amount] of Object.entries(resources?.requests ?? {})) {
      const quantity = isPodLevel(name) ? Quantity.parse(amount) : undefined;
      const before = total.get(name);
      if (quantity) total.set(name, before ? before.add(quantity) : quantity);
    }
  return total;
}

function sorted(amounts: Amounts): [string, string | number][] {
  return Object.entries(amounts).toSorted(([a], [b]) => (a < b ? -1 : 1));
}

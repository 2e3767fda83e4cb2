/** What objects cost under a ResourceQuota, and whether a namespace can afford one more. */

import { Quantity } from '@slurm-operator/kubernetes-values';
import { typed } from '../api/typed.ts';
import type { KubeObject } from '../api/types.ts';
import type { ServerParts } from '../resource/request-context.ts';

export type Usage = ReadonlyMap<string, Quantity>;

interface Costly {
  readonly spec?: {
    readonly containers?: readonly Container[];
    readonly initContainers?: readonly Container[];
    readonly resources?: { readonly requests?: Readonly<Record<string, string | number>> };
    readonly storageClassName?: string;
    readonly type?: string;
    readonly ports?: readonly { readonly nodePort?: number }[];
  };
  readonly status?: { readonly phase?: string };
}

interface Container {
  readonly resources?: {
    readonly requests?: Readonly<Record<string, string | number>>;
    readonly limits?: Readonly<Record<string, string | number>>;
  };
}

/** Kinds that a quota may also count by their bare plural name. */
const COUNTED_BY_NAME = new Set([
  'pods',
  'services',
  'secrets',
  'configmaps',
  'persistentvolumeclaims',
  'replicationcontrollers',
  'resourcequotas',
]);
const ONE = Quantity.ofInteger(1n);

/** What one object of the resource counts for. Pods that are over count for nothing. */
export function usageOf(group: string, plural: string, object: KubeObject): Usage {
  const { spec, status } = typed<Costly>(object);
  const usage = new Map<string, Quantity>([
    [group === '' ? `count/${plural}` : `count/${plural}.${group}`, ONE],
  ]);
  if (group !== '') return usage;
  const over = status?.phase === 'Succeeded' || status?.phase === 'Failed';
  if (plural === 'pods' && over) return usage;
  if (COUNTED_BY_NAME.has(plural)) usage.set(plural, ONE);
  if (plural === 'pods') addPod(usage, spec ?? {});
  if (plural === 'persistentvolumeclaims') addClaim(usage, spec ?? {});
  if (plural === 'services') addService(usage, spec ?? {});
  return usage;
}

function addPod(usage: Map<string, Quantity>, spec: NonNullable<Costly['spec']>): void {
  for (const [part, prefix] of [
    ['requests', 'requests.'],
    ['limits', 'limits.'],
  ] as const) {
    const running = sum((spec.containers ?? []).map((container) => container.resources?.[part]));
    // Init containers run one after another, before the others: only the largest counts.
    for (const container of spec.initContainers ?? [])
      for (const [name, text] of Object.entries(container.resources?.[part] ?? {})) {
        const amount = parse(text);
        const known = running.get(name);
        if (!known || amount.compare(known) > 0) running.set(name, amount);
      }
    for (const [name, amount] of running) {
      usage.set(`${prefix}${name}`, amount);
      if (part === 'requests' && (name === 'cpu' || name === 'memory' || name === 'ephemeral-storage'))
        usage.set(name, amount);
    }
  }
}

function addClaim(usage: Map<string, Quantity>, spec: NonNullable<Costly['spec']>): void {
  const storage = spec.resources?.requests?.['storage'];
  if (storage === undefined) return;
  usage.set('requests.storage', parse(storage));
  if (!spec.storageClassName) return;
  const prefix = `${spec.storageClassName}.storageclass.storage.k8s.io`;
  usage.set(`${prefix}/requests.storage`, parse(storage));
  usage.set(`${prefix}/persistentvolumeclaims`, ONE);
}

function addService(usage: Map<string, Quantity>, spec: NonNullable<Costly['spec']>): void {
  if (spec.type === 'LoadBalancer') usage.set('services.loadbalancers', ONE);
  const ports = (spec.ports ?? []).length;
  if (spec.type === 'NodePort' || spec.type === 'LoadBalancer')
    usage.set('services.nodeports', Quantity.ofInteger(BigInt(ports)));
}

export function addUsage(a: Usage, b: Usage): Usage {
  const total = new Map(a);
  for (const [name, amount] of b) {
    const known = total.get(name);
    total.set(name, known ? known.add(amount) : amount);
  }
  return total;
}

const CORE = ['pods', 'services', 'persistentvolumeclaims', 'secrets', 'configmaps', 'resourcequotas'];

/** What a namespace uses of the named limits. Only resources that these can be about are counted. */
export function usedIn(
  { registry, store }: Pick<ServerParts, 'registry' | 'store'>,
  namespace: string,
  names: readonly string[],
): Usage {
  let used: Usage = new Map();
  for (const { group, plural, storage, namespaced } of registry.all()) {
    const counted = names.includes(group === '' ? `count/${plural}` : `count/${plural}.${group}`);
    if (!namespaced || !(counted || (group === '' && CORE.includes(plural)))) continue;
    for (const object of store.list(storage, namespace))
      used = addUsage(used, usageOf(group, plural, object));
  }
  return used;
}

export interface QuotaCheck {
  /** Limits that the request would break, and what it asked, what is used and what is allowed there. */
  readonly exceeded: readonly string[];
  readonly requested: string;
  readonly used: string;
  readonly limited: string;
  /** Amounts the quota counts, which every container of a pod must then say. */
  readonly mustSay: readonly string[];
}

const MUST_SAY = new Set(['cpu', 'memory', 'requests.cpu', 'requests.memory', 'limits.cpu', 'limits.memory']);

export function checkQuota(
  hard: Readonly<Record<string, string | number>>,
  used: Usage,
  asked: Usage,
  isPod: boolean,
): QuotaCheck {
  const names = Object.keys(hard).toSorted();
  const exceeded = names.filter((name) => {
    const amount = asked.get(name);
    if (amount === undefined || amount.nanos <= 0n) return false;
    const after = used.has(name) ? (used.get(name) ?? amount).add(amount) : amount;
    return after.compare(parse(hard[name] ?? 0)) > 0;
  });
  const list = (read: (name: string) => string) => exceeded.map((name) => `${name}=${read(name)}`).join(',');
  const text = (amount: Quantity | undefined) => amount?.toString() ?? '0';
  return {
    exceeded,
    requested: list((name) => text(asked.get(name))),
    used: list((name) => text(used.get(name))),
    limited: list((name) => text(parse(hard[name] ?? 0))),
    mustSay: isPod ? names.filter((name) => MUST_SAY.has(name)) : [],
  };
}

function sum(
  list: readonly (Readonly<Record<string, string | number>> | undefined)[],
): Map<string, Quantity> {
  const totals = new Map<string, Quantity>();
  for (const amounts of list)
    for (const [name, text] of Object.entries(amounts ?? {})) {
      const known = totals.get(name);
      totals.set(name, known ? known.add(parse(text)) : parse(text));
    }
  return totals;
}

function parse(text: string | number): Quantity {
  return Quantity.parse(text) ?? Quantity.ZERO;
}

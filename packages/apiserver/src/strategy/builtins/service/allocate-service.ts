/** Gives Services their cluster addresses and node ports. */

import type { IService } from 'kubernetes-models/v1/Service';
import type { IServiceSpec } from 'kubernetes-models/v1/ServiceSpec';
import { type ApiError, type FieldFault, internalError, invalid } from '../../../api/errors.ts';
import { invalidValue } from '../../../api/fault.ts';
import { typed } from '../../../api/typed.ts';
import type { Store } from '../../../store/store.ts';
import { isHeadless, needsHealthCheck, reachableFromOutside } from './default-service.ts';
import { initFamilies } from './service-families.ts';

/** The addresses Services get unless the server is told otherwise. The first one is the API server's own. */
export const SERVICE_NETWORK = { cidr: '10.96.0.0/16', apiServerAddress: '10.96.0.1' } as const;

interface Network {
  readonly cidr: string;
  readonly base: number;
  readonly size: number;
}

function parseNetwork(cidr: string): Network {
  const [address = '', bits = ''] = cidr.split('/');
  const base = address.split('.').reduce((sum, part) => sum * 256 + Number(part), 0);
  return { cidr, base, size: 2 ** (32 - Number(bits)) };
}

const defaultNetwork = parseNetwork(SERVICE_NETWORK.cidr);
const networks = new WeakMap<Store, Network>();
const networkOf = (store: Store): Network => networks.get(store) ?? defaultNetwork;

/** Several clusters on one machine must not share addresses: each server may have a range of its own. */
export function useServiceNetwork(store: Store, cidr: string): void {
  networks.set(store, parseNetwork(cidr));
}
// Low addresses are left for people who choose one by hand (DNS and the like).
const FIRST_DYNAMIC_OFFSET = 256;
const NODE_PORT_FIRST = 30_000;
const NODE_PORT_LAST = 32_767;

/** Where the search for a free address or port goes on, so that two requests at once get different ones. */
interface Cursor {
  address: number;
  port: number;
}
const cursors = new WeakMap<Store, Cursor>();

function cursorOf(store: Store): Cursor {
  const known = cursors.get(store);
  if (known) return known;
  const cursor = { address: FIRST_DYNAMIC_OFFSET, port: NODE_PORT_FIRST };
  cursors.set(store, cursor);
  return cursor;
}

/** Fills in addresses, families and ports of a new or changed Service; throws when one asked for is not free. */
export function allocateService(
  service: IService,
  old: IServiceSpec | undefined,
  store: Store,
  dryRun: boolean,
): void {
  const { spec } = service;
  if (!spec) return;
  const faults = initFamilies(spec, old);
  if (faults.length > 0) throw refusal(service, faults);
  const others = otherServices(service, store);
  const isNew = old === undefined || old.type === 'ExternalName';
  if (isNew && spec.type !== 'ExternalName') {
    if (isHeadless(spec)) spec.clusterIPs = ['None'];
    else allocateAddress(service, spec, others, store, dryRun);
  }
  const ports = new PortAllocation(store, others, ownPorts(old), dryRun);
  if (reachableFromOutside(spec)) allocateNodePorts(service, spec, old, ports);
  if (needsHealthCheck(spec) && !(old !== undefined && needsHealthCheck(old))) {
    if (!spec.healthCheckNodePort) spec.healthCheckNodePort = ports.next();
    else {
      const why = ports.take(spec.healthCheckNodePort);
      if (why !== undefined)
        throw internalError(
          `failed to allocate requested HealthCheck NodePort ${spec.healthCheckNodePort}: ${why}`,
        );
    }
  }
}

function refusal(service: IService, faults: readonly FieldFault[]): ApiError {
  return invalid({ group: '', kind: 'Service' }, service.metadata?.name ?? '', faults);
}

function otherServices(service: IService, store: Store): IServiceSpec[] {
  return store.list('/services').flatMap((object) => {
    const other = typed<IService>(object);
    const same =
      other.metadata?.name === service.metadata?.name &&
      other.metadata?.namespace === service.metadata?.namespace;
    return same || !other.spec ? [] : [other.spec];
  });
}

function allocateAddress(
  service: IService,
  spec: IServiceSpec,
  others: readonly IServiceSpec[],
  store: Store,
  dryRun: boolean,
): void {
  const used = new Set(others.map((other) => other.clusterIP));
  if (spec.clusterIP) {
    const why = !inNetwork(spec.clusterIP, networkOf(store))
      ? // A dry run asks another allocator, which says more.
        dryRun
        ? `the provided IP (${spec.clusterIP}) is not in the valid range. The range of valid IPs is ${networkOf(store).cidr}`
        : 'the provided network does not match the current range'
      : used.has(spec.clusterIP)
        ? 'provided IP is already allocated'
        : undefined;
    if (why !== undefined)
      throw refusal(service, [
        invalidValue('spec.clusterIPs', [spec.clusterIP], `failed to allocate IP ${spec.clusterIP}: ${why}`),
      ]);
  } else spec.clusterIP = freeAddress(used, cursorOf(store), networkOf(store));
  spec.clusterIPs = [spec.clusterIP];
}

function freeAddress(used: ReadonlySet<string | undefined>, cursor: Cursor, network: Network): string {
  for (let tries = 0; tries < network.size; tries += 1) {
    const address = textOf(network.base + cursor.address);
    cursor.address = cursor.address + 1 < network.size - 1 ? cursor.address + 1 : FIRST_DYNAMIC_OFFSET;
    if (!used.has(address)) return address;
  }
  throw new Error(`no address of ${network.cidr} is free for another Service`);
}

function textOf(number: number): string {
  return [24, 16, 8, 0].map((shift) => (number >>> shift) & 255).join('.');
}

function inNetwork(address: string, { base, size }: Network): boolean {
  const parts = address.split('.').map(Number);
  if (parts.length !== 4 || parts.some((part) => !Number.isInteger(part) || part < 0 || part > 255))
    return false;
  const number = parts.reduce((sum, part) => sum * 256 + part, 0);
  return number >= base && number < base + size;
}

const ownPorts = (spec: IServiceSpec | undefined): number[] => [
  ...(spec?.ports ?? []).map(({ nodePort }) => nodePort ?? 0),
  spec?.healthCheckNodePort ?? 0,
];

/** The ports of nodes that one write takes; those that the Service has are not taken again. */
class PortAllocation {
  readonly #used: Set<number>;
  readonly #own: ReadonlySet<number>;
  readonly #cursor: Cursor;
  readonly #dryRun: boolean;

  constructor(store: Store, others: readonly IServiceSpec[], own: readonly number[], dryRun: boolean) {
    this.#used = new Set(others.flatMap(ownPorts));
    this.#own = new Set(own);
    this.#cursor = cursorOf(store);
    this.#dryRun = dryRun;
  }

  /** Why a port that was asked for cannot be had. A dry run does not look at the range. */
  take(port: number): string | undefined {
    if (!this.#dryRun && (port < NODE_PORT_FIRST || port > NODE_PORT_LAST))
      return `provided port is not in the valid range. The range of valid ports is ${NODE_PORT_FIRST}-${NODE_PORT_LAST}`;
    if (this.#used.has(port) || this.#own.has(port)) return 'provided port is already allocated';
    this.#used.add(port);
    return undefined;
  }

  next(): number {
    for (let tries = NODE_PORT_FIRST; tries <= NODE_PORT_LAST; tries += 1) {
      const port = this.#cursor.port;
      this.#cursor.port = port < NODE_PORT_LAST ? port + 1 : NODE_PORT_FIRST;
      if (this.#used.has(port) || this.#own.has(port)) continue;
      this.#used.add(port);
      return port;
    }
    throw internalError('failed to allocate a nodePort: range is full');
  }
}

function allocateNodePorts(
  service: IService,
  spec: IServiceSpec,
  old: IServiceSpec | undefined,
  allocation: PortAllocation,
): void {
  const allocates = spec.type !== 'LoadBalancer' || spec.allocateLoadBalancerNodePorts !== false;
  const kept = new Set(ownPorts(old));
  const ports = spec.ports ?? [];
  // A new Service has one port on the nodes for each of its ports, whatever the protocols are.
  const byPort = new Map<number, number>();
  for (const [index, port] of ports.entries()) {
    const sharable = old === undefined ? byPort.get(port.port) : undefined;
    const asked =
      port.nodePort ||
      (old === undefined ? ports.find((other) => other.port === port.port && other.nodePort)?.nodePort : 0);
    if (!port.nodePort && !allocates) continue;
    if (!asked) port.nodePort = sharable ?? allocation.next();
    else {
      port.nodePort = asked;
      const isTaken = asked === sharable || kept.has(asked);
      const why = isTaken ? undefined : allocation.take(asked);
      if (why !== undefined)
        throw refusal(service, [invalidValue(`spec.ports[${index}].nodePort`, asked, why)]);
      // Asked for twice, it is one port; whether that may be, validation says.
      kept.add(asked);
    }
    byPort.set(port.port, port.nodePort);
  }
}

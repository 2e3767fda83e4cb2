/** Gives Services their cluster addresses and node ports. */

import type { IService } from 'kubernetes-models/v1/Service';
import type { IServiceSpec } from 'kubernetes-models/v1/ServiceSpec';
import { invalid } from '../../../api/errors.ts';
import { invalidValue } from '../../../api/fault.ts';
import { typed } from '../../../api/typed.ts';
import type { Store } from '../../../store/store.ts';
import { isHeadless, reachableFromOutside } from './default-service.ts';

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

/** Fills in addresses, families and ports of a new or changed Service; throws a 422 when one asked for is not free. */
export function allocateService(service: IService, store: Store, dryRun: boolean): void {
  const { spec } = service;
  if (!spec) return;
  if (spec.type === 'ExternalName') {
    for (const key of ['clusterIP', 'clusterIPs', 'ipFamilies', 'ipFamilyPolicy'] as const) delete spec[key];
    return;
  }
  const others = otherServices(service, store);
  if (isHeadless(spec)) spec.clusterIPs = ['None'];
  else allocateAddress(service, spec, others, store, dryRun);
  defaultFamilies(spec);
  if (reachableFromOutside(spec)) allocateNodePorts(service, spec, others, store, dryRun);
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
      throw invalid({ group: '', kind: 'Service' }, service.metadata?.name ?? '', [
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

function defaultFamilies(spec: IServiceSpec): void {
  // A headless Service without selector has no addresses of its own, so any family may be written into its slices.
  const anyFamily = isHeadless(spec) && !spec.selector;
  spec.ipFamilyPolicy ??= anyFamily ? 'RequireDualStack' : 'SingleStack';
  spec.ipFamilies ??= anyFamily ? ['IPv4', 'IPv6'] : ['IPv4'];
}

function allocateNodePorts(
  service: IService,
  spec: IServiceSpec,
  others: readonly IServiceSpec[],
  store: Store,
  dryRun: boolean,
): void {
  if (spec.type === 'LoadBalancer' && spec.allocateLoadBalancerNodePorts === false) return;
  const used = new Set(others.flatMap((other) => (other.ports ?? []).map((port) => port.nodePort)));
  const faults = (spec.ports ?? []).flatMap(({ nodePort }, index) => {
    const why = nodePort ? portRefusal(nodePort, used, dryRun) : undefined;
    return why === undefined ? [] : [invalidValue(`spec.ports[${index}].nodePort`, nodePort, why)];
  });
  if (faults.length > 0)
    throw invalid({ group: '', kind: 'Service' }, service.metadata?.name ?? '', faults.slice(0, 1));
  const cursor = cursorOf(store);
  for (const port of spec.ports ?? []) {
    if (port.nodePort) {
      used.add(port.nodePort);
      continue;
    }
    for (let tries = 0; tries <= NODE_PORT_LAST - NODE_PORT_FIRST && !port.nodePort; tries += 1) {
      const candidate = cursor.port;
      cursor.port = cursor.port < NODE_PORT_LAST ? cursor.port + 1 : NODE_PORT_FIRST;
      if (!used.has(candidate)) port.nodePort = candidate;
    }
    used.add(port.nodePort);
  }
}

/** Why a port that was asked for cannot be had. A dry run does not look at the range. */
function portRefusal(
  port: number,
  used: ReadonlySet<number | undefined>,
  dryRun: boolean,
): string | undefined {
  if (!dryRun && (port < NODE_PORT_FIRST || port > NODE_PORT_LAST))
    return `provided port is not in the valid range. The range of valid ports is ${NODE_PORT_FIRST}-${NODE_PORT_LAST}`;
  return used.has(port) ? 'provided port is already allocated' : undefined;
}

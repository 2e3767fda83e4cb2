/** IPv4 subnets and who has which address in them. Pure. */
import { InvalidRequestError } from '../errors.ts';

export interface Subnet {
  /** For example `10.79.0.0/24`. */
  readonly cidr: string;
  readonly prefix: number;
  readonly first: number;
  readonly last: number;
}

/** Reads `10.79.0.0/24`. Only private ranges, and only sizes that hold a few hosts, are accepted. */
export function parseSubnet(cidr: string): Subnet {
  const match = /^(\d{1,3}(?:\.\d{1,3}){3})\/(\d{1,2})$/.exec(cidr);
  const prefix = Number(match?.[2]);
  const network = match?.[1] === undefined ? undefined : toNumber(match[1]);
  if (network === undefined || prefix < 8 || prefix > 29)
    throw new InvalidRequestError(`subnet "${cidr}" is not like "10.79.0.0/24" (prefix 8 to 29).`);
  const size = 2 ** (32 - prefix);
  if (network % size !== 0)
    throw new InvalidRequestError(
      `subnet "${cidr}" has host bits set; "${toAddress(network - (network % size))}/${prefix}" is meant?`,
    );
  if (!isPrivate(network) || !isPrivate(network + size - 1))
    throw new InvalidRequestError(`subnet "${cidr}" is not a private range (10/8, 172.16/12, 192.168/16).`);
  return { cidr, prefix, first: network + 1, last: network + size - 2 };
}

/** The address of the bridge itself: the first of the subnet. */
export function gateway(subnet: Subnet): string {
  return toAddress(subnet.first);
}

/** A free address: the requested one, or the lowest. */
export function allocateAddress(subnet: Subnet, taken: ReadonlySet<string>, requested?: string): string {
  if (requested !== undefined) {
    const number = toNumber(requested);
    if (number === undefined || number <= subnet.first || number > subnet.last)
      throw new InvalidRequestError(`address "${requested}" is not a host address of ${subnet.cidr}.`);
    if (taken.has(requested)) throw new InvalidRequestError(`address "${requested}" is taken already.`);
    return requested;
  }
  for (let number = subnet.first + 1; number <= subnet.last; number++) {
    const address = toAddress(number);
    if (!taken.has(address)) return address;
  }
  throw new InvalidRequestError(`subnet ${subnet.cidr} is full: choose a larger one.`);
}

function toNumber(address: string): number | undefined {
  const parts = address.split('.').map(Number);
  if (parts.length !== 4 || parts.some((part) => !Number.isInteger(part) || part < 0 || part > 255))
    return undefined;
  return parts.reduce((sum, part) => sum * 256 + part, 0);
}

function toAddress(number: number): string {
  return [24, 16, 8, 0].map((shift) => Math.floor(number / 2 ** shift) % 256).join('.');
}

function isPrivate(number: number): boolean {
  const [a = 0, b = 0] = toAddress(number).split('.').map(Number);
  return a === 10 || (a === 172 && b >= 16 && b <= 31) || (a === 192 && b === 168);
}

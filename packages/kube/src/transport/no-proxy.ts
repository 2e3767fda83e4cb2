/** Subnets in NO_PROXY, which clusters use and Node does not support (it supports names, addresses and ranges). Pure. */
import { BlockList, isIP, isIPv6 } from 'node:net';

export function isExempt(host: string, env: Readonly<Record<string, string | undefined>>): boolean {
  if (isIP(host) === 0) return false;
  const exempt = new BlockList();
  for (const entry of `${env['NO_PROXY'] ?? ''},${env['no_proxy'] ?? ''}`.split(/[\s,]+/)) {
    const [address = '', bits = ''] = entry.split('/');
    const longest = isIPv6(address) ? 128 : 32;
    // Node handles entries that are not subnets.
    if (isIP(address) !== 0 && /^\d{1,3}$/.test(bits) && Number(bits) <= longest)
      exempt.addSubnet(address, Number(bits), family(address));
  }
  return exempt.check(host, family(host));
}

const family = (address: string) => (isIPv6(address) ? 'ipv6' : 'ipv4');

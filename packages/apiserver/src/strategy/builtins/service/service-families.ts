/** Addresses, families and family policy of a Service, on a server that has addresses of the fourth version alone. */
import { isIP } from 'node:net';
import type { IServiceSpec } from 'kubernetes-models/v1/ServiceSpec';
import type { FieldFault } from '../../../api/errors.ts';
import { duplicate, invalidValue, notSupported, required } from '../../../api/fault.ts';
import { equal } from '../../../api/json.ts';
import { isHeadless } from './default-service.ts';

const POLICY = 'spec.ipFamilyPolicy';
const FAMILIES = 'spec.ipFamilies';
const ADDRESSES = 'spec.clusterIPs';
const CONFIGURED = 'IPv4';

/** Fills in what is missing. Faults found here are told alone: nothing else of the Service is looked at. */
export function initFamilies(spec: IServiceSpec, old: IServiceSpec | undefined): FieldFault[] {
  if (spec.type === 'ExternalName' || staysDualByPreference(spec, old)) return [];
  const hasAnyFamily = spec.clusterIP === 'None' && Object.keys(spec.selector ?? {}).length === 0;
  spec.ipFamilyPolicy ??= old?.ipFamilyPolicy ?? (hasAnyFamily ? 'RequireDualStack' : 'SingleStack');
  const unreadable = clusterIpFieldFaults(spec);
  if (unreadable.length > 0) return unreadable;

  const faults = old === undefined ? [] : releaseSecond(spec, old);
  if (spec.ipFamilyPolicy === 'SingleStack') faults.push(...secondOfSingleStack(spec));
  for (const [index, address] of (spec.clusterIPs ?? []).entries()) {
    if (address === 'None') break;
    if (spec.ipFamilies?.[index] !== undefined) continue;
    const family = `IPv${isIP(address)}`;
    if (family === CONFIGURED) spec.ipFamilies = [...(spec.ipFamilies ?? []), family];
    else
      faults.push(
        invalidValue(
          `${ADDRESSES}[${index}]`,
          spec.clusterIPs,
          `${family} is not configured on this cluster`,
        ),
      );
  }
  if (faults.length > 0) return faults;

  if (hasAnyFamily) {
    const [first = CONFIGURED, second] = spec.ipFamilies ?? [];
    const other = first === 'IPv4' ? 'IPv6' : 'IPv4';
    spec.ipFamilies = spec.ipFamilyPolicy === 'SingleStack' ? [first] : [first, second ?? other];
    return [];
  }
  if (spec.ipFamilyPolicy === 'RequireDualStack')
    faults.push(
      invalidValue(POLICY, spec.ipFamilyPolicy, 'this cluster is not configured for dual-stack services'),
    );
  for (const [index, family] of (spec.ipFamilies ?? []).entries())
    if (family !== CONFIGURED)
      faults.push(invalidValue(`${FAMILIES}[${index}]`, family, 'not configured on this cluster'));
  if (faults.length === 0 && !spec.ipFamilies?.length) spec.ipFamilies = [CONFIGURED];
  return faults;
}

/** A Service that prefers two families keeps those it has until one of its fields is changed. */
function staysDualByPreference(spec: IServiceSpec, old: IServiceSpec | undefined): boolean {
  if (old === undefined || old.type === 'ExternalName') return false;
  return (
    [spec, old].every(({ ipFamilyPolicy }) => ipFamilyPolicy === 'PreferDualStack') &&
    equal([spec.clusterIPs, spec.ipFamilies], [old.clusterIPs, old.ipFamilies])
  );
}

/** The second address and family go when the policy turns to one family, and only then. */
function releaseSecond(spec: IServiceSpec, old: IServiceSpec): FieldFault[] {
  if (spec.ipFamilyPolicy === 'SingleStack') {
    if (equal(spec.clusterIPs, old.clusterIPs)) spec.clusterIPs = spec.clusterIPs?.slice(0, 1);
    if (equal(spec.ipFamilies, old.ipFamilies)) spec.ipFamilies = spec.ipFamilies?.slice(0, 1);
    for (const key of ['clusterIPs', 'ipFamilies'] as const) if (spec[key] === undefined) delete spec[key];
    return [];
  }
  const isReduced = (now: readonly string[] = [], before: readonly string[] = []) =>
    now.length > 0 && now.length < before.length;
  const faults: FieldFault[] = [];
  if (isReduced(spec.clusterIPs, old.clusterIPs))
    faults.push(
      invalidValue(POLICY, spec.ipFamilyPolicy, "must be 'SingleStack' to release the secondary cluster IP"),
    );
  if (isReduced(spec.ipFamilies, old.ipFamilies))
    faults.push(
      invalidValue(POLICY, spec.ipFamilyPolicy, "must be 'SingleStack' to release the secondary IP family"),
    );
  return faults;
}

function secondOfSingleStack(spec: IServiceSpec): FieldFault[] {
  const policies = "must be 'RequireDualStack' or 'PreferDualStack' when multiple";
  return [
    ...(spec.clusterIPs?.length === 2 ? ['cluster IPs'] : []),
    ...(spec.ipFamilies?.length === 2 ? ['IP families'] : []),
  ].map((what) => invalidValue(POLICY, spec.ipFamilyPolicy, `${policies} ${what} are specified`));
}

/** What is wrong with these fields whatever the server has. */
export function clusterIpFieldFaults(spec: IServiceSpec): FieldFault[] {
  if (spec.type === 'ExternalName') return [];
  const faults: FieldFault[] = [];
  const addresses = spec.clusterIPs ?? [];
  if (spec.clusterIP) {
    if (addresses.length === 0) faults.push(required(ADDRESSES));
    else if (addresses[0] !== spec.clusterIP)
      faults.push(invalidValue(ADDRESSES, addresses, 'first value must match `clusterIP`'));
  } else if (addresses.length > 0)
    faults.push(invalidValue(ADDRESSES, addresses, 'must be empty when `clusterIP` is not specified'));
  const families = spec.ipFamilies ?? [];
  for (const [index, family] of families.entries()) {
    const path = `${FAMILIES}[${index}]`;
    if (!['IPv4', 'IPv6'].includes(family)) faults.push(notSupported(path, family, ['IPv4', 'IPv6']));
    if (families.indexOf(family) < index) faults.push(duplicate(path, family));
  }
  const policies = ['PreferDualStack', 'RequireDualStack', 'SingleStack'];
  if (spec.ipFamilyPolicy && !policies.includes(spec.ipFamilyPolicy))
    faults.push(notSupported(POLICY, spec.ipFamilyPolicy, policies));
  return [...faults, ...addressFaults(addresses, isHeadless(spec) ? [] : families)];
}

const IP_ADDRESS = 'must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)';

/** One address of each family at most, or none at all; each of the family that stands in its place. */
function addressFaults(addresses: readonly string[], families: readonly string[]): FieldFault[] {
  const faults: FieldFault[] = [];
  for (const [index, address] of addresses.entries())
    if (index === 0 && address === 'None') {
      if (addresses.length > 1)
        faults.push(invalidValue(ADDRESSES, addresses, "'None' must be the first and only value"));
    } else if (isIP(address) === 0) faults.push(invalidValue(`${ADDRESSES}[${index}]`, address, IP_ADDRESS));
  const isReadable = faults.length === 0;
  if (addresses.length > 2) faults.push(invalidValue(ADDRESSES, addresses, 'may only hold up to 2 values'));
  if (!isReadable) return faults;
  if (addresses.length > 1 && (addresses.length > 2 || new Set(addresses.map(isIP)).size < 2))
    faults.push(invalidValue(ADDRESSES, addresses, 'may specify no more than one IP for each IP family'));
  for (const [index, family] of families.entries()) {
    const address = addresses[index];
    if (address !== undefined && family !== `IPv${isIP(address)}` && ['IPv4', 'IPv6'].includes(family))
      faults.push(
        invalidValue(
          `${ADDRESSES}[${index}]`,
          address,
          `expected an ${family} value as indicated by \`ipFamilies[${index}]\``,
        ),
      );
  }
  return faults;
}

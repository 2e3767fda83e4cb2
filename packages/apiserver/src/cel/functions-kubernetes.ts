/** Optionals, and what Kubernetes adds: quantities, URLs, IPs, CIDRs, versions and named formats. */
import { QUANTITY_SYNTAX_MESSAGE, Quantity } from '@slurm-operator/kubernetes-values';
import { CelRuntimeError } from './errors.ts';
import { Cidr, Ip } from './ip.ts';
import { namedFormat } from './named-formats.ts';
import { Semver } from './semver.ts';
import { type Overload, overload } from './signature.ts';
import { type CelValue, Format, mapGet, Optional } from './values.ts';

function isZero(value: CelValue): boolean {
  if (value === null || value === '' || value === false || value === 0 || value === 0n) return true;
  if (Array.isArray(value) || value instanceof Uint8Array) return value.length === 0;
  return value instanceof Map && value.size === 0;
}

const optionals: Overload[] = [
  overload('optional.of(A) optional(A)', (a: CelValue) => new Optional(a)),
  overload(
    'optional.ofNonZeroValue(A) optional(A)',
    (a: CelValue) => new Optional(isZero(a) ? undefined : a),
  ),
  overload('optional.none() optional(A)', () => new Optional(undefined)),
  overload('optional(A).hasValue() bool', (a: Optional) => a.value !== undefined),
  overload('optional(A).value() A', (a: Optional) => {
    if (a.value === undefined) throw new CelRuntimeError('optional.none() dereference');
    return a.value;
  }),
  overload('optional(A).or(optional(A)) optional(A)', (a: Optional, b: Optional) =>
    a.value === undefined ? b : a,
  ),
  overload('optional(A).orValue(A) A', (a: Optional, b: CelValue) => a.value ?? b),
  overload(
    '_[?_](list(A), int) optional(A)',
    (list: CelValue[], at: bigint) => new Optional(list[Number(at)]),
  ),
  overload(
    '_[?_](map(A, B), A) optional(B)',
    (map: Map<CelValue, CelValue>, key: CelValue) => new Optional(mapGet(map, key)),
  ),
];

function parsed<T>(value: T | undefined, what: string): T {
  if (value === undefined) throw new CelRuntimeError(what);
  return value;
}

function quantity(text: string): Quantity {
  return parsed(Quantity.parse(text), QUANTITY_SYNTAX_MESSAGE);
}

const quantities: Overload[] = [
  overload('quantity(string) Quantity', quantity),
  overload('isQuantity(string) bool', (a: string) => Quantity.parse(a) !== undefined),
  overload('Quantity.isInteger() bool', (a: Quantity) => a.integer !== undefined),
  overload('Quantity.asInteger() int', (a: Quantity) => parsed(a.integer, 'cannot convert value to integer')),
  overload('Quantity.asApproximateFloat() double', (a: Quantity) => a.approximateNumber),
  overload('Quantity.sign() int', (a: Quantity) => BigInt(a.compare(Quantity.ZERO))),
  overload('Quantity.isGreaterThan(Quantity) bool', (a: Quantity, b: Quantity) => a.compare(b) > 0),
  overload('Quantity.isLessThan(Quantity) bool', (a: Quantity, b: Quantity) => a.compare(b) < 0),
  overload('Quantity.compareTo(Quantity) int', (a: Quantity, b: Quantity) => BigInt(a.compare(b))),
  overload('Quantity.add(Quantity) Quantity', (a: Quantity, b: Quantity) => a.add(b)),
  overload('Quantity.add(int) Quantity', (a: Quantity, b: bigint) => a.add(Quantity.ofInteger(b))),
  overload('Quantity.sub(Quantity) Quantity', (a: Quantity, b: Quantity) => a.subtract(b)),
  overload('Quantity.sub(int) Quantity', (a: Quantity, b: bigint) => a.subtract(Quantity.ofInteger(b))),
];

/** An absolute URI or an absolute path, as a request line may hold. */
function readUrl(text: string): URL | undefined {
  if (!/^(?:[a-zA-Z][a-zA-Z0-9+.-]*:|\/)/.test(text) || /[\s\p{Cc}]/u.test(text)) return undefined;
  return URL.canParse(text, 'relative://') ? new URL(text, 'relative://') : undefined;
}

function host(url: URL): string {
  return url.host === '' || url.protocol === 'relative:' ? '' : url.host;
}

const urls: Overload[] = [
  overload('url(string) URL', (a: string) =>
    parsed(
      readUrl(a),
      `URL parse error during conversion from string: parse "${a}": invalid URI for request`,
    ),
  ),
  overload('isURL(string) bool', (a: string) => readUrl(a) !== undefined),
  overload('URL.getScheme() string', (a: URL) => (a.protocol === 'relative:' ? '' : a.protocol.slice(0, -1))),
  overload('URL.getHost() string', host),
  overload('URL.getHostname() string', (a: URL) =>
    host(a) === '' ? '' : a.hostname.replace(/^\[(.*)\]$/, '$1'),
  ),
  overload('URL.getPort() string', (a: URL) => a.port),
  overload('URL.getEscapedPath() string', (a: URL) => a.pathname),
  overload('URL.getQuery() map(string, list(string))', (a: URL) => {
    const query = new Map<CelValue, CelValue>();
    for (const key of new Set(a.searchParams.keys())) query.set(key, a.searchParams.getAll(key));
    return query;
  }),
];

const networks: Overload[] = [
  overload('ip(string) IP', (a: string) =>
    parsed(Ip.parse(a), `IP Address "${a}" parse error during conversion from string`),
  ),
  overload('isIP(string) bool', (a: string) => Ip.parse(a) !== undefined),
  overload(
    'ip.isCanonical(string) bool',
    (a: string) => parsed(Ip.parse(a), `IP Address "${a}" parse error`).canonical === a,
  ),
  overload('IP.family() int', (a: Ip) => BigInt(a.family)),
  overload('IP.isUnspecified() bool', (a: Ip) => a.isUnspecified),
  overload('IP.isLoopback() bool', (a: Ip) => a.isLoopback),
  overload('IP.isLinkLocalMulticast() bool', (a: Ip) => a.isLinkLocalMulticast),
  overload('IP.isLinkLocalUnicast() bool', (a: Ip) => a.isLinkLocalUnicast),
  overload('IP.isGlobalUnicast() bool', (a: Ip) => a.isGlobalUnicast),
  overload('string(IP) string', (a: Ip) => a.text),
  overload('cidr(string) CIDR', (a: string) =>
    parsed(Cidr.parse(a), `network address parse error during conversion from string: ${a}`),
  ),
  overload('isCIDR(string) bool', (a: string) => Cidr.parse(a) !== undefined),
  overload('CIDR.containsIP(IP) bool', (a: Cidr, b: Ip) => a.containsIp(b)),
  overload('CIDR.containsIP(string) bool', (a: Cidr, b: string) =>
    a.containsIp(parsed(Ip.parse(b), `IP Address "${b}" parse error`)),
  ),
  overload('CIDR.containsCIDR(CIDR) bool', (a: Cidr, b: Cidr) => a.containsCidr(b)),
  overload('CIDR.containsCIDR(string) bool', (a: Cidr, b: string) =>
    a.containsCidr(parsed(Cidr.parse(b), `network address parse error: ${b}`)),
  ),
  overload('CIDR.ip() IP', (a: Cidr) => a.ip),
  overload('CIDR.masked() CIDR', (a: Cidr) => a.masked()),
  overload('CIDR.prefixLength() int', (a: Cidr) => BigInt(a.prefix)),
  overload('string(CIDR) string', (a: Cidr) => a.text),
];

const versions: Overload[] = [
  overload('semver(string) Semver', (a: string) =>
    parsed(Semver.parse(a), `No Major.Minor.Patch elements found`),
  ),
  overload('semver(string, bool) Semver', (a: string, normalize: boolean) =>
    parsed(Semver.parse(a, normalize), 'No Major.Minor.Patch elements found'),
  ),
  overload('isSemver(string) bool', (a: string) => Semver.parse(a) !== undefined),
  overload(
    'isSemver(string, bool) bool',
    (a: string, normalize: boolean) => Semver.parse(a, normalize) !== undefined,
  ),
  overload('Semver.major() int', (a: Semver) => a.numbers[0] ?? 0n),
  overload('Semver.minor() int', (a: Semver) => a.numbers[1] ?? 0n),
  overload('Semver.patch() int', (a: Semver) => a.numbers[2] ?? 0n),
  overload('Semver.isGreaterThan(Semver) bool', (a: Semver, b: Semver) => a.compare(b) > 0),
  overload('Semver.isLessThan(Semver) bool', (a: Semver, b: Semver) => a.compare(b) < 0),
  overload('Semver.compareTo(Semver) int', (a: Semver, b: Semver) => BigInt(a.compare(b))),
];

const formats: Overload[] = [
  overload('format.named(string) optional(Format)', (name: string) => new Optional(namedFormat(name))),
  ...[
    'dns1123Label',
    'dns1123Subdomain',
    'dns1035Label',
    'qualifiedName',
    'labelValue',
    'uri',
    'uuid',
    'byte',
    'date',
    'datetime',
    'dns1123LabelPrefix',
    'dns1123SubdomainPrefix',
    'dns1035LabelPrefix',
  ].map((name) => overload(`format.${name}() Format`, () => namedFormat(name) as Format)),
  overload('Format.validate(string) optional(list(string))', (format: Format, text: string) => {
    const faults = format.faults(text);
    return new Optional(faults.length > 0 ? [...faults] : undefined);
  }),
];

export const kubernetesFunctions: readonly Overload[] = [
  ...optionals,
  ...quantities,
  ...urls,
  ...networks,
  ...versions,
  ...formats,
];

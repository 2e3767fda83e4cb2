/** IP addresses and CIDR blocks, with the questions rules ask about them. */

export class Ip {
  readonly text: string;
  readonly family: 4 | 6;
  readonly bytes: Uint8Array;

  private constructor(text: string, family: 4 | 6, bytes: Uint8Array) {
    this.text = text;
    this.family = family;
    this.bytes = bytes;
  }

  /** Undefined for what is no address; zones and IPv4 in IPv6 are not taken. */
  static parse(text: string): Ip | undefined {
    const four = parse4(text);
    if (four) return new Ip(text, 4, four);
    const six = parse6(text);
    return six && new Ip(text, 6, six);
  }

  get isUnspecified(): boolean {
    return this.bytes.every((byte) => byte === 0);
  }

  get isLoopback(): boolean {
    if (this.family === 4) return this.bytes[0] === 127;
    return this.bytes.every((byte, index) => byte === (index === 15 ? 1 : 0));
  }

  get isLinkLocalUnicast(): boolean {
    const [a = 0, b = 0] = this.bytes;
    return this.family === 4 ? a === 169 && b === 254 : a === 0xfe && (b & 0xc0) === 0x80;
  }

  get isLinkLocalMulticast(): boolean {
    const [a = 0, b = 0, c = 0] = this.bytes;
    return this.family === 4 ? a === 224 && b === 0 && c === 0 : a === 0xff && (b & 0x0f) === 0x02;
  }

  get isGlobalUnicast(): boolean {
    const isMulticast = this.family === 4 ? (this.bytes[0] ?? 0) >> 4 === 14 : this.bytes[0] === 0xff;
    const isBroadcast = this.family === 4 && this.bytes.every((byte) => byte === 255);
    return !(isMulticast || isBroadcast || this.isUnspecified || this.isLoopback || this.isLinkLocalUnicast);
  }

  get canonical(): string {
    if (this.family === 4) return this.bytes.join('.');
    return new URL(`http://[${this.text}]`).hostname.slice(1, -1);
  }
}

export class Cidr {
  readonly text: string;
  readonly ip: Ip;
  readonly prefix: number;

  private constructor(text: string, ip: Ip, prefix: number) {
    this.text = text;
    this.ip = ip;
    this.prefix = prefix;
  }

  static parse(text: string): Cidr | undefined {
    const match = /^(.+)\/(0|[1-9]\d{0,2})$/.exec(text);
    const ip = match && Ip.parse(match[1] ?? '');
    if (!ip) return undefined;
    const prefix = Number(match[2]);
    return prefix <= ip.bytes.length * 8 ? new Cidr(text, ip, prefix) : undefined;
  }

  containsIp(ip: Ip): boolean {
    if (ip.family !== this.ip.family) return false;
    return mask(ip.bytes, this.prefix).every(
      (byte, index) => byte === mask(this.ip.bytes, this.prefix)[index],
    );
  }

  containsCidr(other: Cidr): boolean {
    return other.prefix >= this.prefix && this.containsIp(other.ip);
  }

  masked(): Cidr {
    const bytes = mask(this.ip.bytes, this.prefix);
    const text = this.ip.family === 4 ? bytes.join('.') : (Ip.parse(show6(bytes))?.canonical ?? '');
    return Cidr.parse(`${text}/${this.prefix}`) ?? this;
  }
}

function mask(bytes: Uint8Array, prefix: number): Uint8Array {
  return bytes.map((byte, index) => {
    const bits = Math.min(8, Math.max(0, prefix - index * 8));
    return byte & (0xff << (8 - bits)) & 0xff;
  });
}

function parse4(text: string): Uint8Array | undefined {
  const parts = text.split('.');
  if (parts.length !== 4) return undefined;
  if (!parts.every((part) => /^(0|[1-9]\d{0,2})$/.test(part) && Number(part) <= 255)) return undefined;
  return Uint8Array.from(parts, Number);
}

function parse6(text: string): Uint8Array | undefined {
  const halves = text.split('::');
  if (halves.length > 2) return undefined;
  const groups = halves.map((half) => (half === '' ? [] : half.split(':')));
  const given = groups.flat();
  if (!given.every((group) => /^[0-9a-fA-F]{1,4}$/.test(group))) return undefined;
  if (halves.length === 1 ? given.length !== 8 : given.length > 7) return undefined;
  const zeros = Array.from({ length: 8 - given.length }, () => '0');
  const all = halves.length === 1 ? given : [...(groups[0] ?? []), ...zeros, ...(groups[1] ?? [])];
  return Uint8Array.from(
    all.flatMap((group) => [Number.parseInt(group, 16) >> 8, Number.parseInt(group, 16) & 0xff]),
  );
}

function show6(bytes: Uint8Array): string {
  const groups: string[] = [];
  for (let at = 0; at < 16; at += 2)
    groups.push((((bytes[at] ?? 0) << 8) | (bytes[at + 1] ?? 0)).toString(16));
  return groups.join(':');
}

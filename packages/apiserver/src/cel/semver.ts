/** Semantic versions. */
const written =
  /^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(?:-((?:0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*)(?:\.(?:0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*))*))?(?:\+([0-9a-zA-Z-]+(?:\.[0-9a-zA-Z-]+)*))?$/;

export class Semver {
  readonly numbers: readonly bigint[];
  readonly prerelease: readonly string[];

  private constructor(numbers: readonly bigint[], prerelease: readonly string[]) {
    this.numbers = numbers;
    this.prerelease = prerelease;
  }

  /** With `normalize`, a leading v, missing parts and leading zeros are forgiven. */
  static parse(text: string, normalize = false): Semver | undefined {
    const match = written.exec(normalize ? normalized(text) : text);
    if (!match) return undefined;
    return new Semver(
      match.slice(1, 4).map((part) => BigInt(part ?? '0')),
      match[4]?.split('.') ?? [],
    );
  }

  compare(other: Semver): number {
    for (const [index, number] of this.numbers.entries()) {
      const theirs = other.numbers[index] ?? 0n;
      if (number !== theirs) return number < theirs ? -1 : 1;
    }
    if (this.prerelease.length === 0 || other.prerelease.length === 0)
      return Math.sign(other.prerelease.length - this.prerelease.length);
    return comparePrerelease(this.prerelease, other.prerelease);
  }
}

function normalized(text: string): string {
  const [core = '', ...rest] = text.replace(/^v/, '').split(/(?=[-+])/);
  const parts = core.split('.').map((part) => part.replace(/^0+(?=\d)/, ''));
  while (parts.length < 3) parts.push('0');
  return parts.join('.') + rest.join('');
}

function comparePrerelease(a: readonly string[], b: readonly string[]): number {
  for (let index = 0; index < Math.max(a.length, b.length); index += 1) {
    const [x, y] = [a[index], b[index]];
    if (x === undefined || y === undefined) return x === undefined ? -1 : 1;
    if (x === y) continue;
    const [xIsNumber, yIsNumber] = [/^\d+$/.test(x), /^\d+$/.test(y)];
    if (xIsNumber && yIsNumber) return BigInt(x) < BigInt(y) ? -1 : 1;
    if (xIsNumber !== yIsNumber) return xIsNumber ? -1 : 1;
    return x < y ? -1 : 1;
  }
  return 0;
}

/** One Debian package file, exactly. */
export interface DebPackage {
  readonly name: string;
  readonly version: string;
  readonly architecture: string;
  /** The name of its file, as apt writes it. */
  readonly file: string;
  readonly size: number;
  /** As the signed package list has it, for example `SHA256:…`. */
  readonly hash: string;
}

/** Reads what `apt-get install --print-uris` prints; sorted by name, so that two runs give the same list. */
export function parsePrintUris(output: string): DebPackage[] {
  const packages: DebPackage[] = [];
  for (const line of output.split('\n')) {
    const match = /^'[^']+' (?<file>\S+\.deb) (?<size>\d+) (?<hash>\S+)$/.exec(line.trim());
    if (match?.groups === undefined) continue;
    const { file = '', size = '0', hash = '' } = match.groups;
    // Epochs are written as %3a in file names.
    const [name = '', version = '', architecture = ''] = file
      .slice(0, -'.deb'.length)
      .split('_')
      .map((part) => decodeURIComponent(part));
    packages.push({ name, version, architecture, file, size: Number(size), hash });
  }
  return packages.toSorted((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
}

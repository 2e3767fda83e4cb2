export interface InstalledPackage {
  readonly name: string;
  readonly version: string;
  readonly architecture: string;
}

/** The installed packages of a root file system, from its /var/lib/dpkg/status, sorted by name. */
export function debianPackages(status: string): InstalledPackage[] {
  const packages: InstalledPackage[] = [];
  for (const paragraph of status.split(/\n\n+/)) {
    const field = (name: string) => new RegExp(`^${name}: (.*)$`, 'm').exec(paragraph)?.[1] ?? '';
    if (field('Status') !== 'install ok installed') continue;
    packages.push({
      name: field('Package'),
      version: field('Version'),
      architecture: field('Architecture'),
    });
  }
  return packages.toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

import { globSync } from 'node:fs';

/** The tiers of tests, cheapest first. A file belongs to the tier that its name ends with. */
export const tiers = {
  unit: {
    suffix: '.test.ts',
    about: 'pure functions, tables, properties',
    isolation: 'none',
    concurrency: 1,
  },
  integration: {
    suffix: '.integration.test.ts',
    about: 'servers on loopback, no root',
    isolation: 'process',
    concurrency: 2,
  },
  sandbox: {
    suffix: '.sandbox.test.ts',
    about: 'root: namespaces, Debian packages, real Slurm',
    isolation: 'process',
    concurrency: 1,
  },
  cluster: {
    suffix: '.cluster.test.ts',
    about: 'root: pods on localcluster or on a given cluster',
    isolation: 'process',
    concurrency: 1,
  },
  vm: {
    suffix: '.vm.test.ts',
    about: 'root: a virtual machine with cgroup v2 (QEMU; KVM where it works)',
    isolation: 'process',
    concurrency: 1,
  },
} as const;

export type Tier = keyof typeof tiers;

const roots = ['packages', 'localcluster', 'demo', 'e2e', 'tools', 'images', 'charts', 'docs'];

export function testFiles(tier: Tier, only = ''): string[] {
  const longer = Object.values(tiers)
    .map((other) => other.suffix)
    .filter((suffix) => suffix !== tiers[tier].suffix && suffix.endsWith(tiers[tier].suffix));
  return globSync(
    roots.map((root) => `${root}/**/*${tiers[tier].suffix}`),
    { exclude: ['**/node_modules/**', '**/testdata/**'] },
  )
    .filter((file) => !longer.some((suffix) => file.endsWith(suffix)))
    .filter((file) => file.includes(only))
    .toSorted();
}

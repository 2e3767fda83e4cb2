/** What a release says about itself: for people, and for programs. */
import type { ReleasedPlugin } from './package-plugin.ts';
import { isPrerelease, ReleaseError, type ReleaseRequest } from './request.ts';

export interface ReleasedImage {
  /** Below the registry, for example `slurm-operator/slurmd`. */
  readonly repository: string;
  /** What the charts ask for, for example `26.05`. It moves with each release. */
  readonly tag: string;
  /** A tag of this release alone: it keeps the digest from being collected as garbage. */
  readonly releaseTag: string;
  /** Of the index of all architectures. */
  readonly digest: string;
  readonly platforms: Readonly<Record<string, string>>;
}

export interface ReleasedChart {
  readonly name: string;
  /** The file, below `charts/`. */
  readonly file: string;
  readonly sha256: string;
}

export interface Release {
  readonly version: string;
  readonly commit: string;
  readonly registry: string;
  readonly images: readonly ReleasedImage[];
  readonly charts: readonly ReleasedChart[];
  readonly plugin: ReleasedPlugin;
}

export const chartRepository = (registry: string): string => `oci://${registry}/charts`;

/** The digests of a release, as the charts look them up: by repository and tag, for the registry of the release. */
export function digestsFile(registry: string, images: readonly ReleasedImage[]): string {
  const digests = Object.fromEntries(
    images.flatMap(({ repository, tag, releaseTag, digest }) =>
      [...new Set([tag, releaseTag])].map((name) => [`${repository}:${name}`, digest]),
    ),
  );
  return `${JSON.stringify({ registry, digests }, undefined, 2)}\n`;
}

export function releaseNotes(
  { version, registry, images, charts, plugin, commit }: Release,
  changes: string,
  { architectures }: Pick<ReleaseRequest, 'architectures'>,
): string {
  const rows = images.map(
    ({ repository, tag, digest }) => `| \`${registry}/${repository}:${tag}\` | \`${digest}\` |`,
  );
  return `# slurm-operator ${version}

\`\`\`console
$ helm install slurm-operator-crds ${chartRepository(registry)}/slurm-operator-crds --version ${version} --namespace slinky --create-namespace
$ helm install slurm-operator ${chartRepository(registry)}/slurm-operator --version ${version} --namespace slinky
$ helm install slurm ${chartRepository(registry)}/slurm --version ${version} --namespace slurm --create-namespace
\`\`\`

${changes}

## Images

For ${architectures.join(' and ')}. The charts name each image by this digest. \`sbom/\` lists the contents of each image (CycloneDX).

| Image | Digest |
|---|---|
${rows.join('\n')}

## kubectl slurm

| File | SHA-256 |
|---|---|
| \`${plugin.file}\` | \`${plugin.sha256}\` |

## Charts

| File | SHA-256 |
|---|---|
${charts.map(({ file, sha256 }) => `| \`${file}\` | \`${sha256}\` |`).join('\n')}

Built from commit ${commit}.
`;
}

/** The text below `## VERSION` (a date may follow). A pre-release without a section of its own has that of "Unreleased". */
export function changelogSection(changelog: string, version: string): string {
  const own = sectionOf(changelog, version);
  if (own !== undefined && own !== '') return own;
  const unreleased = sectionOf(changelog, 'Unreleased') ?? '';
  if (own === undefined && isPrerelease(version) && unreleased !== '') return unreleased;
  throw new ReleaseError(
    own === ''
      ? `The section "## ${version}" of CHANGELOG.md is empty: say what changed for users.`
      : `CHANGELOG.md has no section "## ${version}": rename "## Unreleased" to it, and commit.`,
  );
}

function sectionOf(changelog: string, title: string): string | undefined {
  const lines = changelog.split('\n');
  const heading = (line: string) => /^## \[?(?<title>[^\s\]]+)\]?/.exec(line)?.groups?.['title'];
  const start = lines.findIndex((line) => heading(line) === title);
  if (start < 0) return undefined;
  const rest = lines.slice(start + 1);
  const end = rest.findIndex((line) => line.startsWith('## '));
  return rest
    .slice(0, end < 0 ? undefined : end)
    .join('\n')
    .trim();
}

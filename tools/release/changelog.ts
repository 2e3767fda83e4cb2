/** The part of the changelog that belongs to one version. */
import { isPrerelease, ReleaseError } from './request.ts';

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

/** The section "By reason" of docs/troubleshooting.md, written from the table of reasons. The rest of the page is written by hand. */
import { type ReasonText, reasonGroups, reasons } from '../src/reasons.ts';

const begin =
  '<!-- Generated from packages/api/src/reasons.ts by `make generate`. Edit that file instead. -->\n';
const end = '<!-- End of the generated section. -->';

/** The page with its generated section replaced. */
export function withReasons(page: string): string {
  const [before, rest] = split(page, begin);
  const [, after] = split(rest, end);
  return `${before}${begin}\n${Object.keys(reasonGroups).map(section).join('\n')}\n${end}${after}`;
}

function split(page: string, mark: string): [string, string] {
  const at = page.indexOf(mark);
  if (at === -1) throw new Error(`docs/troubleshooting.md has no line "${mark.trim()}": restore it`);
  return [page.slice(0, at), page.slice(at + mark.length)];
}

function section(group: string): string {
  const rows = Object.entries(reasons)
    .filter(([, text]) => text.group === group)
    .map(([reason, text]) => reasonRow(reason, text));
  return `### ${reasonGroups[group as keyof typeof reasonGroups]}

| Reason | Meaning | What to do |
|---|---|---|
${rows.join('\n')}
`;
}

/** One row of a table of reasons. `root` leads from the page to `docs/`. */
export function reasonRow(reason: string, { meaning, advice }: ReasonText, root = ''): string {
  const link = (text: string) => text.replaceAll(/\]\((?!#)/g, `](${root}`);
  return `| \`${reason}\` | ${link(meaning)} | ${link(advice)} |`;
}

/** The pictures of the folders in docs/architecture.md, and table and plots of docs/performance.md. */
import { readFileSync } from 'node:fs';
import { drawGraph, packageGraphs } from '../../tools/layers/folder-graph.ts';
import { type Figures, plots, scaleTable } from './performance.ts';

export function generate(): Promise<ReadonlyMap<string, string>> {
  const pictures = packageGraphs().map(({ name, graph }) => `### \`${name}\`\n\n${drawGraph(graph)}`);
  const figures = JSON.parse(readFileSync('docs/performance/figures.json', 'utf8')) as Figures;
  return Promise.resolve(
    new Map([
      filled('docs/architecture.md', 'folders', pictures.join('\n\n')),
      filled('docs/performance.md', 'scale', scaleTable(figures)),
      ...[...plots(figures)].map(([name, picture]) => [`docs/performance/${name}`, picture] as const),
    ]),
  );
}

/** The page with other content between its two marks. */
function filled(page: string, mark: string, content: string): readonly [string, string] {
  const text = readFileSync(page, 'utf8');
  const [begin, end] = [`<!-- ${mark}: begin -->`, `<!-- ${mark}: end -->`];
  const [from, to] = [text.indexOf(begin), text.indexOf(end)];
  if (from < 0 || to < from) throw new Error(`${page} has no place between ${begin} and ${end}`);
  return [page, `${text.slice(0, from + begin.length)}\n\n${content}\n\n${text.slice(to)}`];
}

/** The pictures of the folders in docs/architecture.md. */
import { readFileSync } from 'node:fs';
import { drawGraph } from '../../tools/layers/draw-graph.ts';
import { packageGraphs } from '../../tools/layers/folder-graph.ts';

const page = 'docs/architecture.md';
const [begin, end] = ['<!-- folders: begin -->', '<!-- folders: end -->'];

export function generate(): Promise<ReadonlyMap<string, string>> {
  const text = readFileSync(page, 'utf8');
  const [from, to] = [text.indexOf(begin), text.indexOf(end)];
  if (from < 0 || to < from)
    throw new Error(`${page} has no place between ${begin} and ${end} for the pictures`);
  const pictures = packageGraphs().map(({ name, graph }) => `### \`${name}\`\n\n${drawGraph(graph)}`);
  const content = `${text.slice(0, from + begin.length)}\n\n${pictures.join('\n\n')}\n\n${text.slice(to)}`;
  return Promise.resolve(new Map([[page, content]]));
}

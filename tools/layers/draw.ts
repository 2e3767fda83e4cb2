/** Prints the folders of each package as pictures: `node tools/layers/draw.ts [REVISION]`; folders inside folders count to the outer one. */
import { execFileSync } from 'node:child_process';
import { cycles, drawGraph, folderGraph, isFile } from './folder-graph.ts';
import { source } from './sources.ts';

const [revision = 'HEAD'] = process.argv.slice(2);
const git = (...args: string[]) =>
  execFileSync('git', args, { encoding: 'utf8', maxBuffer: 512 * 1024 * 1024 });
const sources = git('ls-tree', '-r', '--name-only', revision)
  .split('\n')
  .filter((file) => /^(?:packages\/)?[^/]+\/src\/.*\.tsx?$/.test(file) && !file.includes('/testdata/'))
  .map((file) => source(file, git('show', `${revision}:${file}`)));

for (const root of new Set(sources.map(({ file }) => /^.*?\/src/.exec(file)?.[0] ?? ''))) {
  const graph = folderGraph(root, sources, []);
  if ([...graph.keys()].filter((node) => !isFile(node)).length < 2) continue;
  const groups = cycles(graph).map((group) => group.join(', '));
  console.log(`### \`${root.slice(0, -'/src'.length)}\`\n`);
  if (groups.length > 0) console.log(`In a cycle: ${groups.join('; ')}.\n`);
  console.log(`${drawGraph(graph)}\n`);
}

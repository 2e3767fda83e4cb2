/** Prints lines per file for each package: `node tools/layers/sizes.ts [REVISION]`. Generated and recorded files are left out. */
import { execFileSync } from 'node:child_process';
import { table } from '../targets/terminal.ts';
import { fileSizes } from './file-sizes.ts';

const [revision = 'HEAD'] = process.argv.slice(2);
const git = (...args: string[]) =>
  execFileSync('git', args, { encoding: 'utf8', maxBuffer: 512 * 1024 * 1024 });
const files = git('ls-tree', '-r', '--name-only', revision)
  .split('\n')
  .filter((file) => /\.tsx?$/.test(file) && !/\/(?:generated|testdata)\//.test(file));
const lines = new Map(
  files.map((file) => [file, git('show', `${revision}:${file}`).split('\n').length - 1] as const),
);
const { head, lines: rows } = table(
  ['package', 'files', 'median', 'p90', 'max', '< 30'],
  fileSizes(lines).map(([name, { files: count, median, p90, max, percentBelow30 }]) => [
    name,
    count,
    median,
    p90,
    max,
    `${percentBelow30} %`,
  ]),
);
console.log([head, ...rows].join('\n'));

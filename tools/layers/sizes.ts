/** Prints lines per file for each package: `node tools/layers/sizes.ts [REVISION]`. Generated and recorded files are left out. */
import { execFileSync } from 'node:child_process';
import { fileSizes, type SizeSummary } from './file-sizes.ts';

const [revision = 'HEAD'] = process.argv.slice(2);
const git = (...args: string[]) =>
  execFileSync('git', args, { encoding: 'utf8', maxBuffer: 512 * 1024 * 1024 });
const files = git('ls-tree', '-r', '--name-only', revision)
  .split('\n')
  .filter((file) => /\.tsx?$/.test(file) && !/\/(?:generated|testdata)\//.test(file));
const lines = new Map(
  files.map((file) => [file, git('show', `${revision}:${file}`).split('\n').length - 1] as const),
);
const row = (name: string, summary: SizeSummary) =>
  `${name.padEnd(28)}${[summary.files, summary.median, summary.p90, summary.max]
    .map((figure) => String(figure).padStart(8))
    .join('')}${`${summary.percentBelow30} %`.padStart(10)}`;

console.log(
  `${'package'.padEnd(28)}${['files', 'median', 'p90', 'max'].map((title) => title.padStart(8)).join('')}${'< 30'.padStart(10)}`,
);
for (const [name, summary] of fileSizes(lines)) console.log(row(name, summary));

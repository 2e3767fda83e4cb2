/**
 * `make generate`: writes all generated files. With `--check`: writes nothing and fails on the first drift.
 * A generator is a module `packages/<name>/generate/index.ts` (or `charts/generate/index.ts` …) that exports
 * `generate(): Promise<Map<path from the repository root, content>>`.
 */
import { globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { green, red } from './terminal.ts';

interface Generator {
  generate(): Promise<ReadonlyMap<string, string>>;
}

const checkOnly = process.argv.includes('--check');
const modules = globSync([
  'packages/*/generate/index.ts',
  'charts/generate/index.ts',
  'docs/generate/index.ts',
  'images/generate/index.ts',
]).toSorted();
const drifted: string[] = [];
let files = 0;
for (const module of modules) {
  const { generate } = (await import(resolve(module))) as Generator;
  for (const [path, content] of await generate()) {
    files += 1;
    const current = readOrEmpty(path);
    if (current === content) continue;
    drifted.push(path);
    if (checkOnly) continue;
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, content);
  }
}
if (checkOnly && drifted.length > 0) {
  console.error(
    red(
      `${drifted.length} generated files are not what their sources say; run \`make generate\` and commit:\n  ${drifted.join('\n  ')}`,
    ),
  );
  process.exitCode = 1;
} else {
  console.log(green(`${files} generated files, ${checkOnly ? 'all current' : `${drifted.length} written`}`));
}

function readOrEmpty(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}

/** `make bench BENCH=<name>`: runs `<package>/bench/<name>.bench.ts`, which prints a table and, last, one JSON line. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { globSync } from 'node:fs';
import { basename, join } from 'node:path';
import './end-with-parent.ts';

const found = new Map(
  globSync('{packages/*,localcluster,e2e,operator}/bench/*.bench.ts').map((file) => [
    basename(file, '.bench.ts'),
    file,
  ]),
);
const name = process.env['BENCH'] ?? '';
const file = found.get(name);
if (file === undefined) {
  console.error(
    `BENCH=${name || '(not given)'} names no benchmark; choose one of: ${[...found.keys()].toSorted().join(', ') || '(none yet)'}`,
  );
  process.exit(2);
}

const ending = join(import.meta.dirname, 'end-with-parent.ts');
const child = spawn(process.execPath, ['--expose-gc', `--import=${ending}`, file], { stdio: 'inherit' });
const [code] = (await once(child, 'close')) as [number | null];
process.exitCode = code ?? 1;

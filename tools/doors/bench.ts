/** `make bench BENCH=<name>`: runs `<package>/bench/<name>.bench.ts`, which prints a table and, last, one JSON line. */
import { spawnSync } from 'node:child_process';
import { globSync } from 'node:fs';
import { basename } from 'node:path';

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

process.exitCode = spawnSync(process.execPath, ['--expose-gc', file], { stdio: 'inherit' }).status ?? 1;

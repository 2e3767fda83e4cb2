/**
 * `make bench BENCH=<name>`: runs `<package>/bench/<name>.bench.ts`, which prints a table and, last, one JSON line. What got slower than in
 * the last release (docs/performance/figures.json) is printed after it; FIGURES=write commits the figures of this run instead.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { figuresOf, slowerThan } from '../bench/compare-figures.ts';
import './end-with-parent.ts';
import { dim, yellow } from './terminal.ts';

/** Of the last release. */
interface CommittedFigures {
  readonly release: string;
  readonly benches: Record<string, Record<string, number>>;
}

const figuresFile = 'docs/performance/figures.json';
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
const child = spawn(process.execPath, ['--expose-gc', `--import=${ending}`, file], {
  stdio: ['inherit', 'pipe', 'inherit'],
});
let output = '';
child.stdout.on('data', (chunk: Buffer) => {
  process.stdout.write(chunk);
  // The last line is enough.
  output = (output + chunk.toString('utf8')).slice(-100_000);
});
const [code] = (await once(child, 'close')) as [number | null];
process.exitCode = code ?? 1;
const measured = code === 0 ? figuresOf(output) : undefined;
if (measured !== undefined) compareWithRelease(measured);

function compareWithRelease({ bench, figures }: NonNullable<ReturnType<typeof figuresOf>>): void {
  const committed = JSON.parse(readFileSync(figuresFile, 'utf8')) as CommittedFigures;
  const before = committed.benches[bench] ?? {};
  if (process.env['FIGURES'] === 'write') {
    committed.benches[bench] = { ...before, ...figures };
    writeFileSync(figuresFile, `${JSON.stringify(committed, undefined, 2)}\n`);
    console.log(`written to ${figuresFile}; run make generate`);
    return;
  }
  const slower = slowerThan(before, figures);
  for (const { key, before: was, now, factor } of slower)
    console.log(
      yellow(
        `slower than ${committed.release}: ${key} ${now}, before ${was} (${factor.toFixed(2)} × on this machine)`,
      ),
    );
  if (slower.length === 0)
    console.log(dim(`nothing more than 20 % slower than ${committed.release}, of what was measured then`));
}

/** Bundles the page into a folder: one script, one style sheet, nothing from elsewhere. */
import { copyFile, mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';

const source = join(import.meta.dirname, 'page');

export interface BuiltPage {
  readonly directory: string;
  readonly javascriptGzipBytes: number;
}

export async function buildPage(directory: string): Promise<BuiltPage> {
  await mkdir(directory, { recursive: true });
  await build({
    entryPoints: [join(source, 'main.tsx')],
    outfile: join(directory, 'main.js'),
    bundle: true,
    minify: true,
    format: 'esm',
    target: 'es2022',
    jsx: 'automatic',
    jsxImportSource: 'preact',
    logLevel: 'error',
  });
  for (const file of ['index.html', 'style.css', 'icon.svg'])
    await copyFile(join(source, file), join(directory, file));
  return {
    directory,
    javascriptGzipBytes: gzipSync(await readFile(join(directory, 'main.js')), { level: 9 }).length,
  };
}

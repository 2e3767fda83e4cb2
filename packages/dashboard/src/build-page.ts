/** Bundles the page: one script, one style sheet, nothing from elsewhere. */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';

const source = join(import.meta.dirname, 'page');

export interface PageBundle {
  /** By name: index.html and what it loads. */
  readonly files: ReadonlyMap<string, Buffer>;
  readonly javascriptGzipBytes: number;
  /** The sources that are in it, from the root of the repository. */
  readonly inputs: readonly string[];
}

export async function bundlePage(): Promise<PageBundle> {
  const { outputFiles, metafile } = await build({
    absWorkingDir: join(import.meta.dirname, '../../..'),
    entryPoints: [join(source, 'main.tsx')],
    bundle: true,
    write: false,
    metafile: true,
    minify: true,
    format: 'esm',
    target: 'es2022',
    jsx: 'automatic',
    jsxImportSource: 'preact',
    logLevel: 'error',
  });
  const script = Buffer.from(outputFiles[0]?.contents ?? '');
  const names = ['index.html', 'style.css', 'icon.svg'] as const;
  const rest = await Promise.all(
    names.map(async (name) => [name, await readFile(join(source, name))] as const),
  );
  return {
    files: new Map<string, Buffer>([...rest, ['main.js', script]]),
    javascriptGzipBytes: gzipSync(script, { level: 9 }).length,
    inputs: Object.keys(metafile.inputs).toSorted(),
  };
}

/** Writes the page into a folder. */
export async function buildPage(directory: string): Promise<PageBundle> {
  const page = await bundlePage();
  await mkdir(directory, { recursive: true });
  for (const [name, content] of page.files) await writeFile(join(directory, name), content);
  return page;
}

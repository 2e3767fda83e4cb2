/**
 * kubectl-slurm as one file for Node 22 or later. Its programs are in it as compressed texts: one that every command loads, and others that
 * are unpacked only for doctor, plan, diff or dashboard. Help, which people read most, loads none of them.
 */
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync, constants } from 'node:zlib';
import { bundlePage } from '@slurm-operator/dashboard/build-page';
import { build, type Metafile, type Plugin, transform } from 'esbuild';
import { commandHelp, overview } from './command-line/help.ts';
import { commands } from './commands/index.ts';

const entry = 'main.js';
const repository = fileURLToPath(new URL('../../../', import.meta.url));

/** The plugin only opens WebSockets, without compression. */
const withoutServer: Plugin = {
  name: 'ws without its server',
  setup({ onLoad }) {
    onLoad({ filter: /\/ws\/lib\/(websocket-server|stream|permessage-deflate)\.js$/ }, () => ({
      contents: 'module.exports = class {}; module.exports.extensionName = "permessage-deflate";',
      loader: 'js',
    }));
  },
};

export interface CliBundle {
  readonly content: string;
  readonly inputs: readonly string[];
  /** Bytes of all parts before they are compressed: programs, and files of the page. */
  readonly unpacked: number;
  /** Bytes of the programs that every command loads. */
  readonly atStart: number;
}

export { completionScript } from './command-line/completion.ts';

/** `version`: of a release; by default that of the sources. */
export async function bundleCli(version?: string): Promise<CliBundle> {
  const page = await bundlePage();
  const define: Record<string, string> =
    version === undefined ? {} : { PLUGIN_VERSION: JSON.stringify(version) };
  const { outputFiles, metafile } = await build({
    absWorkingDir: repository,
    entryPoints: ['packages/cli/src/main.ts'],
    outdir: '.',
    bundle: true,
    write: false,
    metafile: true,
    platform: 'node',
    format: 'esm',
    splitting: true,
    chunkNames: '[hash]',
    target: 'node22',
    minify: true,
    charset: 'utf8',
    legalComments: 'none',
    // Of the two forms of the package, the one whose unused parts can be left out.
    alias: {
      yaml: fileURLToPath(new URL('node_modules/yaml/browser/dist/index.js', `file://${repository}`)),
    },
    plugins: [withoutServer],
    define,
    // Optional accelerators of ws, which are not installed.
    external: ['bufferutil', 'utf-8-validate'],
    logLevel: 'silent',
  });
  const parts = new Map<string, Buffer>();
  const reached = reachable(metafile, entry);
  for (const { path, text } of outputFiles) {
    if (!reached.has(basename(path))) continue;
    // Functions of one file can be loaded as text, when they are needed; modules cannot.
    const { code } = await transform(text, {
      format: 'cjs',
      target: 'node22',
      minify: true,
      charset: 'utf8',
      supported: { 'dynamic-import': false },
    });
    parts.set(`./${basename(path)}`, Buffer.from(code));
  }
  for (const [name, content] of page.files) parts.set(`page/${name}`, content);
  const bytes = (names: Iterable<string>): number =>
    [...names].reduce((sum, name) => sum + (parts.get(name)?.length ?? 0), 0);
  return {
    content: fileOf(Object.fromEntries([...parts].map(([name, content]) => [name, pack(content)]))),
    inputs: [...new Set([...inputsOf(metafile, reached), ...page.inputs])].toSorted(),
    unpacked: bytes(parts.keys()),
    atStart: bytes([...reachable(metafile, entry, ['dynamic-import'])].map((name) => `./${name}`)),
  };
}

/** What is only imported by functions that were left out is still among the outputs. */
function reachable(
  { outputs }: Metafile,
  from: string,
  without: readonly string[] = [],
): ReadonlySet<string> {
  const reached = new Set([from]);
  for (const name of reached)
    for (const { path, external, kind } of outputs[name]?.imports ?? [])
      if (external !== true && !without.includes(kind)) reached.add(path);
  return reached;
}

const inputsOf = ({ outputs }: Metafile, reached: ReadonlySet<string>): readonly string[] =>
  [...reached].flatMap((name) => Object.keys(outputs[name]?.inputs ?? {}));

const pack = (content: Buffer): string =>
  brotliCompressSync(content, {
    params: { [constants.BROTLI_PARAM_SIZE_HINT]: content.length },
  }).toString('base64');

/** Help by the words of a command; the overview under the empty name. */
const helpTexts = (): Readonly<Record<string, string>> =>
  Object.fromEntries([
    ['', overview(commands)],
    ...commands.map((command) => [command.name, commandHelp(command)] as const),
  ]);

function fileOf(parts: Readonly<Record<string, string>>): string {
  // There -h belongs to the program of Slurm.
  const passedOn = commands.filter((command) => command.passesOn === true).map(({ name }) => name);
  return `#!/usr/bin/env node
// kubectl slurm. Sources: packages/cli of slurm-operator (Apache-2.0), with parts of yaml (ISC), ws and preact (MIT).
'use strict';
if (Number(process.versions.node.split('.')[0]) < 22) {
  console.error('kubectl slurm needs Node 22 or later; this is Node ' + process.versions.node + '.');
  process.exit(2);
}
const words = process.argv.slice(2);
const help = ${JSON.stringify(helpTexts())};
const last = words[words.length - 1];
const asks = words.length === 0 || last === '--help' || (last === '-h' && !${JSON.stringify(passedOn)}.includes(words[0]));
const text = asks ? help[words.slice(0, -1).join(' ')] : undefined;
if (text === undefined) run();
else process.stdout.write(text);
function run() {
  const { brotliDecompressSync } = require('node:zlib');
  const { runInThisContext } = require('node:vm');
  const parts = ${JSON.stringify(parts)};
  const modules = {};
  const unpack = (name) => brotliDecompressSync(Buffer.from(parts[name], 'base64'));
  const page = () => Object.keys(parts).filter((name) => name.startsWith('page/')).map((name) => [name.slice(5), unpack(name)]);
  function load(name) {
    if (parts[name] === undefined) return require(name);
    if (modules[name] !== undefined) return modules[name].exports;
    const module = (modules[name] = { exports: {} });
    const wrapped = '(function (require, module, exports, __filename, DASHBOARD_PAGE) {' + unpack(name) + '\\n})';
    runInThisContext(wrapped, { filename: __filename + '/' + name })(load, module, module.exports, __filename, page);
    return module.exports;
  }
  load('./${entry}');
}
`;
}

/**
 * kubectl-slurm as one file for Node 22 or later. The program is in it as compressed text that is unpacked when a command runs: that
 * halves the file, and help, which people read most, appears without loading the program.
 */
import { fileURLToPath } from 'node:url';
import { brotliCompressSync, constants } from 'node:zlib';
import { bundlePage } from '@slurm-operator/dashboard/build-page';
import { build, type Plugin } from 'esbuild';
import { commandHelp, overview } from './command-line/help.ts';
import { commands } from './commands/index.ts';

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
  /** Bytes of the program before it is compressed. */
  readonly unpacked: number;
}

export { completionScript } from './command-line/completion.ts';

/** `version`: of a release; by default that of the sources. */
export async function bundleCli(version?: string): Promise<CliBundle> {
  const page = await bundlePage();
  const { outputFiles, metafile } = await build({
    absWorkingDir: repository,
    entryPoints: ['packages/cli/src/main.ts'],
    bundle: true,
    write: false,
    metafile: true,
    platform: 'node',
    format: 'cjs',
    target: 'node22',
    minify: true,
    charset: 'utf8',
    legalComments: 'eof',
    // Of the two forms of the package, the one whose unused parts can be left out.
    alias: {
      yaml: fileURLToPath(new URL('node_modules/yaml/browser/dist/index.js', `file://${repository}`)),
    },
    plugins: [withoutServer],
    define: {
      ...(version === undefined ? {} : { PLUGIN_VERSION: JSON.stringify(version) }),
      DASHBOARD_PAGE: JSON.stringify(
        Object.fromEntries([...page.files].map(([name, content]) => [name, content.toString('utf8')])),
      ),
    },
    // Optional accelerators of ws, which are not installed.
    external: ['bufferutil', 'utf-8-validate'],
    logLevel: 'silent',
  });
  const [output] = outputFiles;
  if (output === undefined) throw new Error('esbuild made nothing of packages/cli');
  return {
    content: fileOf(output.text),
    inputs: [...new Set([...Object.keys(metafile.inputs), ...page.inputs])].toSorted(),
    unpacked: output.contents.length,
  };
}

/** Help by the words of a command; the overview under the empty name. */
const helpTexts = (): Readonly<Record<string, string>> =>
  Object.fromEntries([
    ['', overview(commands)],
    ...commands.map((command) => [command.name, commandHelp(command)] as const),
  ]);

function fileOf(program: string): string {
  // There -h belongs to the program of Slurm.
  const passedOn = commands.filter((command) => command.passesOn === true).map(({ name }) => name);
  const packed = brotliCompressSync(program, {
    params: { [constants.BROTLI_PARAM_SIZE_HINT]: program.length },
  });
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
  const program = require('node:zlib').brotliDecompressSync(Buffer.from(${JSON.stringify(packed.toString('base64'))}, 'base64')).toString('utf8');
  const load = require('node:vm').runInThisContext('(function (require, module, exports, __filename) {' + program + '\\n})', { filename: __filename });
  load(require, module, exports, __filename);
}
`;
}

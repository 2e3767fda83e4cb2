/** `node packages/cli/src/bundle-main.ts FILE`: writes the plugin as one executable file. */
import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { bundleCli } from './bundle.ts';

const [file] = process.argv.slice(2);
if (file === undefined) {
  console.error('usage: node packages/cli/src/bundle-main.ts FILE');
  process.exit(2);
}
const { content, unpacked, atStart } = await bundleCli();
await mkdir(dirname(file), { recursive: true });
await writeFile(file, content);
await chmod(file, 0o755);
const kilobytes = (bytes: number): string => `${Math.round(bytes / 1024)} kB`;
console.log(
  `${file}: ${kilobytes(Buffer.byteLength(content))}; unpacked ${kilobytes(unpacked)}, of which every command loads ${kilobytes(atStart)}`,
);

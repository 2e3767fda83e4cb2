/** Node for the operator's image: of this machine's kind as npm installed it here, of another as the same registry has it. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { readdir, readFile, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import {
  type BuildOptions,
  cacheDirectory,
  InvalidRequestError,
  publishDirectory,
  runCommand,
} from '@slurm-operator/sandbox';
import { type Architecture, hereArchitecture, machines, nodeVersion } from './operator-files.ts';

export async function nodeBinary(architecture: Architecture, options: BuildOptions): Promise<string> {
  const { runtime } = machines[architecture];
  if (architecture !== hereArchitecture()) return fetched(runtime, options);
  try {
    return createRequire(import.meta.url).resolve(`${runtime}/bin/node`);
  } catch (cause) {
    throw new InvalidRequestError(
      `The package ${runtime} is not installed; run "npm install" on the machine that the image is for.`,
      { cause },
    );
  }
}

/** npm installs no package that is for another machine, but hands out its archive. package-lock.json says what must be in it. */
async function fetched(runtime: string, { progress, signal }: BuildOptions): Promise<string> {
  const wanted = `${runtime}@${nodeVersion}`;
  const directory = await publishDirectory(
    join(cacheDirectory(), 'node', `${runtime}-${nodeVersion}`),
    async (scratch) => {
      progress?.(`fetching ${wanted}`);
      await runCommand(['npm', 'pack', wanted, '--silent', '--pack-destination', scratch], {
        timeoutMs: 15 * 60_000,
        ...(signal === undefined ? {} : { signal }),
      });
      const [archive = ''] = (await readdir(scratch)).filter((name) => name.endsWith('.tgz'));
      const path = join(scratch, archive);
      const found = `sha512-${createHash('sha512')
        .update(await readFile(path))
        .digest('base64')}`;
      if (found !== integrityOf(runtime))
        throw new InvalidRequestError(`${wanted} is not what package-lock.json says: it has ${found}.`);
      await runCommand(['tar', '--extract', '--gzip', '--file', path, '--directory', scratch]);
      await rm(path);
    },
    signal === undefined ? {} : { signal },
  );
  return join(directory, 'package/bin/node');
}

function integrityOf(runtime: string): string | undefined {
  const lock = JSON.parse(readFileSync(new URL('../../../package-lock.json', import.meta.url), 'utf8')) as {
    readonly packages: Readonly<Record<string, { readonly integrity?: string } | undefined>>;
  };
  return lock.packages[`node_modules/${runtime}`]?.integrity;
}

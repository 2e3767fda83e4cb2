/** Debian's docker-registry on loopback, with its content in a scratch directory. */
import { spawn } from 'node:child_process';
import { rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { scratchDirectory, unpackTools, waitUntil } from '@slurm-operator/sandbox';

export interface LocalRegistry extends AsyncDisposable {
  /** Host and port. */
  readonly address: string;
}

/** The account of a registry with `login`, and its bcrypt hash. */
export const registryAccount = { name: 'publisher', password: 'secret' } as const;
const hash = '$2b$05$abcdefghijklmnopqrstuuOQiyCxlgf/oeuTqixKmWdcYUh4Hjl0a';

export async function startLocalRegistry({ login = false } = {}): Promise<LocalRegistry> {
  const tools = await unpackTools({ packages: ['docker-registry'] });
  const directory = scratchDirectory('registry');
  const address = `127.0.0.1:${await freePort()}`;
  const config = join(directory, 'config.json');
  const accounts = join(directory, 'htpasswd');
  await writeFile(accounts, `${registryAccount.name}:${hash}\n`);
  // YAML reads JSON.
  await writeFile(
    config,
    JSON.stringify({
      version: 0.1,
      log: { level: 'error' },
      storage: { filesystem: { rootdirectory: join(directory, 'content') } },
      http: { addr: address },
      ...(login ? { auth: { htpasswd: { realm: 'test', path: accounts } } } : {}),
    }),
  );
  const child = spawn('setpriv', ['--pdeathsig', 'KILL', tools.path('docker-registry'), 'serve', config], {
    env: { PATH: process.env['PATH'] },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let errors = '';
  child.stderr.on('data', (chunk: Buffer) => {
    errors = (errors + chunk.toString()).slice(-2000);
  });
  const ended = new Promise<void>((done) => {
    child.once('close', () => done());
  });
  const stop = async () => {
    child.kill('SIGKILL');
    await ended;
    await rm(directory, { recursive: true, force: true });
  };
  try {
    await waitUntil('docker-registry to answer', async () => {
      if (child.exitCode !== null) throw new Error(`docker-registry ended: ${errors}`);
      return fetch(`http://${address}/v2/`, { signal: AbortSignal.timeout(5000) }).then(
        ({ status }) => status === (login ? 401 : 200),
        () => false,
      );
    });
  } catch (error) {
    await stop();
    throw error;
  }
  return { address, [Symbol.asyncDispose]: stop };
}

function freePort(): Promise<number> {
  return new Promise((done, fail) => {
    const server = createServer();
    server.once('error', fail);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => done(typeof address === 'object' && address !== null ? address.port : 0));
    });
  });
}

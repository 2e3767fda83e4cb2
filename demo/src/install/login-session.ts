/** A person at a login node: ssh with a key of their own, or a password. */
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type CommandResult, runCommand, scratchDirectory, unpackTools } from '@slurm-operator/sandbox';

export interface LoginOptions {
  readonly input?: string;
  /** @default root */
  readonly user?: string;
  /** @default this machine, where a forwarded port is */
  readonly host?: string;
  /** Instead of the key. */
  readonly password?: string;
}

export class LoginKey implements AsyncDisposable {
  readonly publicKey: string;
  readonly #directory: string;
  readonly #ssh: string;

  private constructor(directory: string, publicKey: string, ssh: string) {
    this.#directory = directory;
    this.publicKey = publicKey;
    this.#ssh = ssh;
  }

  /** ssh comes from Debian's archive, so that none need be installed. */
  static async make(): Promise<LoginKey> {
    const tools = await unpackTools({ suite: 'trixie', packages: ['openssh-client'] });
    const directory = scratchDirectory('login');
    const file = join(directory, 'key');
    await runCommand([tools.path('ssh-keygen'), '-q', '-t', 'ed25519', '-N', '', '-C', 'demo', '-f', file]);
    return new LoginKey(directory, await readFile(`${file}.pub`, 'utf8'), tools.path('ssh'));
  }

  async run(port: number, command: string, options: LoginOptions = {}): Promise<CommandResult> {
    const { user = 'root', host = '127.0.0.1', password, ...rest } = options;
    const settings = {
      StrictHostKeyChecking: 'no',
      UserKnownHostsFile: '/dev/null',
      // The message of a PAM module to a refused user is only shown at this level.
      LogLevel: 'INFO',
      BatchMode: password === undefined ? 'yes' : 'no',
      NumberOfPasswordPrompts: '1',
      ConnectTimeout: '20',
    };
    const asking = join(this.#directory, 'askpass');
    if (password !== undefined) await writeFile(asking, `#!/bin/sh\necho '${password}'\n`, { mode: 0o700 });
    return await runCommand(
      [
        this.#ssh,
        '-F',
        'none',
        ...(password === undefined ? ['-i', join(this.#directory, 'key')] : []),
        '-p',
        String(port),
        ...Object.entries(settings).flatMap(([name, value]) => ['-o', `${name}=${value}`]),
        `${user}@${host}`,
        command,
      ],
      {
        timeoutMs: 120_000,
        ...rest,
        ...(password === undefined
          ? {}
          : { env: { ...process.env, SSH_ASKPASS: asking, SSH_ASKPASS_REQUIRE: 'force' } }),
      },
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.#directory, { recursive: true, force: true });
  }
}

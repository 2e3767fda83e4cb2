/** A person at a login node: ssh with a key of their own. */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type CommandResult, runCommand, unpackTools } from '@slurm-operator/sandbox';

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
    const directory = await mkdtemp(join(tmpdir(), 'login-'));
    const file = join(directory, 'key');
    await runCommand([tools.path('ssh-keygen'), '-q', '-t', 'ed25519', '-N', '', '-C', 'demo', '-f', file]);
    return new LoginKey(directory, await readFile(`${file}.pub`, 'utf8'), tools.path('ssh'));
  }

  run(port: number, command: string, options: { readonly input?: string } = {}): Promise<CommandResult> {
    const settings = {
      StrictHostKeyChecking: 'no',
      UserKnownHostsFile: '/dev/null',
      LogLevel: 'ERROR',
      BatchMode: 'yes',
      ConnectTimeout: '20',
    };
    return runCommand(
      [
        this.#ssh,
        '-F',
        'none',
        '-i',
        join(this.#directory, 'key'),
        '-p',
        String(port),
        ...Object.entries(settings).flatMap(([name, value]) => ['-o', `${name}=${value}`]),
        'root@127.0.0.1',
        command,
      ],
      { timeoutMs: 120_000, ...options },
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.#directory, { recursive: true, force: true });
  }
}

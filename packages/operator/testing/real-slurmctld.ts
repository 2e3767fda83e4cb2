/** A real slurmctld that is asked what it makes of a slurm.conf. Needs root. */
import { randomBytes } from 'node:crypto';
import { buildImage, type SlurmVersion } from '@slurm-operator/images';
import { type Box, createSandbox, type Sandbox } from '@slurm-operator/sandbox';

/** What it needs to run at all in a box of its own. */
const base = (directory: string) => `ClusterName=parse
SlurmUser=slurm
SlurmctldHost=parse(127.0.0.1)
SlurmctldPidFile=${directory}/pid
StateSaveLocation=${directory}/state
AuthType=auth/slurm
CredType=cred/slurm
AuthInfo=use_client_ids
AccountingStorageType=accounting_storage/none
`;

/** Tries one file: its words when it refuses it, otherwise what `scontrol show config` says. */
const script = `set -u
dir=$1
mkdir -p "$dir/state"
export SLURM_CONF="$dir/slurm.conf"
slurmctld -D -f "$SLURM_CONF" >"$dir/log" 2>&1 &
pid=$!
for _ in $(seq 400); do
  if ! kill -0 "$pid" 2>/dev/null; then echo REFUSED; tail -n 3 "$dir/log"; exit 0; fi
  if grep -q 'Running as primary controller' "$dir/log"; then
    scontrol show config
    kill -KILL "$pid"; wait "$pid" 2>/dev/null
    exit 0
  fi
  sleep 0.02
done
cat "$dir/log"
exit 9`;

export type Answer =
  | { readonly kind: 'taken'; readonly config: ReadonlyMap<string, string> }
  | { readonly kind: 'refused'; readonly words: string };

export class RealSlurmctld implements AsyncDisposable {
  readonly #sandbox: Sandbox;
  readonly #box: Box;
  #count = 0;

  private constructor(sandbox: Sandbox, box: Box) {
    this.#sandbox = sandbox;
    this.#box = box;
  }

  static async start(version: SlurmVersion): Promise<RealSlurmctld> {
    const image = await buildImage('slurmctld', version);
    const sandbox = await createSandbox({ name: `parse-${version.replace('.', '-')}-${process.pid}` });
    const lan = await sandbox.addNetwork('lan');
    const key = { content: randomBytes(64).toString('hex'), mode: 0o600, uid: 401, gid: 401 };
    const box = await sandbox.startBox({
      name: 'parse',
      rootfs: image.rootfs,
      networks: [lan],
      tmpfs: ['/tmp'],
      files: [
        { path: '/etc/hosts', content: '127.0.0.1 localhost parse\n' },
        { path: '/etc/slurm/slurm.key', ...key },
        { path: '/read.sh', content: script },
      ],
    });
    await box.exec(['/bin/sh', '-c', 'mkdir -p /run/slurmctld && chown 401:401 /run/slurmctld']);
    return new RealSlurmctld(sandbox, box);
  }

  /** What it makes of these lines, in a file that is good without them. */
  async ask(lines: string): Promise<Answer> {
    const directory = `/tmp/${(this.#count += 1)}`;
    const file = Buffer.from(`${base(directory)}${lines}\n`).toString('base64');
    const { stdout } = await this.#box.exec(
      [
        '/bin/bash',
        '-c',
        'mkdir -p "$1" && base64 -d <<<"$2" >"$1/slurm.conf" && cp -p /etc/slurm/slurm.key "$1/" && echo CgroupPlugin=disabled >"$1/cgroup.conf" && exec bash /read.sh "$1"',
        'bash',
        directory,
        file,
      ],
      { user: '401:401', timeoutMs: 120_000 },
    );
    if (stdout.startsWith('REFUSED')) return { kind: 'refused', words: stdout.slice(8) };
    const config = new Map<string, string>();
    for (const line of stdout.split('\n')) {
      const [, key, value] = /^(\w+)\s*= (.*)$/s.exec(line) ?? [];
      if (key !== undefined && value !== undefined) config.set(key.toLowerCase(), value);
    }
    return { kind: 'taken', config };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#sandbox.stop(500);
  }
}

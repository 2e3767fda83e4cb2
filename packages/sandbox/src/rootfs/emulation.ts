/**
 * Programs of another architecture, run through QEMU's user emulation. The kernel's table of interpreters (binfmt_misc) belongs to a
 * user namespace, so the entry exists for one build only and the machine's own table is never changed. Needs Linux 6.7.
 */
import { release } from 'node:os';
import { join } from 'node:path';
import type { Architecture } from '../apt/private-apt.ts';
import { PrerequisiteError } from '../errors.ts';
import { unpackTools } from '../unpack-tools.ts';
import type { BuildOptions } from './build-rootfs.ts';

export interface Emulator {
  /** QEMU's program, linked statically: it works in every root. */
  readonly interpreter: string;
  /** The entry for binfmt_misc, without the interpreter. */
  readonly magic: string;
}

const here: Architecture = process.arch === 'arm64' ? 'arm64' : 'amd64';

const machines: Readonly<Record<Architecture, { readonly qemu: string; readonly elf: string }>> = {
  amd64: { qemu: 'qemu-x86_64', elf: '\\x3e' },
  arm64: { qemu: 'qemu-aarch64', elf: '\\xb7' },
};

/** What runs programs of `architecture` here; undefined where the machine runs them. */
export async function emulatorFor(
  architecture: Architecture | undefined,
  options: BuildOptions = {},
): Promise<Emulator | undefined> {
  if (architecture === undefined || architecture === here) return undefined;
  requireKernel(architecture, release());
  const { qemu, elf } = machines[architecture];
  const { root } = await unpackTools({ suite: 'trixie', packages: ['qemu-user'], ...options });
  return { interpreter: join(root, 'usr/bin', qemu), magic: magicOf(elf) };
}

/** A little-endian ELF program or library of one machine, as the documentation of binfmt_misc describes it. */
function magicOf(machine: string): string {
  const zeros = '\\x00'.repeat(8);
  const magic = `\\x7fELF\\x02\\x01\\x01\\x00${zeros}\\x02\\x00${machine}\\x00`;
  const mask = `${'\\xff'.repeat(7)}\\x00${'\\xff'.repeat(8)}\\xfe\\xff\\xff\\xff`;
  return `M::${magic}:${mask}`;
}

export function requireKernel(architecture: Architecture, kernel: string): void {
  const [major = 0, minor = 0] = kernel.split('.').map((part) => Number.parseInt(part, 10));
  if (major > 6 || (major === 6 && minor >= 7)) return;
  throw new PrerequisiteError(
    `Linux ${kernel} cannot run programs for ${architecture} in a build: build on a machine of that architecture, or on Linux 6.7 or later.`,
  );
}

/**
 * A script that becomes its command in a user namespace with all accounts of this one. $1 = interpreter, $2 = entry; the rest = the
 * command, which must create its mount namespace itself and run \`registerEmulator\` in it.
 */
export const inUserNamespace = `set -eu
setpriv --pdeathsig KILL unshare --user sh -c 'kill -STOP $$; exec "$@"' stage "$@" <&0 &
child=$!
tries=0
until grep -q '^State:.T' "/proc/$child/status"; do
  tries=$((tries + 1)); [ "$tries" -lt 3000 ]; sleep 0.01
done
for map in uid_map gid_map; do echo '0 0 4294967295' > "/proc/$child/$map"; done
kill -CONT "$child"
wait "$child"`;

/** Lines of a script in a mount namespace of the new user namespace. $interpreter and $entry are set. */
export const registerEmulator = `if [ -n "$interpreter" ]; then
  mount -t binfmt_misc binfmt_misc /proc/sys/fs/binfmt_misc
  printf '%s' ":foreign:$entry:$interpreter:F" > /proc/sys/fs/binfmt_misc/register
fi`;

/** A change of slurm.jwks beside a reconfigure by slurmctld, with a stand-in for slurmd that executes its program again as that does. */
import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { runCommand } from '@slurm-operator/sandbox';

const script = join(import.meta.dirname, 'slurmd-keys.bash');
const directory = await mkdtemp(join(tmpdir(), 'slurmd-keys-'));
after(() => rm(directory, { recursive: true }));

/** SIGHUP ends each program in its first seconds. */
const slurmd = `sleep 1.5
again() { exec bash "$0"; }
trap again HUP
while :; do read -r -t 0.05 <><(:) || true; done
`;

/** slurmctld tells slurmd to read its files again while the new keys are being copied. */
const changeDuringReconfigure = `set -euo pipefail
source "$1"
cd "$2"
keys=$2/slurm.jwks own_keys=$2/own/slurm.jwks servers=()
bash slurmd.bash & slurmd=$!
trap 'kill -KILL "$slurmd"' EXIT
reconfigured=
install() {
  if [[ $1 == -m && -z $reconfigured ]]; then
    reconfigured=1
    kill -HUP "$slurmd"
    while takes_hup "$slurmd"; do :; done
  fi
  command install "$@"
}
until takes_hup "$slurmd"; do :; done
watch_keys "$slurmd" & watch=$!
until [[ -e own/done ]]; do
  kill -0 "$slurmd" 2>/dev/null || { echo 'slurmd has ended'; break; }
  if ! kill -0 "$watch" 2>/dev/null; then echo 'the watch of the keys has ended'; break; fi
  if cmp -s "$keys" "$own_keys" && takes_hup "$slurmd"; then
    sleep 1
    touch own/done
  fi
  sleep 0.05
done
kill -0 "$slurmd" 2>/dev/null && echo 'slurmd is there'
kill "$watch" || true
`;

test('slurmd that is told to read its files again by slurmctld at the same moment does not end', async () => {
  await writeFile(join(directory, 'slurmd.bash'), slurmd);
  await writeFile(join(directory, 'slurm.jwks'), '{"set":"0123abcd","keys":[]}\n');
  const { stdout, stderr } = await runCommand(
    ['bash', '-c', changeDuringReconfigure, 'test', script, directory],
    {
      signal: AbortSignal.timeout(60_000),
    },
  );
  assert.match(
    stderr,
    /slurm\.jwks changed: slurmd reads it again\n(?:.*\n)*slurm\.jwks: slurmd uses the keys 0123abcd/,
  );
  assert.equal(stdout.trim(), 'slurmd is there');
});

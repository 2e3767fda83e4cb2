/** What slurmd receives as `--conf`, read by our entrypoint and by a model of upstream's. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import type { NodeSet } from '@slurm-operator/api';
import { runCommand } from '@slurm-operator/sandbox';
import fc from 'fast-check';
import { aController, aNodeSet } from '../../../../testing/objects.ts';
import { slurmdConf } from '../../../slurm-config/render/slurmd-conf.ts';
import { workerTemplate } from './worker-template.ts';

const options = join(import.meta.dirname, '../../../../../../images/files/options.bash');
const controller = aController({ slurmKeyRef: { name: 'k', key: 'slurm.key' } });

/** Upstream's images join all arguments and let a shell read the result. */
const upstreamEntrypoint = `options="\${SLURMD_OPTIONS:-} $*"; bash -c "exec printf '%s\\0' $options"`;
/** The same, after the image has put another item into the configuration, as it does for limits and topology. */
const upstreamWithItem = `options="\${SLURMD_OPTIONS:-} $*"
[[ $options =~ ^(.*--conf )\\'([^\\']*)\\'(.*)$ ]] && options="\${BASH_REMATCH[1]}'\${BASH_REMATCH[2]} Topology=t:1'\${BASH_REMATCH[3]}"
bash -c "exec printf '%s\\0' $options"`;
const ourEntrypoint = `source ${options}; list=(); arguments list "$@"; printf '%s\\0' "\${list[@]}"`;

async function received(entrypoint: string, nodeSet: NodeSet): Promise<string[]> {
  const defaults = { clusterDomain: 'cluster.local', defaultImage: 'slurmd:1' };
  const { args = [] } = workerTemplate(nodeSet, controller, defaults).spec.containers[0] ?? {};
  const given = args.map((arg) => arg.replace('$(POD_UID)', '4f1c'));
  const { stdout } = await runCommand(['bash', '-c', entrypoint, 'entrypoint', ...given]);
  return stdout.split('\0').slice(0, -1);
}

const confOf = (words: readonly string[]) => words[words.indexOf('--conf') + 1];

test('every pair of the configuration reaches slurmd through the entrypoints of both projects', async () => {
  const nodeSet = aNodeSet({
    extraConf: 'Gres=gpu:8 Weight=5 Features=fast',
    slurmd: { resources: { limits: { cpu: 4, memory: '8Gi' } } },
  });
  const conf = slurmdConf(nodeSet);
  assert.match(conf, /Feature=\S+ Gres=gpu:8 .*Weight=5/);
  assert.equal(confOf(await received(ourEntrypoint, nodeSet)), conf);
  assert.equal(confOf(await received(upstreamEntrypoint, nodeSet)), conf);
  assert.equal(confOf(await received(upstreamWithItem, nodeSet)), `${conf} Topology=t:1`);
});

test('nothing in a configuration is evaluated by either entrypoint, and no other argument changes', async () => {
  const text = fc
    .string({ unit: 'binary-ascii', minLength: 1, maxLength: 12 })
    .filter((value) => !/[\0-\x20\x7f]/.test(value));
  await fc.assert(
    fc.asyncProperty(text, async (value) => {
      const nodeSet = aNodeSet({ extraConf: `Comment=${value} Weight=5` });
      const [ours, upstreams] = await Promise.all([
        received(ourEntrypoint, nodeSet),
        received(upstreamEntrypoint, nodeSet),
      ]);
      assert.equal(confOf(ours), slurmdConf(nodeSet));
      assert.deepEqual(upstreams, ours);
    }),
    { numRuns: 60, examples: [['$(id)`id`;reboot|x'], ["it's"], ['"a"\\b'], ['$HOME&&*~']] },
  );
});

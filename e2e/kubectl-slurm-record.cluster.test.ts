/**
 * Records docs/kubectl-slurm-session.txt on real daemons, attacks the token exchange, and makes rules of doctor happen. Takes minutes, so it
 * runs only if it is asked for: RECORD=yes.
 */
import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { slurmVersion } from '@slurm-operator/demo';
import { installedImages } from '@slurm-operator/demo/install';
import { runCommand } from '@slurm-operator/sandbox';
import { attackTokenExchange } from './src/attack-token-exchange.ts';
import { needsCluster } from './src/given/given-cluster.ts';
import { provokeRules } from './src/provoke-rules.ts';
import { recordKubectlSlurm } from './src/record-kubectl-slurm.ts';
import { StagedCluster } from './src/staged-cluster.ts';

const recorded = fileURLToPath(new URL('../docs/kubectl-slurm-session.txt', import.meta.url));
const bundler = fileURLToPath(new URL('../packages/cli/src/bundle-main.ts', import.meta.url));
const demo = fileURLToPath(new URL('../tools/targets/demo.ts', import.meta.url));

test('the recorded session shows every part that the docs promise', async () => {
  const text = await readFile(recorded, 'utf8');
  for (const part of [
    /✔ Ready/,
    /to replace/,
    /The rollout ended \d+ s after/,
    /pending jobs ask for more/,
    ...['B7', 'D1', 'D4', 'E2', 'F3'].map((rule) => new RegExp(`^[✖!·] ${rule} `, 'm')),
  ])
    assert.match(text, part);
});

describe('with a demo', {
  ...needsCluster(2),
  ...(process.env['RECORD'] === 'yes' ? {} : { skip: 'records only with RECORD=yes' }),
  timeout: 1_800_000,
}, () => {
  let staged: StagedCluster | undefined;
  let plugin = '';
  before(async () => {
    staged = await StagedCluster.start({ name: `rec-${process.pid}`, nodes: 2 });
    for (const path of await installedImages(slurmVersion)) await staged.loadImage(path);
    const { exitCode, stdout, stderr } = await runCommand([process.execPath, demo], {
      env: { ...process.env, KUBECONFIG: staged.kubeconfig },
      allowFailure: true,
      timeoutMs: 900_000,
    });
    assert.equal(exitCode, 0, `${stdout}${stderr}`);
    plugin = join(staged.directory, 'kubectl-slurm');
    await runCommand([process.execPath, bundler, plugin]);
  });
  after(() => staged?.[Symbol.asyncDispose]());
  const options = () => {
    const { client, kubeconfig, directory } = staged ?? assert.fail('no cluster');
    return { client, kubeconfig, directory, plugin };
  };

  test('a session with kubectl slurm is recorded', async () => {
    await writeFile(recorded, await recordKubectlSlurm(options()));
  });

  test('rules of doctor are made to happen', async () => {
    const { found, failed } = await provokeRules(options());
    console.log(`rules made to happen: ${found.length}: ${found.join(' ')}`);
    assert.deepEqual(failed, []);
  });

  test('the token exchange withstands attacks', async () => {
    const rows: string[] = [];
    try {
      await attackTokenExchange(options(), rows);
    } finally {
      console.log(rows.join('\n'));
    }
  });
});

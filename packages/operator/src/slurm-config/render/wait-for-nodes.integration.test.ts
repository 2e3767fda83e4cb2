/** The script that slurmctld runs before a job, with a scontrol that answers what a real one does. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { aController } from '../../../testing/objects.ts';
import { buildControllerConfig } from './config-map.ts';
import { waitForNodes, waitForNodesFile } from './wait-for-nodes.ts';

const run = promisify(execFile);

const node = (name: string, state: string) =>
  `NodeName=${name} CPUAlloc=0\n   State=${state} ThreadsPerCore=1\n   Reason=State=POWERING_UP`;

/** Runs it for a job on these nodes; each answer is what scontrol says once, the last one from then on. Answers how often it was asked. */
async function asked(nodes: string, answers: readonly string[], prefixes = ['gpu-']): Promise<number> {
  return (await ran(nodes, answers, waitForNodes(prefixes), 0)).asked;
}

/** The same, and the seconds that it took by a clock that its pauses move so often, and nothing else. */
async function ran(nodes: string, answers: readonly string[], script: string, times = 1) {
  const bin = await mkdtemp(join(tmpdir(), 'wait-for-nodes-'));
  try {
    await writeFile(join(bin, 'script'), script.replace('-gt 200', '-gt 100000'));
    await writeFile(join(bin, 'clock'), '0');
    await Promise.all(answers.map((text, at) => writeFile(join(bin, `answer-${at}`), text)));
    const stub = `#!/bin/sh
n=$(cat ${bin}/asked 2>/dev/null || echo 0)
echo $((n + 1)) >${bin}/asked
[ -e ${bin}/answer-$n ] || n=${answers.length - 1}
[ -s ${bin}/answer-$n ] || exit 1
cat ${bin}/answer-$n`;
    await writeFile(join(bin, 'scontrol'), stub, { mode: 0o755 });
    const sleep = `#!/bin/sh\necho $(($(cat ${bin}/clock) + ${times} * (\${1%.*} + 1))) >${bin}/clock`;
    await writeFile(join(bin, 'sleep'), sleep, { mode: 0o755 });
    await writeFile(join(bin, 'date'), `#!/bin/sh\ncat ${bin}/clock`, { mode: 0o755 });
    const env = { PATH: `${bin}:${process.env['PATH']}`, SLURM_JOB_NODELIST: nodes };
    await run('/bin/sh', [join(bin, 'script')], { env, timeout: 60_000 });
    return {
      asked: Number(await readFile(join(bin, 'asked'), 'utf8').catch(() => '0')),
      seconds: Number(await readFile(join(bin, 'clock'), 'utf8')),
    };
  } finally {
    await rm(bin, { recursive: true });
  }
}

const waking = node('gpu-0', 'MIXED+CLOUD+NOT_RESPONDING+POWERING_UP+DYNAMIC_NORM');
const awake = node('gpu-0', 'MIXED+CLOUD+DYNAMIC_NORM');

test('it ends when all nodes of the job are awake', async () => {
  const asleep = node('gpu-0', 'ALLOCATED+CLOUD+POWERED_DOWN+DYNAMIC_NORM');
  assert.equal(await asked('gpu-0', [asleep, waking, waking, awake]), 4);
  const other = node('gpu-1', 'MIXED+CLOUD+POWERING_UP');
  assert.equal(await asked('gpu-[0-1]', [`${awake}\n\n${other}`, awake]), 2);
});

test('a job on nodes that are awake, or never sleep, starts at once', async () => {
  assert.equal(await asked('gpu-0', [awake]), 1);
  assert.equal(await asked('gpu-0', [node('gpu-0', 'MIXED+CLOUD+POWER_DOWN')]), 1);
  assert.equal(await asked('static-[0-9],other', [waking]), 0);
  assert.equal(await asked('gpu-0', [waking], []), 0);
  assert.equal(await asked('cpu-1,gpu-0', [waking, awake], ['big-', 'gpu-']), 2);
});

test('it does not wait for a node whose wake-up was abandoned, or without an answer of slurmctld', async () => {
  assert.equal(await asked('gpu-0', [waking, node('gpu-0', 'DOWN+CLOUD+POWERING_DOWN')]), 2);
  assert.equal(await asked('gpu-0', ['']), 1);
});

for (const [lines, most] of [
  ['', 101],
  ['PrologEpilogTimeout=30\n', 29],
  ['PrologEpilogTimeout=3600\nprologtimeout = 40\n', 39],
  ['PrologEpilogTimeout=10\n', 0],
] as const)
  test(`it ends before slurmctld would end it, and requeue the job: ${lines.replaceAll('\n', ' ') || 'no timeout'}`, async () => {
    const slurmConf = `${lines}PrologSlurmctld=/etc/slurm/${waitForNodesFile}\n`;
    const { data } = buildControllerConfig({
      controller: aController(),
      slurmConf,
      accounting: false,
      userCgroupConf: false,
      autoscaled: ['gpu-'],
    });
    const { seconds } = await ran('gpu-0', [waking], data?.[waitForNodesFile] ?? '');
    assert.ok(seconds <= most && seconds >= most / 4, `it took ${seconds} s`);
  });

/** The processes of a benchmark: an API server, and operators as the image has them. */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type Client, createClient, kubeconfigConfig } from '@slurm-operator/kube';
import { bundleProgram, runtimeFlag } from '../../../images/src/operator/bundle-programs.ts';
import { operatorConfig, operatorVersion } from '../../../images/src/operator/operator-files.ts';
import { scratchDirectory } from '../../sandbox/src/directories.ts';
import type { Usage } from './nodeset-manager-process.ts';

export interface BenchServer {
  readonly server: ChildProcess;
  /** Holds its kubeconfig, and the program of the operator. */
  readonly directory: string;
  readonly client: Client;
}

export async function startBenchServer(name: string): Promise<BenchServer> {
  const server = fork(join(import.meta.dirname, 'api-server-process.ts'), { execArgv: [] });
  const signal = AbortSignal.timeout(60_000);
  const [{ kubeconfig }] = (await once(server, 'message', { signal })) as [{ kubeconfig: string }];
  const directory = scratchDirectory(name);
  await writeFile(join(directory, 'kubeconfig'), kubeconfig, { mode: 0o600 });
  const config = await kubeconfigConfig({ text: kubeconfig });
  return { server, directory, client: createClient(config, { userAgent: 'bench', rateLimit: false }) };
}

/** As the image has it: the same bundle, the same flag of the runtime, the same environment. */
export async function startBenchOperator(
  directory: string,
  more: readonly string[] = [],
): Promise<ChildProcess> {
  const program = join(directory, 'manager.mjs');
  if (!existsSync(program)) {
    const source = 'packages/operator/bench/nodeset-manager-process.ts';
    await writeFile(program, (await bundleProgram({ name: 'manager', source })).content);
  }
  const flags = [
    `--kubeconfig=${join(directory, 'kubeconfig')}`,
    '--health-addr=0',
    '--metrics-addr=0',
    '--reach-services-by=address',
    ...more,
  ];
  const profiling = (process.env['OPERATOR_NODE_OPTIONS'] ?? '').split(' ').filter((word) => word !== '');
  return fork(program, flags, {
    execArgv: [runtimeFlag, ...profiling],
    env: { ...operatorConfig(operatorVersion).env },
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
}

export async function usageOf(operator: ChildProcess | undefined): Promise<Usage> {
  if (operator === undefined || operator.exitCode !== null) throw new Error('the operator does not run');
  const answer = once(operator, 'message', { signal: AbortSignal.timeout(60_000) });
  operator.send({ kind: 'usage' });
  return ((await answer) as [Usage])[0];
}

export async function end(child: ChildProcess | undefined): Promise<void> {
  if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, 'exit');
  child.kill('SIGKILL');
  await gone;
}

export interface BenchWait {
  readonly what: string;
  readonly seconds: number;
  readonly everyMs: number;
  /** What went wrong meanwhile: ends the wait. */
  readonly failure: () => unknown;
}

export async function untilHolds(
  { what, seconds, everyMs, failure }: BenchWait,
  holds: () => boolean | Promise<boolean>,
): Promise<void> {
  const deadline = Date.now() + seconds * 1000;
  while (!(await holds())) {
    if (failure() !== undefined) throw failure();
    if (Date.now() > deadline) throw new Error(`timed out after ${seconds} s: waited until ${what}`);
    await delay(everyMs);
  }
}

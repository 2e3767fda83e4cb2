/**
 * A machine that is only namespaces: own processes, mounts, network, host name. Its first process holds everything;
 * killing that one process is the power cut, after which the kernel removes processes, mounts and links.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { LocalClusterError } from '../errors.ts';
import { type RunOptions, type RunResult, run } from './run.ts';
import type { Toolbox } from './toolbox.ts';

export class Machine {
  readonly hostname: string;
  /** The first process as this machine's owner sees it. */
  readonly pid: number;
  /** Resolves when the machine is off. */
  readonly off: Promise<void>;
  readonly #keeper: ChildProcess;

  private constructor(hostname: string, pid: number, keeper: ChildProcess) {
    this.hostname = hostname;
    this.pid = pid;
    this.#keeper = keeper;
    this.off = new Promise((resolve) => {
      if (keeper.exitCode !== null || keeper.signalCode !== null) resolve();
      keeper.once('exit', () => resolve());
    });
  }

  static async start(hostname: string, tools: Toolbox): Promise<Machine> {
    // unshare is killed when this process ends, and the first process when unshare ends.
    const namespaces =
      '--net --mount --uts --ipc --pid --fork --kill-child=KILL --mount-proc --propagation private';
    const command = ['--pdeathsig', 'KILL', tools.unshare, ...namespaces.split(' ')];
    command.push('sh', '-c', 'hostname "$0"; exec "$1" -P', hostname, tools.catatonit);
    const keeper = spawn(tools.setpriv, command, { stdio: ['ignore', 'ignore', 'pipe'] });
    let said = '';
    keeper.stderr?.on('data', (chunk: Buffer) => {
      said = (said + chunk.toString('utf8')).slice(-2000);
    });
    const pid = await firstProcess(keeper, () => said);
    const machine = new Machine(hostname, pid, keeper);
    await machine.run(['sh', '-c', 'echo 1 > /proc/sys/net/ipv4/ip_forward; ip link set lo up'], {
      env: tools.env,
    });
    return machine;
  }

  /** The words to put before a command to run it inside. */
  enter(): string[] {
    return ['nsenter', '-t', String(this.pid), '-m', '-p', '-n', '-i', '-u', '--'];
  }

  run(command: readonly string[], options: RunOptions = {}): Promise<RunResult> {
    return run([...this.enter(), ...command], options);
  }

  /** Pulls the plug. */
  async cutPower(): Promise<void> {
    try {
      process.kill(this.pid, 'SIGKILL');
    } catch {
      // It was off already.
    }
    this.#keeper.kill('SIGKILL');
    await this.off;
  }
}

/** unshare's only child is the machine's first process; it appears a moment after the start. */
async function firstProcess(keeper: ChildProcess, said: () => string): Promise<number> {
  const path = `/proc/${keeper.pid ?? 0}/task/${keeper.pid ?? 0}/children`;
  const deadline = performance.now() + 10_000;
  while (performance.now() < deadline) {
    if (keeper.exitCode !== null || keeper.pid === undefined) break;
    const children = (await readFile(path, 'utf8').catch(() => '')).trim();
    const child = children.split(' ')[0] ?? '';
    // Ready once the shell has become the init: before that the host name may not be set.
    if (
      child !== '' &&
      (await readFile(`/proc/${child}/comm`, 'utf8').catch(() => '')).trim() === 'catatonit'
    )
      return Number(child);
    await delay(5);
  }
  keeper.kill('SIGKILL');
  throw new LocalClusterError(
    'StartFailed',
    `cannot make the namespaces of a machine: ${said().trim() || 'nothing started within 10 s'}. Are you root, and does the kernel allow namespaces?`,
  );
}

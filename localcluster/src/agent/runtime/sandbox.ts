/** The place a pod lives in: its network, IPC and host name, held by one sleeping process, and its link to the node. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Machine } from '../../machine/machine.ts';
import type { Toolbox } from '../../machine/toolbox.ts';
import { AgentError } from '../errors.ts';

/** Every pod's way out. Link-local, so the same for all of them. */
const nextHop = '169.254.1.1';

export interface SandboxRequest {
  readonly hostname: string;
  readonly address: string;
  /** A name for the node's end of the link, unique on the node. */
  readonly link: string;
  readonly hostNetwork: boolean;
  readonly shareProcesses: boolean;
}

export class PodSandbox {
  /** The holding process, as seen inside the machine. */
  readonly pid: number;
  readonly address: string;
  /** Resolves when the holding process is gone. */
  readonly ended: Promise<void>;
  readonly #holder: ChildProcess;
  readonly #machine: Machine;

  private constructor(pid: number, address: string, holder: ChildProcess, machine: Machine) {
    this.pid = pid;
    this.address = address;
    this.#holder = holder;
    this.#machine = machine;
    this.ended = once(holder, 'exit').then(() => undefined);
  }

  static async create(machine: Machine, request: SandboxRequest, tools: Toolbox): Promise<PodSandbox> {
    const flags = ['--ipc', '--uts', ...(request.hostNetwork ? [] : ['--net'])];
    // Shared processes: the holder becomes the first process of a PID namespace of its own.
    const pidFlags = request.shareProcesses ? ['--pid', '--fork', '--kill-child=KILL'] : [];
    const script = `hostname "$0"; ${request.hostNetwork ? '' : 'ip link set lo up;'} echo $$; exec "$1" -P </dev/null >/dev/null 2>&1`;
    const outer = request.shareProcesses
      ? ['sh', '-c', 'echo $$; exec "$@"', 'sh', tools.unshare, ...flags, ...pidFlags]
      : [tools.unshare, ...flags];
    const command = [...machine.enter(), ...outer, 'sh', '-c', script, request.hostname, tools.catatonit];
    const [program = '', ...args] = command;
    const holder = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'], env: tools.env });
    const pid = await readPid(holder);
    const sandbox = new PodSandbox(pid, request.address, holder, machine);
    if (!request.hostNetwork) await sandbox.#connect(request, tools);
    return sandbox;
  }

  async #connect({ link, address }: SandboxRequest, tools: Toolbox): Promise<void> {
    const outside = [
      `link add ${link} type veth peer name eth0 netns ${this.pid}`,
      `addr add ${nextHop}/32 dev ${link}`,
      `link set ${link} up`,
      `route replace ${address}/32 dev ${link}`,
    ];
    const inside = [
      `addr add ${address}/32 dev eth0`,
      'link set eth0 up',
      `route add ${nextHop} dev eth0 scope link`,
      `route add default via ${nextHop} dev eth0`,
    ];
    const script = `printf %s "$0" | ip -batch - && printf %s "$1" | nsenter -t ${this.pid} -n ip -batch -`;
    await this.#machine.run(['sh', '-c', script, `${outside.join('\n')}\n`, `${inside.join('\n')}\n`], {
      env: tools.env,
    });
  }

  /** Takes the pod's place away; its link goes with the namespace. */
  async remove(): Promise<void> {
    await this.#machine.run(['sh', '-c', `kill -9 ${this.pid} 2>/dev/null; true`], { allowFailure: true });
    this.#holder.kill('SIGKILL');
    await this.ended;
  }
}

async function readPid(holder: ChildProcess): Promise<number> {
  let text = '';
  let said = '';
  holder.stderr?.on('data', (chunk: Buffer) => {
    said = (said + chunk.toString('utf8')).slice(-500);
  });
  return new Promise((resolve, reject) => {
    holder.stdout?.on('data', (chunk: Buffer) => {
      text += chunk.toString('utf8');
      const line = /^(\d+)\n/.exec(text);
      if (line !== null) resolve(Number(line[1]));
    });
    holder.once('exit', () =>
      reject(new AgentError('FailedCreatePodSandBox', `failed to create pod sandbox: ${said.trim()}`)),
    );
    holder.once('error', (cause) =>
      reject(new AgentError('FailedCreatePodSandBox', 'failed to create pod sandbox', { cause })),
    );
  });
}

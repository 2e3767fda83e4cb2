import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, rmSync } from 'node:fs';
import { access, constants } from 'node:fs/promises';
import { join } from 'node:path';
import type { Suite } from '../apt/private-apt.ts';
import { scratchDirectory } from '../directories.ts';
import { CommandError, PrerequisiteError, SandboxError, TimeoutError } from '../errors.ts';
import type { CommandResult } from '../process/run-command.ts';
import { consoleProgress, type Progress } from '../progress.ts';
import { buildRootfs } from '../rootfs/build-rootfs.ts';
import { hostPrograms } from '../sandbox/host-programs.ts';
import { unpackTools } from '../unpack-tools.ts';
import { debianKernel } from './kernel.ts';
import { type InitramfsRequest, writeInitramfs } from './write-initramfs.ts';

/**
 * `no_timer_check`: at boot the kernel counts timer ticks in a short busy loop and panics ("IO-APIC + timer doesn't work") if an
 * emulated CPU got too little time on a busy machine.
 */
const KERNEL_PARAMETERS = 'console=ttyS0 rdinit=/init panic=-1 quiet cgroup_no_v1=all no_timer_check';

export interface VmOptions {
  /** Debian release of the kernel and of the guest's own programs. @default trixie */
  readonly suite?: Suite;
  /** Debian packages of the guest's root file system, beyond the essential ones. */
  readonly packages?: readonly string[];
  /** Directories of this machine that the guest gets a copy of. */
  readonly trees?: InitramfsRequest['trees'];
  readonly files?: InitramfsRequest['files'];
  /** Kernel modules that are loaded at boot, in this order, for example `overlay`. */
  readonly modules?: readonly string[];
  /** @default 4096 */
  readonly memoryMiB?: number;
  /** @default 2 */
  readonly cpus?: number;
  /** @default 5 minutes: an emulated machine beside other work is slow */
  readonly bootTimeoutMs?: number;
  readonly progress?: Progress;
  readonly signal?: AbortSignal;
}

export interface GuestCommandOptions {
  /** The command is killed after this time. @default 5 minutes: an emulated machine beside other work is slow */
  readonly timeoutMs?: number;
  /** Return a non-zero exit code instead of throwing. @default false */
  readonly allowFailure?: boolean;
  readonly signal?: AbortSignal;
}

/** `tcg` emulates. */
export type Accelerator = 'kvm' | 'tcg';

const commandTimeoutMs = 300_000;

/** Nested KVM may accept a machine and then never run it. */
const kvmTimeoutMs = 60_000;

/** Why no virtual machine can run here, or undefined. */
export function vmObstacle(): string | undefined {
  if (process.platform !== 'linux' || process.arch !== 'x64')
    return `virtual machines are built for Linux on x64 only, not for ${process.platform} on ${process.arch}`;
  if (process.getuid?.() !== 0) return 'building the file system of a virtual machine needs root';
  return undefined;
}

/**
 * A virtual machine without disk or network, from Debian's kernel and packages: everything it has is in its initramfs, and
 * cgroup2 is its only cgroup hierarchy. It ends with this process, however that ends. Uses KVM where it works.
 */
export class Vm {
  readonly accelerator: Accelerator;
  readonly kernelRelease: string;
  readonly bootSeconds: number;
  readonly #child: ChildProcess;
  readonly #scratch: string;
  readonly #waiting: Waiting;
  #lastId = 0;

  private constructor(child: ChildProcess, scratch: string, facts: Facts, waiting: Waiting) {
    this.#child = child;
    this.#scratch = scratch;
    this.#waiting = waiting;
    this.accelerator = facts.accelerator;
    this.kernelRelease = facts.kernelRelease;
    this.bootSeconds = facts.bootSeconds;
  }

  static async boot(options: VmOptions = {}): Promise<Vm> {
    const obstacle = vmObstacle();
    if (obstacle !== undefined) throw new PrerequisiteError(`Cannot boot a virtual machine: ${obstacle}.`);
    const { suite = 'trixie', signal, progress = consoleProgress() } = options;
    const build = { progress, ...(signal === undefined ? {} : { signal }) };
    // The emulation of QEMU 7.2, which Debian 12 has, corrupts processor flags under load.
    const tools = await unpackTools({ suite: 'trixie', packages: ['qemu-system-x86'], ...build });
    const kernel = await debianKernel(suite, build);
    const packages = ['iproute2', 'kmod', 'mount', 'procps', ...(options.packages ?? [])];
    const rootfs = await buildRootfs({ name: 'vm-guest', suite, packages }, build);
    const scratch = scratchDirectory('vm');
    try {
      const initramfs = join(scratch, 'initramfs');
      progress('virtual machine: writing its file system');
      const init = readFileSync(join(import.meta.dirname, 'guest-init.bash'), 'utf8');
      await writeInitramfs({
        output: initramfs,
        trees: [
          { source: rootfs.path, target: '/' },
          ...(options.modules ?? []).map((name) => ({
            source: kernel.module(name),
            target: guestModule(name),
          })),
          ...(options.trees ?? []),
        ],
        files: [
          { path: '/init', content: init, mode: 0o755 },
          {
            path: '/etc/vm-modules',
            content: (options.modules ?? []).map((name) => `${guestModule(name)}\n`).join(''),
          },
          ...(options.files ?? []),
        ],
        ...(signal === undefined ? {} : { signal }),
      });
      const { setpriv } = await hostPrograms();
      const start = (accelerator: Accelerator) =>
        spawn(
          setpriv,
          [
            ['--pdeathsig', 'KILL', tools.path('qemu-system-x86_64')],
            ['-L', join(tools.root, 'usr/share/qemu'), '-L', join(tools.root, 'usr/share/seabios')],
            ['-nodefaults', '-no-user-config', '-no-reboot', '-display', 'none', '-monitor', 'none'],
            ['-machine', 'q35', '-accel', accelerator === 'kvm' ? 'kvm' : 'tcg,thread=multi'],
            [
              '-cpu',
              accelerator === 'kvm' ? 'max' : 'Nehalem',
              '-smp',
              String(options.cpus ?? 2),
              '-m',
              String(options.memoryMiB ?? 4096),
            ],
            ['-kernel', kernel.image, '-initrd', initramfs],
            ['-append', KERNEL_PARAMETERS],
            ['-serial', `file:${join(scratch, 'console')}`, '-serial', 'stdio'],
          ].flat(),
          { stdio: ['pipe', 'pipe', 'pipe'] },
        );
      const boot = (accelerator: Accelerator, timeoutMs: number) => {
        progress(`virtual machine: booting Linux ${kernel.release} (${accelerator})`);
        const facts = { accelerator, kernelRelease: kernel.release, began: performance.now() };
        return Vm.#whenReady(start(accelerator), scratch, facts, timeoutMs, signal);
      };
      if (await kvmExists()) {
        try {
          return await boot('kvm', kvmTimeoutMs);
        } catch (error) {
          signal?.throwIfAborted();
          if (!(error instanceof SandboxError)) throw error;
          progress('virtual machine: KVM does not work here; emulating');
        }
      }
      return await boot('tcg', options.bootTimeoutMs ?? 300_000);
    } catch (error) {
      rmSync(scratch, { recursive: true, force: true });
      throw error;
    }
  }

  static async #whenReady(
    child: ChildProcess,
    scratch: string,
    facts: Omit<Facts, 'bootSeconds'> & { readonly began: number },
    bootTimeoutMs: number,
    signal: AbortSignal | undefined,
  ): Promise<Vm> {
    const waiting: Waiting = new Map();
    let said = '';
    child.stderr?.on('data', (chunk: Buffer) => {
      said = (said + chunk.toString()).slice(-4000);
    });
    child.stdin?.on('error', () => {});
    readLines(child, (line) => {
      const [id = '', ...answer] = line.slice(line.indexOf('@') + 1).split(' ');
      waiting.get(id)?.resolve(answer);
      waiting.delete(id);
    });
    const timeout = AbortSignal.timeout(bootTimeoutMs);
    const ended = new AbortController();
    child.once('exit', () => {
      ended.abort();
      for (const { reject } of waiting.values())
        reject(new SandboxError('VM_ENDED', `The virtual machine ended.\n${consoleTail(scratch)}`));
    });
    child.once('error', () => ended.abort());
    try {
      await new Promise<void>((resolve, reject) => {
        waiting.set('ready', { resolve: () => resolve(), reject });
        const failed = (what: string) => () =>
          reject(
            new SandboxError(
              'VM_BOOT_FAILED',
              `The virtual machine ${what}.\n${said}${consoleTail(scratch)}`,
            ),
          );
        timeout.addEventListener('abort', failed(`did not boot within ${bootTimeoutMs / 1000} s`));
        ended.signal.addEventListener('abort', failed('ended while it booted'));
        signal?.addEventListener('abort', () => reject(signal.reason as Error));
      });
    } catch (error) {
      child.kill('SIGKILL');
      throw error;
    }
    const bootSeconds = (performance.now() - facts.began) / 1000;
    return new Vm(child, scratch, { ...facts, bootSeconds }, waiting);
  }

  /** Runs a bash script in the guest, as root. Several may run side by side. */
  async run(script: string, options: GuestCommandOptions = {}): Promise<CommandResult> {
    options.signal?.throwIfAborted();
    const { timeoutMs = commandTimeoutMs } = options;
    const id = String(++this.#lastId);
    if (this.#child.exitCode !== null || this.#child.signalCode !== null)
      throw new SandboxError('VM_ENDED', `The virtual machine has ended.\n${this.console()}`);
    // The guest ends the command itself; this limit is for a guest that does not answer.
    const limit = AbortSignal.timeout(timeoutMs + 60_000);
    const signals = options.signal === undefined ? [limit] : [limit, options.signal];
    const aborted = AbortSignal.any(signals);
    const seconds = Math.ceil(timeoutMs / 1000);
    const answer = await new Promise<readonly string[]>((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      aborted.addEventListener('abort', () => {
        this.#waiting.delete(id);
        reject(
          limit.aborted
            ? new TimeoutError(
                `The virtual machine did not answer within ${seconds + 60} s.\n${this.console()}`,
              )
            : (aborted.reason as Error),
        );
      });
      this.#child.stdin?.write(`${id} ${seconds} ${Buffer.from(script).toString('base64')}\n`);
    });
    const [exitCode = '', stdout = '', stderr = ''] = answer;
    const decoded = (text: string) => Buffer.from(text, 'base64').toString('utf8');
    const result = { exitCode: Number(exitCode), stdout: decoded(stdout), stderr: decoded(stderr) };
    if (result.exitCode !== 0 && options.allowFailure !== true)
      throw new CommandError(
        ['in the virtual machine:', script.length > 200 ? `${script.slice(0, 200)}…` : script],
        result.exitCode === 124 ? `took longer than ${seconds} s` : `exit code ${result.exitCode}`,
        result.exitCode,
        result.stderr || result.stdout,
      );
    return result;
  }

  /** The end of what the guest's kernel and first process printed. */
  console(): string {
    return consoleTail(this.#scratch);
  }

  async stop(): Promise<void> {
    if (this.#child.exitCode === null && this.#child.signalCode === null) {
      const exited = once(this.#child, 'exit');
      this.#child.kill('SIGKILL');
      await exited;
    }
    rmSync(this.#scratch, { recursive: true, force: true });
  }
}

/** What to do with the answer to a command, by its id. */
type Waiting = Map<
  string,
  { readonly resolve: (answer: readonly string[]) => void; readonly reject: (error: Error) => void }
>;

/** Debian compresses modules; `insmod` of kmod reads them as they are. */
const guestModule = (name: string): string => `/lib/vm-modules/${name}.ko.xz`;

interface Facts {
  readonly accelerator: Accelerator;
  readonly kernelRelease: string;
  readonly bootSeconds: number;
}

function readLines(child: ChildProcess, onLine: (line: string) => void): void {
  let rest = '';
  child.stdout?.setEncoding('utf8');
  child.stdout?.on('data', (chunk: string) => {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) onLine(line);
  });
}

function consoleTail(scratch: string): string {
  try {
    return readFileSync(join(scratch, 'console'), 'utf8').split('\n').slice(-70).join('\n');
  } catch {
    return '';
  }
}

async function kvmExists(): Promise<boolean> {
  return access('/dev/kvm', constants.R_OK | constants.W_OK).then(
    () => true,
    () => false,
  );
}

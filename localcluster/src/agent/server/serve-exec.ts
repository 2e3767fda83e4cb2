/** exec and attach over WebSocket channels: the first byte of each message says which stream it belongs to. */
import type { ChildProcess } from 'node:child_process';
import { readFile, readlink } from 'node:fs/promises';
import type { WebSocket } from 'ws';
import { run } from '../../machine/run.ts';

export const channelProtocols = ['v5.channel.k8s.io', 'v4.channel.k8s.io'] as const;

const channel = { stdin: 0, stdout: 1, stderr: 2, error: 3, resize: 4, close: 255 } as const;

export interface StreamOptions {
  readonly stdin: boolean;
  readonly tty: boolean;
}

/** Joins a process to the client until it ends; then tells its exit code and closes. */
export function joinProcess(socket: WebSocket, child: ChildProcess, options: StreamOptions): void {
  const send = (to: number, data: Buffer) => {
    if (socket.readyState === socket.OPEN) socket.send(Buffer.concat([Buffer.from([to]), data]));
  };
  child.stdout?.on('data', (chunk: Buffer) => send(channel.stdout, chunk));
  child.stderr?.on('data', (chunk: Buffer) => send(options.tty ? channel.stdout : channel.stderr, chunk));
  child.stdin?.on('error', () => {});
  if (!options.stdin && !options.tty) child.stdin?.end();
  socket.on('message', (raw) => {
    const message = Buffer.isBuffer(raw) ? raw : Buffer.concat(raw as Buffer[]);
    if (message[0] === channel.stdin) child.stdin?.write(message.subarray(1));
    else if (message[0] === channel.close && message[1] === channel.stdin) child.stdin?.end();
    else if (message[0] === channel.resize && options.tty)
      void resize(child, message.subarray(1).toString('utf8'));
  });
  socket.on('close', () => child.kill('SIGKILL'));
  child.once('error', (error) => {
    send(channel.error, Buffer.from(JSON.stringify(failure(1, error.message))));
    socket.close(1000);
  });
  child.once('close', (code) => {
    send(channel.error, Buffer.from(JSON.stringify(exitStatus(code ?? 137))));
    socket.close(1000);
  });
}

export interface AttachOptions {
  readonly stdin: boolean;
  /** The container's input ends with the first client that had it. */
  readonly stdinOnce: boolean;
}

/** Attach joins what already runs: the client may leave, the container stays. */
export function joinContainer(socket: WebSocket, child: ChildProcess, options: AttachOptions): void {
  const pass = (to: number) => (chunk: Buffer) => {
    if (socket.readyState === socket.OPEN) socket.send(Buffer.concat([Buffer.from([to]), chunk]));
  };
  const [out, err] = [pass(channel.stdout), pass(channel.stderr)];
  child.stdout?.on('data', out);
  child.stderr?.on('data', err);
  const ended = () => {
    pass(channel.error)(Buffer.from(JSON.stringify(exitStatus(0))));
    socket.close(1000);
  };
  child.once('close', ended);
  const endInput = () => {
    if (options.stdin && options.stdinOnce) child.stdin?.end();
  };
  socket.on('message', (raw) => {
    const message = Buffer.isBuffer(raw) ? raw : Buffer.concat(raw as Buffer[]);
    if (message[0] === channel.stdin && options.stdin) child.stdin?.write(message.subarray(1));
    else if (message[0] === channel.close && message[1] === channel.stdin) endInput();
  });
  socket.on('close', () => {
    endInput();
    child.stdout?.off('data', out);
    child.stderr?.off('data', err);
    child.off('close', ended);
  });
}

/** The Status a client reads the exit code from. */
export function exitStatus(code: number) {
  return code === 0
    ? { metadata: {}, status: 'Success' }
    : failure(code, `command terminated with non-zero exit code: exit status ${code}`);
}

function failure(code: number, message: string) {
  return {
    metadata: {},
    status: 'Failure',
    message,
    reason: 'NonZeroExitCode',
    details: { causes: [{ reason: 'ExitCode', message: String(code) }] },
  };
}

/** Tells the terminal its new size; the kernel tells the program. */
async function resize(child: ChildProcess, text: string): Promise<void> {
  try {
    const size = JSON.parse(text) as { Width: number; Height: number };
    const terminal = await terminalOf(child.pid ?? 0);
    if (terminal !== undefined)
      await run(
        [
          'stty',
          '-F',
          terminal,
          'rows',
          String(Math.trunc(size.Height)),
          'cols',
          String(Math.trunc(size.Width)),
        ],
        { allowFailure: true },
      );
  } catch {
    // A size that makes no sense changes nothing.
  }
}

/** The pseudo terminal some descendant of the process has as its input. */
async function terminalOf(pid: number, depth = 0): Promise<string | undefined> {
  if (pid === 0 || depth > 5) return undefined;
  const input = await readlink(`/proc/${pid}/fd/0`).catch(() => '');
  if (input.startsWith('/dev/pts/')) return input;
  const children = (await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8').catch(() => '')).trim();
  for (const child of children.split(' ')) {
    const found = await terminalOf(Number(child), depth + 1);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Runs commands in containers. */
import type { Readable, Writable } from 'node:stream';
import { RemoteCommandError, type Status } from '../errors.ts';
import type { ObjectRef } from '../objects/object.ts';
import { pathOf } from '../objects/resource.ts';
import { pods } from '../objects/resources.ts';
import { type Channels, openChannels } from './channels.ts';
import type { Client } from './client.ts';
import type { CallOptions } from './options.ts';

export interface ExecOptions extends CallOptions {
  /** Maximum duration of the command in milliseconds; `timeout` limits the connection set-up. @default 600_000 */
  readonly deadline?: number;
  /** @default the only container, or the one that kubectl would choose */
  readonly container?: string;
  readonly stdin?: Readable | string;
  /** @default collected and returned, up to 10 MiB */
  readonly stdout?: Writable;
  /** @default collected and returned, up to 10 MiB */
  readonly stderr?: Writable;
  readonly tty?: boolean;
}

export interface CommandResult {
  readonly exitCode: number;
  /** Empty if a stream was passed. */
  readonly stdout: string;
  readonly stderr: string;
}

const STDIN = 0;
const STDOUT = 1;
const STDERR = 2;
const ERROR = 3;
const PROTOCOLS = ['v5.channel.k8s.io', 'v4.channel.k8s.io'];
const MAX_OUTPUT = 10 << 20;

/** Runs a command in a container. A non-zero exit code is a result, not an error. */
export async function exec(
  client: Client,
  pod: ObjectRef,
  command: readonly string[],
  options: ExecOptions = {},
): Promise<CommandResult> {
  client.assertMayWrite();
  const doing = `exec ${command[0] ?? ''} in ${pod.name}`;
  const query = new URLSearchParams(command.map((word): [string, string] => ['command', word]));
  if (options.container !== undefined) query.set('container', options.container);
  query.set('stdin', String(options.stdin !== undefined));
  query.set('stdout', 'true');
  // A terminal has one output only.
  query.set('stderr', String(options.tty !== true));
  query.set('tty', String(options.tty === true));
  const path = `${pathOf(pods, { ...pod, subresource: 'exec' })}?${query.toString()}`;
  const kept: Readonly<Record<number, Buffer[]>> = { [STDOUT]: [], [STDERR]: [], [ERROR]: [] };
  const sinks: Readonly<Record<number, Writable | undefined>> = {
    [STDOUT]: options.stdout,
    [STDERR]: options.stderr,
  };
  let bytes = 0;
  const channels = await openChannels(client, path, {
    ...options,
    doing,
    deadline: options.deadline ?? 600_000,
    protocols: PROTOCOLS,
    onMessage(channel, data) {
      const sink = sinks[channel];
      if (sink !== undefined) return void sink.write(data);
      kept[channel]?.push(data);
      bytes += data.length;
      if (bytes > MAX_OUTPUT)
        throw new RemoteCommandError(
          `cannot ${doing}: more than ${MAX_OUTPUT} bytes of output; pass a stream`,
        );
    },
  });
  const feeding = options.stdin === undefined ? Promise.resolve() : feed(channels, options.stdin);
  await channels.closed;
  await feeding;
  const text = (channel: number) => Buffer.concat(kept[channel] ?? []).toString('utf8');
  return { exitCode: exitCode(doing, text(ERROR)), stdout: text(STDOUT), stderr: text(STDERR) };
}

async function feed(channels: Channels, stdin: Readable | string): Promise<void> {
  if (typeof stdin === 'string') await channels.send(STDIN, Buffer.from(stdin));
  else
    for await (const chunk of stdin)
      if (!(await channels.send(STDIN, Buffer.from(chunk as Buffer | string)))) return;
  channels.end(STDIN);
}

/** The server reports the result as a Status on the error channel. */
function exitCode(doing: string, text: string): number {
  if (text === '')
    throw new RemoteCommandError(`cannot ${doing}: the connection ended before the command did`);
  let status: Status;
  try {
    status = JSON.parse(text) as Status;
  } catch {
    throw new RemoteCommandError(`cannot ${doing}: ${text.slice(0, 300)}`);
  }
  if (status.status === 'Success') return 0;
  const code = status.details?.causes?.find((cause) => cause.reason === 'ExitCode')?.message;
  if (status.reason === 'NonZeroExitCode' && code !== undefined) return Number(code);
  throw new RemoteCommandError(`cannot ${doing}: ${status.message ?? 'no explanation given'}`);
}

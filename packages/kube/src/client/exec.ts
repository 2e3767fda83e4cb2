/** Commands in containers: exec and attach. */
import type { Readable, Writable } from 'node:stream';
import { RemoteCommandError, type Status } from '../errors.ts';
import type { ObjectRef } from '../object.ts';
import { pathOf } from '../resource.ts';
import { pods } from '../resources.ts';
import { type Channels, openChannels } from './channels.ts';
import type { Client } from './client.ts';
import type { CallOptions } from './options.ts';

export interface StreamOptions extends CallOptions {
  /** @default the only container, or the one that kubectl would choose */
  readonly container?: string;
  readonly stdin?: Readable | string;
  /** @default collected and returned */
  readonly stdout?: Writable;
  /** @default collected and returned */
  readonly stderr?: Writable;
  readonly tty?: boolean;
}

export interface CommandResult {
  readonly exitCode: number;
  /** Empty where a stream was given. */
  readonly stdout: string;
  readonly stderr: string;
}

const STDIN = 0;
const STDOUT = 1;
const STDERR = 2;
const ERROR = 3;
const PROTOCOLS = ['v5.channel.k8s.io', 'v4.channel.k8s.io'];

/** Runs a command in a container. A command that ends with another code than 0 is a result, not an error. */
export function exec(
  client: Client,
  pod: ObjectRef,
  command: readonly string[],
  options: StreamOptions = {},
): Promise<CommandResult> {
  const query = new URLSearchParams();
  for (const word of command) query.append('command', word);
  return run(client, pod, 'exec', query, options, `exec ${command[0] ?? ''} in ${pod.name}`);
}

/** Connects to what a container runs already. Resolves when that ends or the connection is over. */
export function attach(client: Client, pod: ObjectRef, options: StreamOptions = {}): Promise<CommandResult> {
  return run(client, pod, 'attach', new URLSearchParams(), options, `attach to ${pod.name}`);
}

async function run(
  client: Client,
  pod: ObjectRef,
  subresource: 'exec' | 'attach',
  query: URLSearchParams,
  options: StreamOptions,
  doing: string,
): Promise<CommandResult> {
  client.assertMayWrite();
  if (options.container !== undefined) query.set('container', options.container);
  query.set('stdin', String(options.stdin !== undefined));
  query.set('stdout', 'true');
  // A terminal has one output only.
  query.set('stderr', String(options.tty !== true));
  query.set('tty', String(options.tty === true));
  const collected = { [STDOUT]: [] as Buffer[], [STDERR]: [] as Buffer[] };
  const verdict: Buffer[] = [];
  const sinks: Readonly<Record<number, Writable | undefined>> = {
    [STDOUT]: options.stdout,
    [STDERR]: options.stderr,
  };
  const channels = await openChannels(
    client,
    `${pathOf(pods, { ...pod, subresource })}?${query.toString()}`,
    {
      ...options,
      doing,
      protocols: PROTOCOLS,
      onMessage(channel, data) {
        if (channel === ERROR) verdict.push(data);
        else if (channel === STDOUT || channel === STDERR) {
          const sink = sinks[channel];
          if (sink === undefined) collected[channel].push(data);
          else sink.write(data);
        }
      },
    },
  );
  const feeding = options.stdin === undefined ? Promise.resolve() : feed(channels, options.stdin);
  await channels.closed;
  await feeding;
  return {
    exitCode: exitCode(doing, Buffer.concat(verdict).toString('utf8')),
    stdout: Buffer.concat(collected[STDOUT]).toString('utf8'),
    stderr: Buffer.concat(collected[STDERR]).toString('utf8'),
  };
}

async function feed(channels: Channels, stdin: Readable | string): Promise<void> {
  if (typeof stdin === 'string') await channels.send(STDIN, Buffer.from(stdin));
  else
    for await (const chunk of stdin)
      if (!(await channels.send(STDIN, Buffer.from(chunk as Buffer | string)))) return;
  channels.end(STDIN);
}

/** The server says how it went in a Status on the error channel. */
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

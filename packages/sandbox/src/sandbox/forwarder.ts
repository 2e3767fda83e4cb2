import { once } from 'node:events';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { SandboxError } from '../errors.ts';
import { type HeldProcess, holdProcess } from './held-process.ts';
import type { HostPrograms } from './host-programs.ts';
import type { SandboxRecord } from './sandbox-record.ts';

export interface Forward {
  /** The port on 127.0.0.1 of the machine. */
  readonly port: number;
  close(): Promise<void>;
}

export interface ForwardTarget {
  readonly address: string;
  readonly port: number;
  /** The port on 127.0.0.1. Default: any free one. */
  readonly listen?: number;
}

/** What the child is told: `listen` comes with the listening socket. */
export type ForwarderMessage =
  | { readonly kind: 'listen'; readonly id: number; readonly address: string; readonly port: number }
  | { readonly kind: 'close'; readonly id: number };

/**
 * Lets programs of the machine reach into the sandbox's networks. The listening socket is made here, in the
 * machine's network namespace, and handed to a child that lives in the sandbox's: each connection crosses inside one
 * process, and no interface is added to the machine.
 */
export class Forwarder {
  readonly #programs: HostPrograms;
  readonly #record: SandboxRecord;
  readonly #switchPid: number;
  #child: HeldProcess | undefined;
  #next = 0;

  constructor(programs: HostPrograms, record: SandboxRecord, switchPid: number) {
    this.#programs = programs;
    this.#record = record;
    this.#switchPid = switchPid;
  }

  async forward(target: ForwardTarget): Promise<Forward> {
    const server = createServer();
    server.listen(target.listen ?? 0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    if (address === null || typeof address === 'string')
      throw new SandboxError('FORWARD_FAILED', 'no TCP port');
    const id = this.#next++;
    await this.#send({ kind: 'listen', id, address: target.address, port: target.port }, server);
    server.close(); // the child has its own copy
    return { port: address.port, close: () => this.#send({ kind: 'close', id }) };
  }

  async stop(): Promise<void> {
    await this.#child?.end();
    this.#child = undefined;
  }

  /** Each message is answered, so that a forward works (or is gone) when the caller goes on. */
  async #send(message: ForwarderMessage, server?: Server): Promise<void> {
    this.#child ??= this.#start();
    const { child, exit } = this.#child;
    await new Promise<void>((resolve, reject) => {
      const failed = () => reject(new SandboxError('FORWARD_FAILED', 'the forwarding process has ended'));
      void exit.then(failed);
      const onAnswer = (answer: { id: number }) => {
        if (answer.id !== message.id) return;
        child.off('message', onAnswer);
        resolve();
      };
      child.on('message', onAnswer);
      child.send(message, server, undefined, (error) => {
        if (error !== null) failed();
      });
    });
  }

  #start(): HeldProcess {
    const held = holdProcess(this.#programs, this.#record, {
      what: 'forwarder',
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
      command: [
        this.#programs.nsenter,
        `--net=/proc/${this.#switchPid}/ns/net`,
        process.execPath,
        join(import.meta.dirname, 'forwarder-main.ts'),
      ],
    });
    held.child.unref();
    held.child.channel?.unref();
    return held;
  }
}

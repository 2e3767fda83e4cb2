/** Port forwarding: each connection of the client becomes one inside the pod, to the pod's own loopback. */
import { type ChildProcess } from 'node:child_process';
import type { WebSocket } from 'ws';
import type { PodWorker } from '../pod/pod-worker.ts';
import { SpdySession, type SpdyStream } from './spdy-session.ts';

export const tunnelProtocol = 'SPDY/3.1+portforward.k8s.io';
export const forwardProtocol = 'portforward.k8s.io';

export interface ByteChannel {
  readonly send: (bytes: Buffer) => void;
  readonly close: () => void;
}

const dataChannel = 0;
const errorChannel = 1;

/** The other protocol of port forwarding: one connection to one port, data and errors as channels of a WebSocket. */
export function serveForwardChannel(worker: PodWorker, socket: WebSocket, port: number): void {
  const send = (channel: number, data: Buffer) => {
    if (socket.readyState === socket.OPEN) socket.send(Buffer.concat([Buffer.of(channel), data]));
  };
  // Each channel begins with the number of its port.
  const head = Buffer.alloc(2);
  head.writeUInt16LE(port & 0xff_ff);
  send(dataChannel, head);
  send(errorChannel, head);
  const fail = (why: string) => {
    send(
      errorChannel,
      Buffer.from(`error forwarding port ${port} to pod ${worker.pod.metadata.name}: ${why}`),
    );
    socket.close();
  };
  const child = worker.connect(port);
  if (child === undefined) return fail('the pod does not run');
  let said = '';
  child.stderr?.on('data', (chunk: Buffer) => {
    said = (said + chunk.toString('utf8')).slice(-1000);
  });
  child.stdin?.on('error', () => {});
  child.stdout?.on('data', (chunk: Buffer) => send(dataChannel, chunk));
  socket.on('message', (data: Buffer) => {
    if (data[0] === dataChannel) child.stdin?.write(data.subarray(1));
  });
  socket.once('close', () => child.kill('SIGKILL'));
  child.once('close', (code) => {
    if (code === 0) socket.close();
    else fail(said.trim() || 'connection refused');
  });
}

/** Answers a session to feed with what the client sends. */
export function servePortForward(worker: PodWorker, channel: ByteChannel): SpdySession {
  const errors = new Map<string, SpdyStream>();
  const waiting = new Map<string, SpdyStream>();
  const children = new Set<ChildProcess>();
  const join = (id: string) => {
    const data = waiting.get(id);
    const error = errors.get(id);
    if (data === undefined || error === undefined) return;
    waiting.delete(id);
    errors.delete(id);
    connect(worker, data, error, children);
  };
  return new SpdySession({
    send: channel.send,
    onStream: (stream) => {
      const id = stream.headers.get('requestid') ?? '';
      const type = stream.headers.get('streamtype');
      if (type === 'error') errors.set(id, stream);
      else if (type === 'data') waiting.set(id, stream);
      else {
        stream.reset();
        return;
      }
      join(id);
    },
    onClose: () => {
      for (const child of children) child.kill('SIGKILL');
      channel.close();
    },
  });
}

function connect(worker: PodWorker, data: SpdyStream, error: SpdyStream, children: Set<ChildProcess>): void {
  const port = Number(data.headers.get('port'));
  const child = worker.connect(port);
  if (child === undefined) {
    error.write(
      Buffer.from(`error forwarding port ${port} to pod ${worker.pod.metadata.name}: the pod does not run`),
    );
    error.end();
    data.end();
    return;
  }
  children.add(child);
  let said = '';
  child.stderr?.on('data', (chunk: Buffer) => {
    said = (said + chunk.toString('utf8')).slice(-1000);
  });
  child.stdin?.on('error', () => {});
  child.stdout?.on('data', (chunk: Buffer) => data.write(chunk));
  data.onData = (bytes) => child.stdin?.write(bytes);
  data.onEnd = () => child.stdin?.end();
  child.once('close', (code) => {
    children.delete(child);
    if (code !== 0)
      error.write(
        Buffer.from(
          `error forwarding port ${port} to pod ${worker.pod.metadata.name}, uid : failed to connect to localhost:${port} inside the pod: ${said.trim() || 'connection refused'}`,
        ),
      );
    error.end();
    data.end();
  });
}

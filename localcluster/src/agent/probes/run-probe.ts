/** Asks a container once how it is: by command, HTTP, TCP or gRPC. Never throws: a probe that cannot be made has failed. */
import type { ChildProcess } from 'node:child_process';
import { request as httpRequest } from 'node:http';
import { connect as http2Connect } from 'node:http2';
import { request as httpsRequest } from 'node:https';
import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import type { Container, Pod, Probe } from '../../objects/objects.ts';

export interface ProbeResult {
  readonly passed: boolean;
  readonly message: string;
}

export interface ProbeTarget {
  readonly pod: Pod;
  readonly container: Container;
  readonly address: string;
  readonly exec: (command: readonly string[]) => ChildProcess;
}

export type ProbeAction = Pick<Probe, 'exec' | 'httpGet' | 'tcpSocket' | 'grpc'>;

export async function runProbe(
  action: ProbeAction,
  target: ProbeTarget,
  timeoutMs: number,
): Promise<ProbeResult> {
  try {
    if (action.exec !== undefined) return await byCommand(action.exec.command ?? [], target, timeoutMs);
    if (action.httpGet !== undefined) return await byHttp(action.httpGet, target, timeoutMs);
    if (action.tcpSocket !== undefined) {
      const host = action.tcpSocket.host ?? target.address;
      return await byTcp(host, portOf(action.tcpSocket.port, target.container), timeoutMs);
    }
    if (action.grpc !== undefined)
      return await byGrpc(target.address, action.grpc.port, action.grpc.service ?? '', timeoutMs);
    return { passed: true, message: '' };
  } catch (error) {
    return { passed: false, message: error instanceof Error ? error.message : String(error) };
  }
}

function portOf(port: string | number, container: Container): number {
  if (typeof port === 'number') return port;
  const named = container.ports?.find((entry) => entry.name === port)?.containerPort;
  return named ?? Number(port);
}

function byCommand(command: readonly string[], target: ProbeTarget, timeoutMs: number): Promise<ProbeResult> {
  return new Promise((resolve) => {
    const child = target.exec(command);
    let said = '';
    const hear = (chunk: Buffer) => {
      if (said.length < 10_000) said += chunk.toString('utf8');
    };
    child.stdout?.on('data', hear);
    child.stderr?.on('data', hear);
    child.stdin?.on('error', () => {});
    child.stdin?.end();
    const timer = setTimeout(() => {
      child.kill('SIGKILL');
      resolve({
        passed: false,
        message: `command timed out: "${command.join(' ')}" timed out after ${timeoutMs / 1000}s`,
      });
    }, timeoutMs);
    child.once('error', (error) => {
      clearTimeout(timer);
      resolve({ passed: false, message: error.message });
    });
    child.once('close', (code) => {
      clearTimeout(timer);
      resolve({ passed: code === 0, message: said.trimEnd() });
    });
  });
}

type HttpGet = NonNullable<Probe['httpGet']>;

function byHttp(get: HttpGet, target: ProbeTarget, timeoutMs: number): Promise<ProbeResult> {
  const secure = get.scheme === 'HTTPS';
  const port = portOf(get.port, target.container);
  const headers: Record<string, string> = {
    'User-Agent': 'kube-probe/1.36',
    Accept: '*/*',
    Connection: 'close',
  };
  for (const { name, value } of get.httpHeaders ?? []) headers[name] = value;
  return new Promise((resolve) => {
    const send = secure ? httpsRequest : httpRequest;
    const url = `${secure ? 'https' : 'http'}://${get.host ?? target.address}:${port}${get.path ?? '/'}`;
    const request = send(
      url,
      {
        method: 'GET',
        headers,
        agent: false,
        timeout: timeoutMs,
        ...(secure ? { rejectUnauthorized: false } : {}),
      },
      (response) => {
        response.resume();
        const status = response.statusCode ?? 0;
        const passed = status >= 200 && status < 400;
        resolve({ passed, message: passed ? '' : `HTTP probe failed with statuscode: ${status}` });
      },
    );
    const timer = setTimeout(() => request.destroy(new Error('context deadline exceeded')), timeoutMs);
    request.once('close', () => clearTimeout(timer));
    request.once('error', (error) => resolve({ passed: false, message: `Get "${url}": ${error.message}` }));
    request.end();
  });
}

function byTcp(host: string, port: number, timeoutMs: number): Promise<ProbeResult> {
  return new Promise((resolve) => {
    const socket = connect({ host, port, timeout: timeoutMs });
    const finish = (passed: boolean, message: string) => {
      socket.destroy();
      resolve({ passed, message });
    };
    socket.once('connect', () => finish(true, ''));
    socket.once('timeout', () => finish(false, `dial tcp ${host}:${port}: i/o timeout`));
    socket.once('error', (error) => finish(false, `dial tcp ${host}:${port}: ${error.message}`));
  });
}

/** The standard health service of gRPC; the two messages are small enough to write by hand. */
function byGrpc(host: string, port: number, service: string, timeoutMs: number): Promise<ProbeResult> {
  const name = Buffer.from(service, 'utf8');
  const message =
    name.length === 0 ? Buffer.alloc(0) : Buffer.concat([Buffer.from([0x0a, name.length]), name]);
  const frame = Buffer.alloc(5);
  frame.writeUInt32BE(message.length, 1);
  return new Promise((resolve) => {
    const session = http2Connect(`http://${host}:${port}`);
    const finish = (passed: boolean, text: string) => {
      clearTimeout(timer);
      session.destroy();
      resolve({ passed, message: text });
    };
    const timer = setTimeout(
      () => finish(false, `timeout: failed to connect service "${host}:${port}" within ${timeoutMs} ms`),
      timeoutMs,
    );
    session.once('error', (error: Error) => finish(false, error.message));
    const stream = session.request({
      ':method': 'POST',
      ':path': '/grpc.health.v1.Health/Check',
      'content-type': 'application/grpc',
      te: 'trailers',
    });
    const chunks: Buffer[] = [];
    stream.on('data', (chunk: Buffer) => chunks.push(chunk));
    stream.once('error', (error: Error) => finish(false, error.message));
    stream.once('end', () => {
      const answer = Buffer.concat(chunks);
      const serving = answer.length >= 7 && answer[5] === 0x08 && answer[6] === 1;
      finish(serving, serving ? '' : 'service unhealthy (responded with "NOT_SERVING")');
    });
    stream.end(Buffer.concat([frame, message]));
  });
}

/** postStart and preStop: a command in the container, a request to it, or a pause. */
type Hook = NonNullable<NonNullable<Container['lifecycle']>['preStop']>;

export async function runHook(hook: Hook, target: ProbeTarget, timeoutMs: number): Promise<ProbeResult> {
  if (hook.sleep !== undefined) {
    await delay(Math.min(hook.sleep.seconds * 1000, timeoutMs));
    return { passed: true, message: '' };
  }
  return runProbe(hook, target, timeoutMs);
}

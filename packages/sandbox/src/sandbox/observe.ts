/** What can be seen of a box from outside, through /proc and its log. */
import { closeSync, fstatSync, openSync, readFileSync, readSync } from 'node:fs';
import { identify, type ProcessIdentity } from '../process/process-identity.ts';

/** The only child of a process. */
export function firstChild(pid: number): ProcessIdentity | undefined {
  try {
    const [child] = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ');
    return child === undefined || child === '' ? undefined : identify(Number(child));
  } catch {
    return undefined;
  }
}

/** Whether something listens on a TCP port in the network namespace of `pid`. */
export function listens(pid: number, port: number): boolean {
  return ['tcp', 'tcp6'].some((table) => {
    try {
      return listeningPorts(readFileSync(`/proc/${pid}/net/${table}`, 'utf8')).has(port);
    } catch {
      return false;
    }
  });
}

/** Ports in state LISTEN (0A) of a /proc/net/tcp table. */
export function listeningPorts(table: string): Set<number> {
  const ports = new Set<number>();
  for (const line of table.split('\n').slice(1)) {
    const [, local = '', , state] = line.trim().split(/\s+/);
    if (state === '0A') ports.add(Number.parseInt(local.split(':')[1] ?? '', 16));
  }
  return ports;
}

/** The last `bytes` of a file; empty when there is none. */
export function readTail(path: string, bytes: number): string {
  let file: number;
  try {
    file = openSync(path, 'r');
  } catch {
    return '';
  }
  try {
    const { size } = fstatSync(file);
    const buffer = Buffer.alloc(Math.min(bytes, size));
    readSync(file, buffer, 0, buffer.length, size - buffer.length);
    return buffer.toString('utf8');
  } finally {
    closeSync(file);
  }
}

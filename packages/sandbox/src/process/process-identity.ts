/** Which process a number means. Numbers are reused; a number with its start time is not. */
import { readdirSync, readFileSync } from 'node:fs';

export interface ProcessIdentity {
  readonly pid: number;
  /** Clock ticks after boot, field 22 of /proc/PID/stat. */
  readonly startTime: string;
}

/** The identity of a running process; undefined when there is none (a zombie counts as gone). */
export function identify(pid: number): ProcessIdentity | undefined {
  const stat = readStat(pid);
  if (stat === undefined || stat.state === 'Z' || stat.state === 'X') return undefined;
  return { pid, startTime: stat.startTime };
}

export function isAlive(process: ProcessIdentity): boolean {
  return identify(process.pid)?.startTime === process.startTime;
}

/** Sends a signal if that very process is still there; says whether it was. */
export function signalProcess(target: ProcessIdentity, signal: NodeJS.Signals): boolean {
  if (!isAlive(target)) return false;
  try {
    process.kill(target.pid, signal);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return false;
    throw error;
  }
}

/** Every process below `pid`, parents before children. */
export function descendants(pid: number): number[] {
  const children = new Map<number, number[]>();
  for (const other of allProcesses()) {
    const parent = readStat(other)?.parent;
    if (parent === undefined) continue;
    children.set(parent, [...(children.get(parent) ?? []), other]);
  }
  const found: number[] = [];
  const waiting = [pid];
  for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
    const below = children.get(next) ?? [];
    found.push(...below);
    waiting.push(...below);
  }
  return found;
}

export function allProcesses(): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number);
}

/** One-letter state, parent and start time from /proc/PID/stat. */
export function readStat(
  pid: number,
): { readonly state: string; readonly parent: number; readonly startTime: string } | undefined {
  let text: string;
  try {
    text = readFileSync(`/proc/${pid}/stat`, 'utf8');
  } catch {
    return undefined;
  }
  // The command name stands in parentheses and may itself hold spaces and parentheses.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return { state: fields[0] ?? '', parent: Number(fields[1]), startTime: fields[19] ?? '' };
}

import { existsSync } from 'node:fs';
import { PrerequisiteError } from '../errors.ts';
import { unpackTools } from '../unpack-tools.ts';

/** Programs of the machine by full path: a box may have any PATH of its own. */
export interface HostPrograms {
  readonly setpriv: string;
  readonly unshare: string;
  readonly nsenter: string;
  readonly sh: string;
  readonly ip: string;
}

let found: Promise<HostPrograms> | undefined;

export async function hostPrograms(): Promise<HostPrograms> {
  // A failure is not kept: what was missing may be there the next time.
  found ??= find().catch((error: unknown) => {
    found = undefined;
    throw error;
  });
  return found;
}

async function find(): Promise<HostPrograms> {
  const need = (name: string) => {
    const path = lookUp(name);
    if (path === undefined)
      throw new PrerequisiteError(`${name} is missing: install util-linux, then run this again.`);
    return path;
  };
  return {
    setpriv: need('setpriv'),
    unshare: need('unshare'),
    nsenter: need('nsenter'),
    sh: need('sh'),
    // iproute2 is not on every Debian machine; then Debian's own package serves, unpacked.
    ip: lookUp('ip') ?? (await unpackTools({ packages: ['iproute2'] })).path('ip'),
  };
}

function lookUp(name: string): string | undefined {
  return ['/usr/bin', '/usr/sbin', '/bin', '/sbin']
    .map((directory) => `${directory}/${name}`)
    .find((path) => existsSync(path));
}

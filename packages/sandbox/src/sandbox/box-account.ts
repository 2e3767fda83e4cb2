/** Who a box's process is: names are looked up in the box's own /etc/passwd and /etc/group. Pure. */
import { InvalidRequestError } from '../errors.ts';

export interface Account {
  readonly uid: number;
  readonly gid: number;
  /** Supplementary groups. */
  readonly groups: readonly number[];
}

export function findAccount(user: string | undefined, passwd: string, group: string): Account {
  if (user === undefined || user === 'root' || user === '0') return { uid: 0, gid: 0, groups: [0] };
  const numeric = /^(\d+)(?::(\d+))?$/.exec(user);
  if (numeric) {
    const uid = Number(numeric[1]);
    const known = rows(passwd).find((row) => row[2] === numeric[1]);
    const gid = Number(numeric[2] ?? known?.[3] ?? uid);
    return { uid, gid, groups: [gid] };
  }
  const row = rows(passwd).find(([name]) => name === user);
  if (row === undefined)
    throw new InvalidRequestError(
      `user "${user}" is not in the box's /etc/passwd; give a name of it or "uid:gid".`,
    );
  const gid = Number(row[3]);
  const others = rows(group)
    .filter((entry) => (entry[3] ?? '').split(',').includes(user))
    .map((entry) => Number(entry[2]));
  return { uid: Number(row[2]), gid, groups: [...new Set([gid, ...others])] };
}

function rows(text: string): string[][] {
  return text.split('\n').map((line) => line.split(':'));
}

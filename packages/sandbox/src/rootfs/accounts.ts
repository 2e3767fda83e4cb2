import { appendFile, chmod, chown, mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { InvalidRequestError } from '../errors.ts';

/** A system account with fixed numbers. Its group has the same name. */
export interface AccountRequest {
  readonly name: string;
  readonly uid: number;
  readonly gid: number;
  /** Made and owned by the account when given. Default: `/nonexistent`. */
  readonly home?: string;
  /** Default: `/usr/sbin/nologin`. */
  readonly shell?: string;
}

/** 2026-01-01 as days since 1970: a fixed "password last changed", because today's date is not reproducible. */
const passwordChanged = 20454;

/** Adds accounts straight to the files: nothing of the root has to run for it. */
export async function addAccounts(root: string, accounts: readonly AccountRequest[]): Promise<void> {
  for (const account of accounts) {
    const { name, uid, gid, home = '/nonexistent', shell = '/usr/sbin/nologin' } = account;
    if (!/^[a-z_][a-z0-9_-]{0,31}$/.test(name))
      throw new InvalidRequestError(`account name "${name}" is not a valid Linux user name.`);
    const passwd = await readFile(join(root, 'etc/passwd'), 'utf8');
    if (passwd.split('\n').some((line) => line.startsWith(`${name}:`) || line.split(':')[2] === String(uid)))
      throw new InvalidRequestError(`account ${name} (uid ${uid}) clashes with one that exists already.`);
    await appendFile(join(root, 'etc/passwd'), `${name}:x:${uid}:${gid}::${home}:${shell}\n`);
    await appendFile(join(root, 'etc/group'), `${name}:x:${gid}:\n`);
    await appendFile(join(root, 'etc/shadow'), `${name}:!:${passwordChanged}::::::\n`);
    await appendFile(join(root, 'etc/gshadow'), `${name}:!::\n`);
    if (account.home === undefined) continue;
    await mkdir(join(root, home), { recursive: true });
    await chown(join(root, home), uid, gid);
    await chmod(join(root, home), 0o755);
  }
}

/** Which Slurm user a Kubernetes user is. Pure. */

export interface UserMapping {
  /** Removed from the beginning and the end of the name in Kubernetes, such as `oidc:` and `@example.org`. */
  readonly prefix: string;
  readonly suffix: string;
}

/** A name that a Linux account can have. No colon: `system:serviceaccount:…` and other names of Kubernetes itself are no people. */
const accountName = /^[a-z_][a-z0-9_-]{0,31}$/;

/** Accounts that run daemons on every Linux. What they may do in Slurm is for their administrator to say, not for a name in Kubernetes. */
const systemAccounts = new Set([
  'adm',
  'apache',
  'backup',
  'bin',
  'chrony',
  'daemon',
  'dbus',
  'ftp',
  'games',
  'gnats',
  'halt',
  'irc',
  'list',
  'lp',
  'mail',
  'man',
  'messagebus',
  'munge',
  'mysql',
  'news',
  'nginx',
  'nobody',
  'nslcd',
  'ntp',
  'operator',
  'polkitd',
  'postfix',
  'postgres',
  'proxy',
  'rpc',
  'shutdown',
  'slurmrestd',
  'sshd',
  'sssd',
  'sync',
  'sys',
  'tss',
  'uucp',
  'www-data',
]);

export type MappedUser =
  | { readonly kind: 'user'; readonly name: string }
  | { readonly kind: 'none'; readonly why: string };

/** The name without prefix and suffix, if what is left is the name of a person's account. A configured part that is missing is a refusal. */
export function slurmUserOf(username: string, { prefix, suffix }: UserMapping): MappedUser {
  const none = (why: string): MappedUser => ({ kind: 'none', why });
  if (!username.startsWith(prefix)) return none(`it does not begin with "${prefix}"`);
  if (!username.endsWith(suffix)) return none(`it does not end with "${suffix}"`);
  if (username.length <= prefix.length + suffix.length) return none('nothing is left of it');
  const name = username.slice(prefix.length, username.length - suffix.length);
  if (!accountName.test(name)) return none('it is not the name of a Linux account');
  if (systemAccounts.has(name) || /^(_|systemd-)/.test(name))
    return none('it is the name of a system account');
  return { kind: 'user', name };
}

import { type BuildOptions, buildRootfs, type Rootfs } from '@slurm-operator/sandbox';

/** The Slurm releases that Debian packages: 26.05 in forky, 24.11 in trixie. */
export type SlurmRelease = '26.05' | '24.11';

/**
 * A root file system with every daemon of a Slurm release, MariaDB and an ordinary user "alice". An empty database is made
 * at build time, because making one takes longer than starting everything else.
 */
export function slurmRootfs(release: SlurmRelease, options: BuildOptions = {}): Promise<Rootfs> {
  const request = {
    name: `mini-slurm-${release}`,
    suite: release === '26.05' ? 'forky' : 'trixie',
    packages: [
      'systemd-standalone-sysusers', // keeps systemd itself out
      'adduser',
      'slurmctld',
      'slurmd',
      'slurmrestd',
      'slurm-client',
      'slurm-wlm-jwt-plugin', // auth/jwt, a mere recommendation of the others
      'slurmdbd',
      'slurm-wlm-mysql-plugin',
      'mariadb-server',
    ],
    accounts: [
      { name: 'slurmrestd', uid: 64031, gid: 64031 }, // slurmrestd refuses to run as root and as SlurmUser
      { name: 'alice', uid: 1001, gid: 1001, home: '/home/alice', shell: '/bin/sh' },
    ],
    commands: [
      ['rm', '-rf', '/var/lib/mysql'],
      [
        'mariadb-install-db',
        '--no-defaults',
        '--force',
        '--skip-name-resolve',
        '--skip-test-db',
        '--user=mysql',
        '--auth-root-authentication-method=socket',
        '--innodb-log-file-size=4M',
        '--datadir=/var/lib/mini-mysql',
      ],
    ],
  } as const;
  return buildRootfs(request, options);
}

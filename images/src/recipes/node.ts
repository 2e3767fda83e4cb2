/** slurmd and login: where people's work runs, and where they log in. One content, as both need ssh and accounts. */
import { type ImageRecipe, path, script, underTini } from '../recipe.ts';
import {
  slurmAccount,
  slurmBasePackages,
  slurmDirectory,
  slurmSuite,
  slurmVersions,
} from '../slurm-version.ts';

/** For people on a login node: why does my job wait? */
const doctor = 'slurm-doctor';

const content = {
  versions: slurmVersions,
  suite: slurmSuite,
  // forky has no sssd for the time being; unstable does, built for the same libraries.
  alsoFrom: (version: string) => (slurmSuite(version) === 'forky' ? (['sid'] as const) : []),
  packages: [
    ...slurmBasePackages,
    'slurmd',
    'sackd',
    'libpam-slurm-adopt',
    'openssh-client',
    'openssh-server',
    // Every provider that upstream's images have: LDAP, Active Directory, FreeIPA, Kerberos, and accounts of a proxy.
    'sssd-ad',
    'sssd-ipa',
    'sssd-krb5',
    'sssd-ldap',
    'sssd-proxy',
    'libnss-sss',
    'libpam-sss',
    'procps',
    // A megabyte; runs slurm-doctor.
    'quickjs',
  ],
  accounts: [slurmAccount],
  files: [
    script('options.bash'),
    script('slurmd.bash'),
    script('slurmd-keys.bash'),
    script('login.bash'),
    script('ssh.bash'),
    script(doctor),
    { path: '/run/slurm', directory: true },
    { path: '/var/spool/slurmd', directory: true },
    slurmDirectory('/var/log/slurm'),
  ],
  // A user gets a home directory at the first login.
  commands: [
    ['pam-auth-update', '--package', '--enable', 'mkhomedir'],
    ['ln', '-s', `/usr/libexec/slurm-operator/${doctor}`, `/usr/bin/${doctor}`],
  ],
  // The compiler of QuickJS, and its examples.
  remove: ['/usr/lib/python3*/**/__pycache__', '/usr/bin/qjsc', '/usr/share/doc/quickjs/examples'],
};

export const slurmd: ImageRecipe = {
  ...content,
  name: 'slurmd',
  about: 'A Slurm worker.',
  config: {
    entrypoint: underTini('/usr/libexec/slurm-operator/slurmd.bash'),
    env: { PATH: path },
    ports: ['6818/tcp', '22/tcp'],
  },
};

export const login: ImageRecipe = {
  ...content,
  name: 'login',
  about: 'A login node: sshd, sssd and sackd.',
  config: {
    entrypoint: underTini('/usr/libexec/slurm-operator/login.bash'),
    env: { PATH: path },
    ports: ['22/tcp'],
  },
};

import { type ImageRecipe, path, script, slurmAccount, slurmDirectory, underTini } from '../recipe.ts';

export const slurmd: ImageRecipe = {
  name: 'slurmd',
  about: 'A Slurm worker.',
  packages: () => [
    'systemd-standalone-sysusers',
    'adduser',
    'tini',
    'slurmd',
    'slurm-client',
    'slurm-wlm-jwt-plugin',
    'libpam-slurm-adopt',
    'openssh-server',
    'procps',
  ],
  accounts: [slurmAccount],
  files: [
    script('options.bash'),
    script('slurmd.bash'),
    script('ssh.bash'),
    { path: '/run/slurm', directory: true },
    { path: '/var/spool/slurmd', directory: true },
    slurmDirectory('/var/log/slurm'),
  ],
  config: {
    entrypoint: underTini('/usr/libexec/slurm-operator/slurmd.bash'),
    env: { PATH: path },
    ports: ['6818/tcp'],
  },
};

/**
 * slurmctld, slurmdbd and slurmrestd are three images with one content: a machine fetches and unpacks it once, and
 * they are always of the same build.
 */
import { type ImageRecipe, path, script, underTini } from '../recipe.ts';
import {
  slurmAccount,
  slurmBasePackages,
  slurmDirectory,
  slurmSuite,
  slurmVersions,
} from '../slurm-version.ts';

const content = {
  versions: slurmVersions,
  suite: slurmSuite,
  packages: [...slurmBasePackages, 'slurmctld', 'slurmdbd', 'slurmrestd', 'slurm-wlm-mysql-plugin'],
  // slurmrestd refuses to be root or SlurmUser.
  accounts: [slurmAccount, { name: 'slurmrestd', uid: 402, gid: 402 }],
  files: [
    script('options.bash'),
    script('slurmctld.bash'),
    slurmDirectory('/run/slurmctld'),
    slurmDirectory('/run/slurmdbd'),
    slurmDirectory('/var/spool/slurmctld'),
    slurmDirectory('/var/log/slurm'),
  ],
};

export const slurmctld: ImageRecipe = {
  ...content,
  name: 'slurmctld',
  about: 'The Slurm controller.',
  config: {
    entrypoint: underTini('/usr/libexec/slurm-operator/slurmctld.bash'),
    env: { PATH: path },
    user: '401:401',
    ports: ['6817/tcp'],
  },
};

export const slurmdbd: ImageRecipe = {
  ...content,
  name: 'slurmdbd',
  about: 'The Slurm accounting daemon.',
  config: {
    entrypoint: underTini('slurmdbd', '-D'),
    env: { PATH: path },
    user: '401:401',
    ports: ['6819/tcp'],
  },
};

export const slurmrestd: ImageRecipe = {
  ...content,
  name: 'slurmrestd',
  about: 'The Slurm REST API.',
  config: {
    entrypoint: underTini('slurmrestd'),
    env: { PATH: path },
    user: '402:402',
    ports: ['6820/tcp'],
  },
};

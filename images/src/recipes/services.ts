/** What a Slurm cluster stands on, for tests and small set-ups: a database, a directory of people, and curl. */
import { type ImageRecipe, path, script, underTini } from '../recipe.ts';

export const mariadb: ImageRecipe = {
  name: 'mariadb',
  about: 'A MariaDB server with settings that slurmdbd asks for.',
  versions: ['11.8'],
  suite: () => 'trixie',
  packages: ['tini', 'mariadb-server-core', 'mariadb-client-core'],
  accounts: [{ name: 'mysql', uid: 999, gid: 999, home: '/var/lib/mysql' }],
  files: [script('mariadb.bash'), { path: '/run/mysqld', directory: true, uid: 999, gid: 999 }],
  config: {
    entrypoint: underTini('/usr/libexec/slurm-operator/mariadb.bash'),
    env: { PATH: path },
    user: '999:999',
    ports: ['3306/tcp'],
  },
};

export const ldap: ImageRecipe = {
  name: 'ldap',
  about: 'An LDAP server with the people of a seed file.',
  versions: ['2.6'],
  suite: () => 'trixie',
  packages: ['systemd-standalone-sysusers', 'tini', 'slapd', 'ldap-utils'],
  // Without this the package makes a database of its own, with a random password in it.
  answers: ['slapd slapd/no_configuration boolean true'],
  accounts: [{ name: 'openldap', uid: 998, gid: 998, home: '/var/lib/ldap' }],
  files: [
    script('ldap.bash'),
    { path: '/run/slapd', directory: true, uid: 998, gid: 998 },
    { path: '/seed', directory: true },
  ],
  config: {
    entrypoint: underTini('/usr/libexec/slurm-operator/ldap.bash'),
    env: { PATH: path },
    user: '998:998',
    ports: ['1389/tcp'],
  },
};

export const curl: ImageRecipe = {
  name: 'curl',
  about: 'curl and a shell.',
  versions: ['8'],
  suite: () => 'trixie',
  packages: ['curl'],
  accounts: [{ name: 'curl', uid: 1000, gid: 1000 }],
  files: [],
  config: { entrypoint: ['curl'], env: { PATH: path }, user: '1000:1000' },
};

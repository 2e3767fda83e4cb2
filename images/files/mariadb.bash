#!/bin/bash
# MariaDB in /var/lib/mysql. MARIADB_DATABASE, MARIADB_USER and MARIADB_PASSWORD (or the file that
# MARIADB_PASSWORD_FILE names) are made, or made so again, at each start. Arguments are mariadbd's.
set -euo pipefail

data=/var/lib/mysql
if [[ ! -d $data/mysql ]]; then
  mariadb-install-db --no-defaults --force --auth-root-authentication-method=socket --auth-root-socket-user=mysql \
    --skip-name-resolve --skip-test-db --datadir="$data"
fi

# text VALUE, name VALUE: an SQL string and an SQL identifier that hold VALUE whatever is in it.
text() {
  local value=${1//\\/\\\\}
  printf "'%s'" "${value//\'/\'\'}"
}
name() { printf '`%s`' "${1//\`/\`\`}"; }

init=/run/mysqld/init.sql
umask 077
: >"$init"
password=${MARIADB_PASSWORD:-}
if [[ -n ${MARIADB_PASSWORD_FILE:-} ]]; then password=$(<"$MARIADB_PASSWORD_FILE"); fi
case ${MARIADB_DATABASE:-}${MARIADB_USER:-}$password in
  *$'\n'*) echo "MARIADB_DATABASE, MARIADB_USER and the password may not hold a line break" >&2; exit 64 ;;
esac
if [[ -n ${MARIADB_DATABASE:-} ]]; then
  echo "CREATE DATABASE IF NOT EXISTS $(name "$MARIADB_DATABASE");" >>"$init"
fi
if [[ -n ${MARIADB_USER:-} ]]; then
  account="$(text "$MARIADB_USER")@'%'"
  {
    echo "CREATE USER IF NOT EXISTS $account IDENTIFIED BY $(text "$password");"
    echo "ALTER USER $account IDENTIFIED BY $(text "$password");"
    if [[ -n ${MARIADB_DATABASE:-} ]]; then echo "GRANT ALL ON $(name "$MARIADB_DATABASE").* TO $account;"; fi
  } >>"$init"
fi

# slurmdbd asks for a long lock wait, and stops when snapshot isolation is on.
exec mariadbd --no-defaults --datadir="$data" --socket=/run/mysqld/mysqld.sock --pid-file=/run/mysqld/mariadbd.pid \
  --bind-address=0.0.0.0 --skip-name-resolve --init-file="$init" \
  --innodb-lock-wait-timeout=900 --innodb-snapshot-isolation=OFF --innodb-log-file-size=64M "$@"

#!/bin/bash
# A login node: sackd (as slurm, with SACKD_OPTIONS), sssd (SSSD_OPTIONS) and sshd (SSHD_OPTIONS) side by side.
# When one of them ends the container ends: whoever restarts containers restarts all of it.
set -euo pipefail
source /usr/libexec/slurm-operator/options.bash

sackd_options=(-D)
words sackd_options "${SACKD_OPTIONS:-}"
arguments sackd_options "$@"
sshd_options=(-D -e)
words sshd_options "${SSHD_OPTIONS:-}"

install -d -o slurm -g slurm -m 0755 /run/slurm
# By its path: when slurmctld is reconfigured sackd executes itself anew, under the name by which it was called.
setpriv --reuid=slurm --regid=slurm --init-groups -- "$(type -P sackd)" "${sackd_options[@]}" &
/usr/libexec/slurm-operator/ssh.bash prepare
if [[ -e /run/sssd/sssd.conf ]]; then
  sssd_options=()
  words sssd_options "${SSSD_OPTIONS:-}"
  sssd --interactive --logger=stderr --config /run/sssd/sssd.conf "${sssd_options[@]}" &
fi
/usr/sbin/sshd "${sshd_options[@]}" &

trap 'trap - TERM INT; kill $(jobs -p) 2>/dev/null || true; wait; exit 0' TERM INT
code=0
wait -n || code=$?
echo "one of sackd, sssd and sshd ended with code $code; so does this login node" >&2
kill $(jobs -p) 2>/dev/null || true
wait
exit "$((code == 0 ? 1 : code))"

#!/bin/bash
# Makes everything ready for sshd and sssd.
#   prepare   directories, host keys that are missing, a readable sssd.conf
#   adopt     also starts both in the background, and lets nobody in who has no job on this node; who has one is put
#             into it (pam_slurm_adopt with PAM_SLURM_ADOPT_OPTIONS)
set -euo pipefail
source /usr/libexec/slurm-operator/options.bash

install -d -m 0755 /run/sshd /run/sssd /var/lib/sss/db /var/lib/sss/pipes /var/lib/sss/mc
install -d -m 0700 /var/lib/sss/pipes/private
ssh-keygen -A >/dev/null
if [[ -e /etc/sssd/sssd.conf ]]; then
  # sssd takes only a file of its own that nobody else can read, which a mounted secret is not.
  install -o root -g root -m 0600 /etc/sssd/sssd.conf /run/sssd/sssd.conf
fi
[[ ${1:-} == adopt ]] || exit 0

adopt=${PAM_SLURM_ADOPT_OPTIONS:-action_adopt_failure=deny action_generic_failure=deny}
if [[ ! $adopt =~ ^[A-Za-z0-9_.=,/\ -]*$ ]]; then
  echo "PAM_SLURM_ADOPT_OPTIONS may hold letters, digits, spaces and _.=,/- only" >&2
  exit 64
fi
# Before Debian's own account rules: one of them lets accounts of /etc/passwd in and skips whatever follows.
sed -i '/pam_slurm_adopt\.so/d' /etc/pam.d/sshd
sed -i "0,/^@include common-account/s||account required pam_slurm_adopt.so $adopt\n&|" /etc/pam.d/sshd
grep -q pam_slurm_adopt /etc/pam.d/sshd || { echo "/etc/pam.d/sshd has no line '@include common-account'" >&2; exit 70; }

sssd_options=()
words sssd_options "${SSSD_OPTIONS:-}"
sssd --daemon --config /run/sssd/sssd.conf "${sssd_options[@]}"
sshd_options=()
words sshd_options "${SSHD_OPTIONS:-}"
/usr/sbin/sshd "${sshd_options[@]}"

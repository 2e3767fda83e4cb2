#!/bin/bash
# Starts sssd and sshd in the background. With "adopt", whoever logs in is put into their job on this node, and
# nobody gets in without one (pam_slurm_adopt).
set -euo pipefail
source /usr/libexec/slurm-operator/options.bash

if [[ ${1:-} == adopt ]]; then
  adopt=${PAM_SLURM_ADOPT_OPTIONS:-action_adopt_failure=deny action_generic_failure=deny}
  if [[ ! $adopt =~ ^[A-Za-z0-9_.=,/\ -]*$ ]]; then
    echo "PAM_SLURM_ADOPT_OPTIONS may hold letters, digits, spaces and _.=,/- only" >&2
    exit 64
  fi
  line="account required pam_slurm_adopt.so $adopt"
  if ! grep -qxF "$line" /etc/pam.d/sshd; then
    sed -i '/pam_slurm_adopt\.so/d' /etc/pam.d/sshd
    printf '%s\n' "$line" >>/etc/pam.d/sshd
  fi
fi

install -d -m 0755 /run/sshd /run/sssd /var/lib/sss/db /var/lib/sss/pipes/private /var/lib/sss/mc
ssh-keygen -A >/dev/null
if [[ -e /etc/sssd/sssd.conf ]]; then
  sssd_options=()
  words sssd_options "${SSSD_OPTIONS:-}"
  # sssd refuses a file that others could write or that is not its own; a mounted secret is neither writable nor 0600.
  install -m 0600 /etc/sssd/sssd.conf /run/sssd/sssd.conf
  /usr/sbin/sssd --daemon --config /run/sssd/sssd.conf "${sssd_options[@]}"
fi
sshd_options=()
words sshd_options "${SSHD_OPTIONS:-}"
/usr/sbin/sshd "${sshd_options[@]}"

#!/bin/bash
# slurmctld in the foreground, with the options of SLURMCTLD_OPTIONS and then those of the container's arguments.
set -euo pipefail
source /usr/libexec/slurm-operator/options.bash

options=(-D)
words options "${SLURMCTLD_OPTIONS:-}"
arguments options "$@"
exec slurmctld "${options[@]}"

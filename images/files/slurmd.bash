#!/bin/bash
# slurmd in the foreground, with the options of SLURMD_OPTIONS and then those of the container's arguments.
#
#   POD_CPUS      CPUs this container may use: the other cores of the machine are reserved (CoreSpecCount)
#   POD_MEMORY    MiB this container may use: the rest of the machine's memory is reserved (MemSpecLimit)
#   POD_TOPOLOGY  where this node is in the topology
#   SSHD_OPTIONS, SSSD_OPTIONS, PAM_SLURM_ADOPT_OPTIONS
#
# sshd and sssd are started when /etc/sssd/sssd.conf is there, which is how a NodeSet with ssh mounts it.
set -euo pipefail
source /usr/libexec/slurm-operator/options.bash
source /usr/libexec/slurm-operator/slurmd-keys.bash

options=(-D)
words options "${SLURMD_OPTIONS:-}"
arguments options "$@"

# reserve ITEM: adds to the node's --conf, which is made when there is none.
reserve() {
  local index
  for index in "${!options[@]}"; do
    case ${options[index]} in
      --conf) options[index + 1]="${options[index + 1]:-} $1"; return ;;
      --conf=*) options[index]+=" $1"; return ;;
    esac
  done
  options+=(--conf "$1")
}

# value NAME TEXT: the number that TEXT gives for NAME=, which Slurm reads without regard to case.
value() {
  shopt -s nocasematch
  if [[ $2 =~ (^|[[:space:]])$1=([0-9]+) ]]; then echo "${BASH_REMATCH[2]}"; fi
  shopt -u nocasematch
}

claimed=
for index in "${!options[@]}"; do
  case ${options[index]} in
    --conf) claimed=${options[index + 1]:-} ;;
    --conf=*) claimed=${options[index]#--conf=} ;;
  esac
done

# What the node claims to have counts; what slurmd sees of the machine fills the gaps.
if [[ ${POD_CPUS:-}${POD_MEMORY:-} != '' ]]; then
  machine=$(slurmd -C | head -n 1)
  cpus=$(value CPUs "$claimed")
  threads=$(value ThreadsPerCore "$claimed")
  if [[ -z $threads ]]; then threads=$([[ -n $cpus ]] && echo 1 || value ThreadsPerCore "$machine"); fi
  cpus=${cpus:-$(value CPUs "$machine")}
  memory=$(value RealMemory "$claimed")
  memory=${memory:-$(value RealMemory "$machine")}
  if [[ ${POD_CPUS:-} =~ ^[1-9][0-9]*$ ]]; then
    spared=$((cpus / threads - (POD_CPUS + threads - 1) / threads))
    if ((spared > 0)); then reserve "CoreSpecCount=$spared"; fi
  fi
  if [[ ${POD_MEMORY:-} =~ ^[1-9][0-9]*$ ]]; then
    spared=$((memory - POD_MEMORY))
    if ((spared > 0)); then reserve "MemSpecLimit=$spared"; fi
  fi
fi
if [[ -n ${POD_TOPOLOGY:-} ]]; then
  if [[ $POD_TOPOLOGY =~ ^[A-Za-z0-9_.:,/-]+$ ]]; then
    reserve "Topology=$POD_TOPOLOGY"
  else
    echo "POD_TOPOLOGY is ignored: it holds more than letters, digits and _.:,/-" >&2
  fi
fi

if [[ -e /etc/sssd/sssd.conf ]]; then
  /usr/libexec/slurm-operator/ssh.bash adopt
fi

# slurmctld's addresses in the options, as HOST:PORT.
servers=()
for index in "${!options[@]}"; do
  case ${options[index]} in
    --conf-server) IFS=, read -r -a servers <<<"${options[index + 1]:-}" ;;
    --conf-server=*) IFS=, read -r -a servers <<<"${options[index]#--conf-server=}" ;;
  esac
done

# Steps of jobs are processes of this container and end with it. A slurmd that dies beside them is therefore started again here,
# and takes them over; without steps the container ends with slurmd's exit code, and the kubelet shows what happened.
stopping=
slurmd=
trap 'stopping=1; [[ -z $slurmd ]] || kill -TERM "$slurmd" 2>/dev/null || true' TERM INT

# With cgroup v2 the groups of jobs are in the pod's group, beside the container's own, and stay when the container is killed. Empty
# ones are removed; the kernel keeps those that have processes.
remove_stale_groups() {
  local own scope
  own=$(sed -n 's/^0:://p' /proc/self/cgroup)
  [[ $own == /*/* ]] || return 0
  for scope in /sys/fs/cgroup"${own%/*}"/system.slice/*_slurmstepd.scope; do
    if [[ -d $scope ]]; then find "$scope" -mindepth 1 -depth -type d -exec rmdir {} \; 2>/dev/null || true; fi
  done
}
remove_stale_groups

has_steps() { pgrep --full '^slurmstepd: \[' >/dev/null; }

# pause SECONDS: ends early when the container is told to stop.
pause() {
  local nothing
  exec {nothing}<> <(:)
  read -r -t "$1" -u "$nothing" || true
  exec {nothing}>&-
}

key=/etc/slurm/slurm.key
seen=/run/slurm-key-seen
# slurmd gets its configuration from slurmctld, and would look for the file beside that.
export SLURM_SACK_JWKS=$own_keys
await_keys
delay=1
while :; do
  began=$SECONDS
  # Before slurmd starts: with cgroup v2 it may move the processes of its container, and ends if another one appears just then.
  sum=
  if [[ -r $key ]]; then
    touch --reference="$key" "$seen" || true
    sum=$(cksum <"$key") || true
  fi
  if take_keys; then report_keys; else rm -f "$own_keys"; fi
  slurmd "${options[@]}" &
  slurmd=$!
  if [[ -n $sum ]]; then watch_key "$key" "$seen" "$slurmd" "$sum" & fi
  code=0
  wait "$slurmd" || code=$?
  # A signal ends the wait, not slurmd.
  while kill -0 "$slurmd" 2>/dev/null; do
    code=0
    wait "$slurmd" || code=$?
  done
  if [[ -n $stopping ]] || ! has_steps; then exit "$code"; fi
  if ((SECONDS - began > 60)); then delay=1; fi
  echo "slurmd ended with code $code while job steps run here: starting it again in $delay s" >&2
  pause "$delay"
  if [[ -n $stopping ]]; then exit "$code"; fi
  delay=$((delay < 30 ? delay * 2 : 30))
done

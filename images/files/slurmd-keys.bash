#!/bin/bash
# How slurmd reads its keys again while it runs. For slurmd.bash, which knows slurmctld's addresses: `servers`, as HOST:PORT.

# The key is a mounted file that changes when it is rotated. slurmd reads it once, and again on SIGHUP; jobs continue meanwhile.
# Nothing is started here while the file is as old as before. A newer one may still hold the same key.
#
# Not while a slurmctld has the old key. It would end every job that it starts here ("non-startable"), and slurmstepd, for which slurmd
# signs, does not repeat the end of a job to a slurmctld that refuses it; to one that is away, it does. One that is away may come back
# with the old key: its container can start again before its own file has changed. So the new key is read only when a slurmctld
# refuses the old one, or when one has an address that it did not have before: a new pod always has the new key.

# Whether a slurmctld takes connections. It is tried often: from the moment that slurmctld is back with the new key, it refuses the
# ends of jobs until slurmd has the new key, too.
listens() {
  local server port
  for server in "${servers[@]}"; do
    port=${server##*:}
    if [[ $port == "$server" ]]; then port=6817; fi
    if timeout 1 bash -c ': <>"/dev/tcp/$1/$2"' - "${server%:*}" "$port" 2>/dev/null; then return 0; fi
  done
  # Without an address nothing can be tried.
  [[ ${#servers[@]} == 0 ]]
}

# old_key: `accepted`, `refused` or `unknown`. Who takes a connection and says nothing is unknown.
old_key() {
  local said
  if ! listens; then echo unknown; return; fi
  said=$(timeout 5 scontrol show licenses 2>&1) && { echo accepted; return; }
  # Without slurmd nothing is signed at all, which says nothing of slurmctld.
  if [[ $said == *'authentication error'* && $said != *' sack '* ]]; then echo refused; else echo unknown; fi
}

# The addresses of slurmctld, one per line. None means that they are not known.
addresses() {
  local server
  for server in "${servers[@]}"; do timeout 5 getent ahosts "${server%:*}" || true; done | awk '{ print $1 }' | sort -u
}

# await_new_key PID: returns when slurmctld has the new key, or slurmd has ended.
await_new_key() {
  local before now told=
  before=$(addresses)
  while kill -0 "$1" 2>/dev/null; do
    case $(old_key) in
      refused) return ;;
      accepted) before=$(addresses) ;;
      *)
        now=$(addresses)
        if [[ -z $before ]]; then before=$now; fi
        if [[ -n $now && -n $(comm -13 <(echo "$before") <(echo "$now")) ]]; then return; fi
        ;;
    esac
    if [[ -z $told ]]; then echo "slurm.key changed: slurmd keeps the old one while slurmctld does" >&2; fi
    told=1
    read -r -t 0.1 -u "$nothing" || true
  done
}

# A file with several keys, which Slurm reads instead of slurm.key where it exists. Whoever writes it changes it in steps that understand
# each other, so it is read at once. slurmd reads a copy of it: what it has read is then known for certain, and the log says it.
keys=/etc/slurm/slurm.jwks
own_keys=/run/slurm-keys/slurm.jwks
# The digest of the set that this worker should start with at least, from an annotation of its pod.
notified=/etc/slurm/slurm-keys-notified

# set_of FILE: the digest of the set in it.
set_of() { sed -n 's/^{"set":"\([0-9a-f]*\)".*/\1/p' "$1" 2>/dev/null || true; }

# The kubelet may have an old copy of the file when it starts this container.
await_keys() {
  local tries expected nothing
  exec {nothing}<> <(:)
  for ((tries = 0; tries < 90; tries++)); do
    expected=$(cat "$notified" 2>/dev/null || true)
    if [[ -z $expected || ! -e $keys || -z $(set_of "$keys") || $(set_of "$keys") == "$expected" ]]; then break; fi
    if ((tries == 0)); then echo "slurm.jwks: waiting for the keys $expected" >&2; fi
    read -r -t 1 -u "$nothing" || true
  done
  exec {nothing}>&-
}

take_keys() {
  [[ -e $keys ]] || return 1
  install -d -m 0700 "${own_keys%/*}"
  install -m 0600 "$keys" "$own_keys.new" && mv "$own_keys.new" "$own_keys"
}

# program PID: changes when the process executes its program again, which is how slurmd reads its files again.
program() { cut -d' ' -f28 "/proc/$1/stat" 2>/dev/null || true; }

# takes_hup PID: SIGHUP would end a slurmd that does not handle it yet.
takes_hup() {
  local name mask
  while read -r name mask; do
    case $name in SigBlk: | SigCgt:) if ((0x${mask: -1} & 1)); then return 0; fi ;; esac
  done 2>/dev/null <"/proc/$1/status"
  return 1
}

# read_again PID: fails when it has ended. slurmctld tells slurmd the same at any time, and for a moment the program that it executes then does
# not handle SIGHUP: slurmd would end, and with it the job that is just being sent to it. So no program is started between the look and the signal.
read_again() {
  until takes_hup "$1"; do
    kill -0 "$1" 2>/dev/null || return 1
    read -r -t 0.1 -u "$nothing" || true
  done
  kill -HUP "$1" 2>/dev/null
}

# Again and again while there are two keys: a change waits for this line, and a log may be cut off.
report_keys() {
  local set
  set=$(set_of "$own_keys")
  if [[ -n $set ]]; then echo "slurm.jwks: slurmd uses the keys $set" >&2; fi
}

# watch_keys PID: makes slurmd read that file when it changes; returns 1 while there is none.
watch_keys() {
  local slurmd=$1 before told=0 nothing
  [[ -e $keys ]] || return 1
  exec {nothing}<> <(:)
  while kill -0 "$slurmd" 2>/dev/null; do
    if [[ -e $keys ]] && ! cmp -s "$keys" "$own_keys" && take_keys; then
      before=$(program "$slurmd")
      echo "slurm.jwks changed: slurmd reads it again" >&2
      read_again "$slurmd" || return 0
      # It finishes the messages that it is answering first.
      while kill -0 "$slurmd" 2>/dev/null && [[ $(program "$slurmd") == "$before" ]]; do
        read -r -t 0.2 -u "$nothing" || true
      done
      report_keys
      told=$SECONDS
    elif ((SECONDS - told >= 10)) && [[ $(grep -o '"kid"' "$own_keys" 2>/dev/null | wc -l) -gt 1 ]]; then
      report_keys
      told=$SECONDS
    fi
    read -r -t 1 -u "$nothing" || true
  done
}

watch_key() {
  local key=$1 seen=$2 slurmd=$3 before=$4 now nothing
  exec {nothing}<> <(:)
  while kill -0 "$slurmd" 2>/dev/null; do
    if watch_keys "$slurmd"; then return 0; fi
    read -r -t 1 -u "$nothing" || true
    if [[ ! $key -nt $seen && ! $key -ot $seen ]]; then continue; fi
    # In this order: a file that arrives in between is read once more.
    touch --reference="$key" "$seen" 2>/dev/null || true
    now=$(cksum 2>/dev/null <"$key") || continue
    if [[ $now != "$before" ]]; then
      before=$now
      await_new_key "$slurmd"
      echo "slurm.key changed: slurmd reads it again" >&2
      read_again "$slurmd" || return 0
    fi
  done
}

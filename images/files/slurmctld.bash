#!/bin/bash
# slurmctld in the foreground, with the options of SLURMCTLD_OPTIONS and then those of the container's arguments.
#
# A slurmctld that died before it had saved everything once leaves a state that the next one refuses for ever ("No ... file to
# recover"). When this container is started again on such a state, -i lets slurmctld do without the files that never were; those that
# are there are read as ever. A state that was whole once and lacks something now is a loss: there Slurm's refusal stands.
#
# A slurmctld that is killed between the two renames by which it exchanges a file for the next one (NAME to NAME.old, NAME.new to
# NAME) leaves no NAME. Up to 24.11 the next one reads NAME.old; 26.05 reads nothing, and forgets every job of the cluster. NAME.new was
# written whole before the exchange began, so the exchange is finished here.
#
# Slurm 24.11 gives a cluster that runs without slurmdbd an id of its own, and slurmdbd gives it another one when it is added later:
# slurmctld then ends with "CLUSTER ID MISMATCH" at every start. So the id is forgotten at the first start with slurmdbd, and slurmctld
# takes that of slurmdbd. The name stays: it protects the state of another cluster. 26.05 needs none of this.
set -euo pipefail
source "${0%/*}/options.bash"

options=(-D)
words options "${SLURMCTLD_OPTIONS:-}"
arguments options "$@"

# setting KEY: the last value of KEY in slurm.conf, as long as it is a plain word.
setting() {
  sed -nE "s/^[[:space:]]*$1[[:space:]]*=[[:space:]]*\"?([^[:space:]#\"]+).*/\\1/Ip" "${SLURM_CONF:-/etc/slurm/slurm.conf}" | tail -n 1
}

# saved FILE...: each of these was saved at some time.
saved() {
  local file
  for file in "$@"; do
    [[ -e $state/$file || -e $state/$file.old ]] || return 1
  done
}

state=$(setting StateSaveLocation)

# Both files must be there: without NAME.old nothing was exchanged, and NAME.new is the torso of a first save. A second slurmctld may be
# at work on the same state: a link never replaces what it has put there meanwhile.
finish_exchanges() {
  local new file
  for new in "$state"/*.new; do
    file=${new%.new}
    if [[ -e $new && -e $file.old && ! -e $file ]] && ln "$new" "$file" 2>/dev/null; then
      rm -f "$new"
      echo "slurmctld was killed while it saved ${file##*/}: what it had written is taken" >&2
    fi
  done
}

unfinished() {
  [[ -n $state && -e $state/clustername ]] || return 1
  # Nodes are saved after seconds, jobs when there are some, and the usage of accounts after minutes.
  if [[ $(setting AccountingStorageType) == accounting_storage/slurmdbd ]]; then
    ! saved assoc_usage qos_usage
  else
    ! saved node_state && ! saved job_state
  fi
}

# It stands beside the state: the id there is the one of slurmdbd, or will be.
forget_own_id() {
  local name id marker=$state/.cluster-id-of-slurmdbd
  if [[ $(setting AccountingStorageType) != accounting_storage/slurmdbd ]]; then
    rm -f "$marker"
    return
  fi
  if [[ -e $marker || ! $(slurmctld -V) =~ \ 2[345]\. ]]; then return; fi
  # Slurm writes no end of line.
  if [[ -e $state/clustername ]]; then IFS='|' read -r name id <"$state/clustername" || true; fi
  if [[ -n ${id:-} ]]; then
    printf %s "$name" >"$state/clustername.id"
    mv "$state/clustername.id" "$state/clustername"
    echo "the cluster id $id was made without slurmdbd: slurmctld asks slurmdbd for its own" >&2
  fi
  : >"$marker" 2>/dev/null || true
}

if [[ -n $state ]]; then
  finish_exchanges
  forget_own_id
fi

# It outlives a container, but not its pod.
run=${SLURMCTLD_RUN:-/run/slurmctld}
if [[ -e "$run/started" ]] && unfinished; then
  echo "the state in $state was never saved as a whole: starting without what is missing" >&2
  options+=(-i)
fi
: >"$run/started" 2>/dev/null || true
exec slurmctld "${options[@]}"

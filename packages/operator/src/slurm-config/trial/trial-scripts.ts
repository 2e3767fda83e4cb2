/**
 * What runs in the pod that tries a configuration: a second slurmctld on the new files, and one slurmd of every worker image in use,
 * which registers there and runs a job step. They share the pod's network and the directory `sharedDirectory`. The files are rendered
 * by the operator (trial-conf.ts): the scripts only start daemons and report what happened.
 *
 * slurmctld tells the workers which of them starts next (all of them would use the same address and port), and it alone reports.
 */
import {
  roundDirectory,
  stateDirectory,
  type TrialRound,
  trialPartition,
  trialSlurmctldPort,
} from './trial-conf.ts';

/** Exit code: slurmctld or a slurmd ended or failed; the report says which. Every other bad end has another cause: no image, no memory, no node, no time. */
export const refusedCode = 1;
/** Exit code: something in the pod did not get as far as an answer. */
const noResultCode = 3;

export const sharedDirectory = '/trial';
/** How long the images of the workers may take to arrive, in seconds. */
export const imageSeconds = 540;
/** Where the report is written; Kubernetes shows the last 4096 bytes of it in the status of the container. */
const reportFile = '/dev/termination-log';
const nodeName = 'config-trial';

const conf = (round: TrialRound): string => `${roundDirectory[round]}/slurm.conf`;

/**
 * A slurmctld that becomes primary accepts its files (that it listens says nothing: it does so before it reads partitions). One that
 * ends says why, and so does one that waits for a file: all files are there from the beginning, and it would end after a minute.
 *
 * The report has one line for each result: `slurmctld failed REASON`; for a worker that failed, `slurmd ID new failed REASON` and, where it was
 * compared, `slurmd ID current passed` or `slurmd ID current failed REASON`.
 */
export const slurmctldScript = `set -u
workers=\${TRIAL_WORKERS:-}
report=\${TRIAL_REPORT:-${reportFile}}
shared=${sharedDirectory}
pid=
finish() { : >"$shared/over"; [ -z "$pid" ] || kill -KILL "$pid" 2>/dev/null; } 2>/dev/null
trap finish EXIT
one_line() { tr -s '[:space:]' ' ' | cut -c "1-$1"; }
# result WIDTH WORDS: one line of the report.
result() { printf '%s' "\${*:2}" | one_line "$1" | tee -a "$report" >&2; }
give_up() { result 1000 "$*"; exit ${noResultCode}; }
# said LOG: what a daemon complained of last. A missing GPU is not an error here.
said() { { grep -E 'error|fatal' "$1" | grep -v 'GPU detection failed' || cat "$1"; } | tail -n 4 | sed -E 's/^\\[[^]]*\\] //'; }

# start ROUND CONF: whether slurmctld is primary within a minute; 2 if it has ended, 3 if a file is missing.
start() {
  mkdir -p "$state/$1"
  slurmctld -D -f "$2" >"$state/$1.log" 2>&1 &
  pid=$!
  for tenth in $(seq 600); do
    if ! kill -0 "$pid" 2>/dev/null; then pid=; return 2; fi
    if grep -qs 'Running as primary controller' "$state/$1.log"; then return 0; fi
    if [ "$tenth" -gt 50 ] && grep -qs 'cannot stat file .*retrying in' "$state/$1.log"; then return 3; fi
    sleep 0.1
  done
  return 1
}
# serve ROUND CONF: starts a slurmctld and waits until it answers; it is primary before it does.
serve() {
  start "$1" "$2" || return 1
  for _ in $(seq 100); do
    if SLURM_CONF="$2" timeout 10 scontrol ping 2>/dev/null | grep -q 'is UP'; then return 0; fi
    sleep 0.2
  done
  return 1
}
stop() { kill -KILL "$pid" 2>/dev/null; wait "$pid" 2>/dev/null; pid=; }

# try ROUND CONF WORKER: its job step succeeded; otherwise $why says what happened. What only takes too long is no answer.
try() {
  local turn=$1-$3 status= step= node=${nodeName}-$3
  export SLURM_CONF=$2
  printf '%s' "$node" >"$shared/turn.new" && mv "$shared/turn.new" "$shared/turn-$turn"
  for _ in $(seq 450); do
    if [ -e "$shared/ended-$turn" ]; then break; fi
    status=$(sinfo --noheader --nodes="$node" --format=%T 2>/dev/null)
    case $status in idle) break ;; esac
    sleep 0.2
  done
  if [ "$status" = idle ] && [ ! -e "$shared/ended-$turn" ]; then
    if step=$(timeout 90 srun --partition=${trialPartition} --nodelist="$node" --ntasks=1 --time=1 --chdir=/tmp --job-name=config-trial true 2>&1); then why=
    elif [ $? = 124 ]; then give_up "a job step of slurmd of image $(name_of "$3") did not end within 90 seconds: $(said "$shared/log-$turn")"
    else why="a job step failed: $(printf '%s' "$step" | tail -n 3) $(said "$shared/log-$turn")"; fi
  elif [ ! -e "$shared/ended-$turn" ]; then
    give_up "slurmd of image $(name_of "$3") did not register within 90 seconds (\${status:-unknown to slurmctld}): $(said "$shared/log-$turn")"
  fi
  # What ended says more than what failed because of it.
  for _ in 1 2 3 4 5; do if [ -e "$shared/ended-$turn" ] || [ -z "$why" ]; then break; fi; sleep 0.2; done
  if [ -e "$shared/ended-$turn" ]; then why="it ended: $(said "$shared/log-$turn")"; fi
  : >"$shared/stop-$turn"
  for _ in $(seq 100); do if [ -e "$shared/ended-$turn" ]; then break; fi; sleep 0.1; done
  [ -z "$why" ]
}
# try_all ROUND CONF WORKERS: leaves those that failed in $failed, and why in files.
try_all() {
  failed=
  for id in $3; do
    why=
    if ! try "$1" "$2" "$id"; then failed="$failed $id"; printf '%s' "$why" >"$state/why-$1-$id"; fi
  done
}
name_of() { cat "$shared/here-$1"; }

state=${stateDirectory('check').replace(/\/check$/, '')}
mkdir -p "$state"
start check ${conf('check')}
case $? in
  0) ;;
  1) give_up "slurmctld did not start within a minute: $(said "$state/check.log")" ;;
  *) result 1000 "slurmctld failed $(said "$state/check.log")"; exit ${refusedCode} ;;
esac
stop
if [ -z "$workers" ]; then exit 0; fi

for id in $workers; do
  for _ in $(seq ${imageSeconds}); do if [ -e "$shared/here-$id" ]; then break; fi; sleep 1; done
  if [ ! -e "$shared/here-$id" ]; then give_up "the container of worker image $id did not start"; fi
done
if ! serve new ${conf('new')}; then give_up "slurmctld with a worker did not start: $(said "$state/new.log")"; fi
try_all new ${conf('new')} "$workers"
stop
if [ -z "$failed" ]; then exit 0; fi
# With the configuration in force workers run: what fails with it too may fail because of this place.
rounds=new
suspects=$failed
if [ -e ${conf('current')} ] && serve current ${conf('current')}; then
  rounds='new current'
  try_all current ${conf('current')} "$suspects"
fi
# Kubernetes divides 12 KiB among the containers of a pod.
set -- $workers
room=$((12000 / ($# + 1) < 4000 ? 12000 / ($# + 1) : 4000))
set -- $suspects
for id in $suspects; do
  for round in $rounds; do
    if [ -e "$state/why-$round-$id" ]; then result $((room / (2 * $#) - 4)) "slurmd $id $round failed $(cat "$state/why-$round-$id")"
    else result 60 "slurmd $id $round passed"; fi
  done
done
exit ${refusedCode}`;

/**
 * With control groups of version 2 slurmd moves every process of its container and ends if another one appears just then: while it
 * runs, nothing is started here.
 */
export const slurmdScript = `set -u
shared=${sharedDirectory}
id=$TRIAL_WORKER
exec {nothing}<> <(:)
pause() { read -r -t 0.2 -u "$nothing" || true; }
printf '%s' "$TRIAL_IMAGE" >"$shared/here.$id" && mv "$shared/here.$id" "$shared/here-$id"
for round in new current; do
  turn=$round-$id
  while [[ ! -e $shared/turn-$turn ]]; do
    if [[ -e $shared/over ]]; then exit 0; fi
    pause
  done
  node=$(<"$shared/turn-$turn")
  slurmd -D -Z -b -N "$node" --conf-server "localhost:${trialSlurmctldPort}" --conf "$TRIAL_CONF" >"$shared/log-$turn" 2>&1 &
  slurmd=$!
  while kill -0 "$slurmd" 2>/dev/null; do
    if [[ -e $shared/stop-$turn || -e $shared/over ]]; then kill -KILL "$slurmd" 2>/dev/null; fi
    pause
  done
  wait "$slurmd" 2>/dev/null
  : >"$shared/ended-$turn"
done
exit 0`;

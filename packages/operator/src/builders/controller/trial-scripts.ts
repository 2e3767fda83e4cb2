/**
 * What runs in the pod that tries a configuration: a second slurmctld on the new files, and one slurmd of every worker image in use,
 * which registers there and runs a job step. They share the pod's network and the directory `sharedDirectory`.
 *
 * slurmctld tells the workers whose turn it is (all of them would use the same address and port), and it alone gives the result.
 */

/** Exit code: Slurm refuses the configuration. Every other bad end has another cause: no image, no memory, no node, no time. */
export const refusedCode = 1;
/** Exit code: something in the pod did not get as far as an answer. */
const noVerdictCode = 3;

export const sharedDirectory = '/trial';
/** Where the configuration in force is mounted. */
export const currentDirectory = '/mnt/current';
/** How long the images of the workers may take to arrive, in seconds. */
export const imageSeconds = 540;

const slurmctldPort = 16_817;
const slurmdPort = 16_818;
const partition = 'config-trial';
const nodeName = 'config-trial';

/** Where and as what slurmctld runs; accounting is left out, because it would register there. */
const replacedKeys =
  'SlurmctldHost|SlurmctldAddr|SlurmctldPort|StateSaveLocation|SlurmctldPidFile|SlurmctldLogFile|AccountingStorage[A-Za-z]*';

/**
 * Left out where workers are tried: programs of the site (they would really run), policies that decide about jobs rather than daemons, and
 * what depends on hardware that the node of this pod may lack.
 */
const setAsideKeys = [
  'Slurmd(Port|SpoolDir|PidFile|LogFile|SyslogDebug)',
  '(Srun|Task)?(Pro|Epi)log(Slurmctld)?',
  '(HealthCheck|Resume|Suspend|Reboot|UnkillableStep|SlurmctldPrimaryOn|SlurmctldPrimaryOff)Prog(ram)?',
  'ResumeFailProgram|SuspendTime|MailProg',
  'JobSubmitPlugins|CliFilterPlugins|JobComp[A-Za-z]*|SchedulerParameters|EnforcePartLimits|NodeFeaturesPlugins',
  'TopologyPlugin|TopologyParam|MaxNodeCount',
  'AcctGather(Energy|Interconnect|Filesystem)Type|SwitchType|SwitchParameters|GpuFreqDef',
].join('|');

const remove = (keys: string) => `sed -E -i '/^[[:space:]]*(${keys})[[:space:]]*=/Id'`;

/**
 * A slurmctld that becomes primary is content (that it listens says nothing: it does so before it reads partitions), and so is one that
 * runs for a while without a word; one that ends says why.
 *
 * A slurmd that ends, or whose job step fails, refuses the configuration. Where it does the same with the one in force, with which
 * workers run, this pod is no place to judge it.
 */
export const slurmctldScript = `set -u
workers=\${TRIAL_WORKERS:-0}
shared=${sharedDirectory}
dir=/tmp/trial
pid=
finish() { : >"$shared/over"; [ -z "$pid" ] || kill -KILL "$pid" 2>/dev/null; } 2>/dev/null
trap finish EXIT
refuse() { printf '%s\\n' "$@" >&2; exit ${refusedCode}; }
give_up() { printf '%s\\n' "$@" >&2; exit ${noVerdictCode}; }
# said LOG: what a daemon complained of last. That there is no GPU is no complaint here.
said() { { grep -E 'error|fatal' "$1" | grep -v 'GPU detection failed' || cat "$1"; } | tail -n 4 | sed -E 's/^\\[[^]]*\\] //'; }

# prepare DIRECTORY: the files that are mounted, for a slurmctld that runs here.
prepare() {
  mkdir -p "$1/state"
  cp -rL /etc/slurm/* "$1/"
  chmod -R u+rwX,go-rwx "$1"
}
here() {
  ${remove(replacedKeys)} "$1/slurm.conf"
  printf '\\nSlurmctldHost=%s\\nSlurmctldPort=${slurmctldPort}\\nStateSaveLocation=%s/state\\nSlurmctldPidFile=%s/pid\\nAccountingStorageType=accounting_storage/none\\n' "$(hostname)" "$1" "$1" >>"$1/slurm.conf"
}
with_workers() {
  here "$1"
  ${remove(setAsideKeys)} "$1/slurm.conf"
  rm -f "$1/topology.conf" "$1/topology.yaml"
  # A partition may name a topology of those files.
  sed -E -i '/^[[:space:]]*PartitionName=/I s/[[:space:]]+Topology=[^[:space:]]+//Ig' "$1/slurm.conf"
  # Device files and libraries of devices are those of a node.
  if [ -e "$1/gres.conf" ]; then sed -E -i 's/[[:space:]]*(File|MultipleFiles|Cores|Links|AutoDetect)=[^[:space:]]*//Ig; /^[[:space:]]*(NodeName=[^[:space:]]*)?[[:space:]]*$/Id' "$1/gres.conf"; fi
  printf '\\nMaxNodeCount=64\\nSlurmdPort=${slurmdPort}\\nSlurmdSpoolDir=/tmp/trial-spool\\nSlurmdPidFile=/tmp/trial-slurmd.pid\\nPartitionName=${partition} Nodes=ALL State=UP\\n' >>"$1/slurm.conf"
}
# start DIRECTORY TENTHS: whether slurmctld is primary after that time; 2 if it has ended.
start() {
  slurmctld -D -f "$1/slurm.conf" >"$1/log" 2>&1 &
  pid=$!
  for _ in $(seq "$2"); do
    if ! kill -0 "$pid" 2>/dev/null; then pid=; return 2; fi
    if grep -qs 'Running as primary controller' "$1/log"; then return 0; fi
    sleep 0.1
  done
  return 1
}
# serve DIRECTORY: starts a slurmctld and waits until it answers; it says that it is primary before it does.
serve() {
  start "$1" 600 || return 1
  for _ in $(seq 100); do
    if SLURM_CONF="$1/slurm.conf" timeout 10 scontrol ping 2>/dev/null | grep -q 'is UP'; then return 0; fi
    sleep 0.2
  done
  return 1
}
stop() { kill -KILL "$pid" 2>/dev/null; wait "$pid" 2>/dev/null; pid=; }

# try DIRECTORY ROUND WORKER: its job step succeeded; otherwise $why says what happened. What only takes too long is no answer.
try() {
  local dir=$1 round=$2 i=$3 turn state= step= node=${nodeName}-$2-$3
  turn=$round-$i
  export SLURM_CONF="$dir/slurm.conf"
  printf '%s' "$node" >"$shared/turn.new" && mv "$shared/turn.new" "$shared/turn-$turn"
  for _ in $(seq 450); do
    if [ -e "$shared/ended-$turn" ]; then break; fi
    state=$(sinfo --noheader --nodes="$node" --format=%T 2>/dev/null)
    case $state in idle) break ;; esac
    sleep 0.2
  done
  if [ "$state" = idle ] && [ ! -e "$shared/ended-$turn" ]; then
    if step=$(timeout 90 srun --partition=${partition} --nodelist="$node" --ntasks=1 --time=1 --chdir=/tmp --job-name=config-trial true 2>&1); then why=
    elif [ $? = 124 ]; then give_up "a job step of container slurmd-$i did not end within 90 seconds: $(said "$shared/log-$turn")"
    else why="a job step failed: $(printf '%s' "$step" | tail -n 3) $(said "$shared/log-$turn")"; fi
  elif [ ! -e "$shared/ended-$turn" ]; then
    give_up "slurmd of container slurmd-$i did not register within 90 seconds (\${state:-unknown to slurmctld}): $(said "$shared/log-$turn")"
  fi
  # What ended says more than what failed because of it.
  for _ in 1 2 3 4 5; do if [ -e "$shared/ended-$turn" ] || [ -z "$why" ]; then break; fi; sleep 0.2; done
  if [ -e "$shared/ended-$turn" ]; then why="it ended: $(said "$shared/log-$turn")"; fi
  : >"$shared/stop-$turn"
  for _ in $(seq 100); do if [ -e "$shared/ended-$turn" ]; then break; fi; sleep 0.1; done
  [ -z "$why" ]
}

prepare "$dir"
here "$dir"
start "$dir" 80
if [ $? = 2 ]; then refuse "$(said "$dir/log")"; fi
stop
if [ "$workers" = 0 ]; then exit 0; fi

for i in $(seq 0 $((workers - 1))); do
  for _ in $(seq ${imageSeconds}); do if [ -e "$shared/here-$i" ]; then break; fi; sleep 1; done
  if [ ! -e "$shared/here-$i" ]; then give_up "container slurmd-$i did not start"; fi
done
prepare "$dir/new"
with_workers "$dir/new"
if ! serve "$dir/new"; then give_up "slurmctld with a worker did not start: $(said "$dir/new/log")"; fi
failed=
for i in $(seq 0 $((workers - 1))); do
  why=
  try "$dir/new" new "$i" || { failed="$failed $i"; printf '%s' "$why" >"$dir/why-$i"; }
done
stop
if [ -z "$failed" ]; then exit 0; fi

# Only one version of the site's own files exists: where they have changed, nothing is left to compare with.
name_of() { cat "$shared/here-$1"; }
first=\${failed# }; first=\${first%% *}
report="slurmd of image $(name_of "$first"): $(cat "$dir/why-$first")"
if [ "\${TRIAL_COMPARES:-no}" != yes ]; then refuse "$report"; fi
prepare "$dir/current"
cp -L ${currentDirectory}/* "$dir/current/" 2>/dev/null
chmod -R u+rwX,go-rwx "$dir/current"
with_workers "$dir/current"
if ! serve "$dir/current"; then refuse "$report"; fi
for i in $failed; do
  why=
  if try "$dir/current" current "$i"; then refuse "slurmd of image $(name_of "$i"): $(cat "$dir/why-$i")"; fi
done
# With the configuration in force they fail here as well, and on their own nodes they run.
{ printf '%s' "$report" >/dev/termination-log; } 2>/dev/null
exit 0`;

/**
 * With control groups of version 2 slurmd moves every process of its container and ends if another one appears just then: while it
 * runs, nothing is started here.
 */
export const slurmdScript = `set -u
shared=${sharedDirectory}
i=$TRIAL_WORKER
exec {nothing}<> <(:)
pause() { read -r -t 0.2 -u "$nothing" || true; }
printf '%s' "$TRIAL_IMAGE" >"$shared/here.$i" && mv "$shared/here.$i" "$shared/here-$i"
for round in new current; do
  turn=$round-$i
  while [[ ! -e $shared/turn-$turn ]]; do
    if [[ -e $shared/over ]]; then exit 0; fi
    pause
  done
  node=$(<"$shared/turn-$turn")
  slurmd -D -Z -b -N "$node" --conf-server "localhost:${slurmctldPort}" --conf 'Feature=config-trial' >"$shared/log-$turn" 2>&1 &
  slurmd=$!
  while kill -0 "$slurmd" 2>/dev/null; do
    if [[ -e $shared/stop-$turn || -e $shared/over ]]; then kill -KILL "$slurmd" 2>/dev/null; fi
    pause
  done
  wait "$slurmd" 2>/dev/null
  : >"$shared/ended-$turn"
done
exit 0`;

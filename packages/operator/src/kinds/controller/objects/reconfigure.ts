/** The side container that makes slurmctld read its configuration again when the files changed. */
import { type Controller, keyFile } from '@slurm-operator/api';
import type { IContainer } from 'kubernetes-models/v1/Container';
import { mergeContainer } from '../../../objects/merge-template.ts';
import type { OperatorDefaults } from '../../../objects/operator-defaults.ts';
import type { Read } from '../../../objects/read.ts';
import { servesHttp } from '../../../objects/slurm-version.ts';
import { recordsFile, versionFile } from '../../../slurm-config/render/config-map.ts';

/** Says, on a slurmctld pod, which configuration it may read: one that was tried. */
export const configSeenAnnotation = 'controller.slinky.slurm.net/config-seen';
/** The same, as a file beside the configuration. */
export const approvedFile = '.config-approved';

/** The configuration that the workers were last notified of: stored with slurmctld's state, so that it outlives its pod. */
const toldFile = '.config-told';
/** As long as a worker may take from reading its files to joining Slurm. */
const joinSeconds = 60;
/** How long a reconfigure waits for jobs whose PrologSlurmctld runs. */
export const prologSeconds = 120;

/** How long a pause of job starts lasts at most, should no one end it. */
const pauseSeconds = 30;

/** The kubelet brings a change of the file sooner: what is listed for longer is missing. */
const listedSeconds = 180;

/**
 * Sleeping nodes of autoscaled NodeSets, one line of slurm.conf each. Slurm before 25.11 creates nodes only for scontrol. One by one,
 * because Slurm refuses a list of which one exists. The operator lists a node as long as it is missing, and the file may be a minute old:
 * so it is obeyed once, and again when it has not changed for longer. A slurmctld that is killed may forget a node that was created just
 * before, and the file that did not list it for a moment may never have arrived here.
 *
 * A node that Slurm had before, such as that of a worker when autoscale is switched on, gets no job until slurmctld has read its files
 * again (24.11): so it does that after each creation, unless it would forget a partition that someone created.
 */
const creation = `wanted=/etc/slurm/${recordsFile}
obeyed=
expires=0
fresh=
create_nodes() {
  local text names rest name failed=
  text=$(cat "$wanted" 2>/dev/null)
  if [ "$text" = "$obeyed" ] && { [ -z "$text" ] || [ "$SECONDS" -lt "$expires" ]; }; then return; fi
  # A slurmctld that does not save power gives jobs to sleeping nodes, and never wakes them.
  if [ -n "$text" ] && ! scontrol show config | grep -qE '^ResumeProgram.*= */'; then return; fi
  while read -r names rest; do
    for name in $(scontrol show hostnames "\${names#NodeName=}"); do
      set -f
      if scontrol create "NodeName=$name" $rest >/dev/null 2>&1; then fresh=yes
      elif ! scontrol show node "$name" >/dev/null 2>&1; then failed=yes; fi
      set +f
    done
  done <<<"$text"
  if [ -z "$failed" ]; then
    obeyed=$text
    expires=$((SECONDS + ${listedSeconds}))
    echo "created the nodes of ${recordsFile}"
  fi
}
use_nodes() {
  local names
  names=$(created) || return 1
  if [ -n "$names" ]; then echo "jobs wait for created nodes until slurmctld reads its files: it would forget partition" $names; return 0; fi
  reconfigure && echo "slurmctld has read its files again, for the created nodes"
}
`;

/**
 * A new jwt.key restarts a slurmctld with a volume. One that keeps its jobs in its pod is not restarted while it has some, and refuses the
 * operator until it has the key: so it reads the key with the files that it has, unless it would forget a partition.
 */
const newKey = `key_there() { sha256sum </etc/slurm/${keyFile.jwt} 2>/dev/null; }
read_key=$(key_there)
key_seen=
take_key() {
  local key names
  key=$(key_there)
  if [ "$now" != "$applied" ] || [ -z "$key" ] || [ "$key" = "$read_key" ]; then return; fi
  names=$(created) || return
  if [ -n "$names" ]; then
    if [ "$key_seen" != "$key" ]; then echo "slurmctld does not read the new ${keyFile.jwt}: it would forget partition" $names; fi
    key_seen=$key
  elif reconfigure; then
    read_key=$key
    echo "slurmctld has read a new ${keyFile.jwt}"
  fi
}
`;

/**
 * slurmctld reads its files again, and passes them on to the workers, when the configuration that is there is the one that the
 * operator has tried. Both names come in the volume that holds the files, which the kubelet swaps as a whole: it cannot be told too
 * early. A failed attempt is repeated until it succeeds.
 *
 * A slurmctld that starts reads its files and notifies no worker: so workers of the previous pod are notified of what came with a new pod.
 * A slurmctld without saved state has no workers to notify. A worker that read its files before they changed and registered after that is
 * missed, and Slurm does not show which one that is: so all workers are notified once more after such a worker has registered. The guard
 * did not see this second time: it is left out where Slurm would forget a partition that someone created meanwhile, with its jobs.
 *
 * The files may change while slurmctld starts, also to those of a former life of the cluster, which the notes in its state name: so what it
 * really read is asked for once, when it first answers.
 *
 * A job whose PrologSlurmctld runs during a reconfigure never starts in 26.05: it counts as running until its time limit.
 *
 * A reconfigure throws away what slurmctld has not sent to its workers, and jobs that start in the same milliseconds would never reach
 * theirs. So a reservation keeps starts out, and slurmctld is asked whether it has sent everything. The reservation ends on its own: what
 * kills this container leaves jobs waiting for seconds. It wakes no sleeping node, and does not keep out the jobs of a reservation with
 * MAINT or OVERLAP.
 */
const script = (state: string, { createsNodes, keepsState }: Duties): string => `set -u
state=${state}
version() { cat /etc/slurm/${versionFile} 2>/dev/null; }
start=$(version)
if [ -e "$state/clustername" ]; then applied=$(cat "$state/${toldFile}" 2>/dev/null); else applied=$start; fi
compared=
again=
waiting=
conf=/etc/slurm/slurm.conf
names_in() { grep -oiE '^[[:space:]]*PartitionName=[^[:space:]#]+' | cut -d= -f2- | tr -d '"' | tr , '\\n' | sort -u; }
# created: partitions that Slurm has and slurm.conf does not name.
created() {
  local listed
  listed=$(scontrol -o show partition) || return 1
  comm -23 <(names_in <<<"$listed") <(names_in <"$conf")
}
# starting: a job is in its PrologSlurmctld, and the wait for it is not over.
starting() {
  if scontrol show config | grep -qE '^PrologSlurmctld.*= */' && [ -n "$(squeue --noheader --states=CF --format=%i)" ]; then
    if [ -z "$waiting" ]; then waiting=$SECONDS; echo "waiting for jobs whose PrologSlurmctld runs"; fi
    [ $((SECONDS - waiting)) -lt ${prologSeconds} ]
  else false; fi
}
pause=reconfigure-$HOSTNAME
pause_starts() {
  scontrol create reservation "ReservationName=$pause" StartTime=now EndTime=now+${pauseSeconds} Users=root Nodes=ALL Flags=IGNORE_JOBS,OVERLAP
}
go_on() { scontrol delete "ReservationName=$pause"; }
# sent: slurmctld has sent everything to its workers. What it sends to lost ones takes longer.
sent() {
  local shown
  shown=$(sdiag) && ! grep -qE '^Agent (queue size|count): *[1-9]' <<<"$shown"
}
await_sent() {
  local turn=0 quiet=0
  while [ $quiet -lt 2 ] && [ $turn -lt 50 ]; do
    sleep 0.1
    turn=$((turn + 1))
    if sent; then quiet=$((quiet + 1)); else quiet=0; fi
  done
}
reconfigure() {
  local result=1
  if starting; then return 1; fi
  # There may be one of a container that ended, and there may be no node.
  { pause_starts || { go_on; pause_starts; }; } >/dev/null 2>&1
  await_sent
  if ! starting && scontrol reconfigure; then waiting=; result=0; fi
  go_on >/dev/null 2>&1
  return $result
}
# once_more: whether the second notification was made, or must not be made.
once_more() {
  local names
  names=$(created) || return 1
  if [ -n "$names" ]; then echo "not told once more: Slurm would forget partition" $names; return 0; fi
  reconfigure && echo "told once more of configuration $now, for workers that joined meanwhile"
}
# compare: whether slurmctld has read these files, once; if not, it is to be told.
compare() {
  local shown names
  shown=$(scontrol show config) || return
  if [ "$start" = "$applied" ] && ! grep -q '^HASH_VAL.*Different' <<<"$shown"; then compared=yes; return; fi
  names=$(created) || return
  if [ -n "$names" ]; then echo "slurmctld has read other files and is not told: slurm.conf lacks partition" $names; else applied=; fi
  compared=yes
}
${keepsState ? '' : newKey}${createsNodes ? creation : ''}trap 'exit 0' TERM INT
while :; do
  sleep 1 & wait $!
${createsNodes ? '  create_nodes\n' : ''}  if [ -z "$compared" ]; then compare; fi
  now=$(version)
  if [ -z "$now" ] || [ "$now" != "$(cat /etc/slurm/${approvedFile} 2>/dev/null)" ]; then continue; fi
  if [ "$now" != "$applied" ] && reconfigure; then
    applied=$now
    again=$((SECONDS + ${joinSeconds}))
    echo "$now" >"$state/${toldFile}"
    echo "slurmctld has read configuration $now"
${createsNodes ? '  elif [ "$now" = "$applied" ] && [ -n "$fresh" ] && use_nodes; then\n    fresh=\n' : ''}  elif [ "$now" = "$applied" ] && [ -n "$again" ] && [ "$SECONDS" -ge "$again" ] && once_more; then
    again=
  fi
${keepsState ? '' : '  take_key\n'}done`;

/** What the side container does beside reporting new files. */
interface Duties {
  readonly createsNodes: boolean;
  /** Its state outlives the pod. */
  readonly keepsState: boolean;
}

export interface ReconfigureInput {
  readonly controller: Read<Controller>;
  readonly defaults: OperatorDefaults;
  /** Where slurmctld keeps its state. */
  readonly state: { readonly name: string; readonly mountPath: string };
}

export function reconfigureContainer({ controller, defaults, state }: ReconfigureInput): IContainer {
  const image = controller.spec.slurmctld?.image ?? defaults.images.slurmctld;
  const base: IContainer = {
    name: 'reconfigure',
    image,
    command: [
      '/bin/bash',
      '-c',
      script(state.mountPath, {
        createsNodes: !servesHttp(image),
        keepsState: controller.spec.persistence.enabled,
      }),
    ],
    securityContext: {
      runAsNonRoot: true,
      allowPrivilegeEscalation: false,
      capabilities: { drop: ['ALL'] },
    },
    volumeMounts: [
      { name: 'slurm-etc', mountPath: '/etc/slurm', readOnly: true },
      // scontrol proves who it is through the socket that slurmctld opens here.
      { name: 'slurm-authsocket', mountPath: '/run/slurmctld' },
      state,
    ],
  };
  return mergeContainer(base, controller.spec.reconfigure as Partial<IContainer> | undefined);
}

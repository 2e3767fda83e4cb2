/**
 * slurm.conf and gres.conf as the trial of a configuration reads them: the lines that the daemons will read, except for those that name
 * the place where slurmctld runs, and those that a trial cannot follow. Pure.
 */
import { type ConfPair, parseSlurmConf, renderPairs, settingsOf, topLevelSettings } from '../parse.ts';

/**
 * `check`: slurmctld alone reads every line. `new` and `current`: with workers, on the new configuration and on the one in force.
 * Each has its own directory, so that no slurmctld finds the state of another.
 */
export type TrialRound = 'check' | 'new' | 'current';

/** `image`: slurmd runs anywhere, without the devices of its node. `node`: it runs with the resources of a worker. */
export type TrialScope = 'image' | 'node';

/** Where the files of a round are mounted. slurmctld alone reads them where the real one does: lines refer to files there. */
export const roundDirectory: Readonly<Record<TrialRound, string>> = {
  check: '/etc/slurm',
  new: '/mnt/new',
  current: '/mnt/current',
};

export const stateDirectory = (round: TrialRound): string => `/tmp/trial/${round}`;

export const trialHost = 'config-check';
export const trialSlurmctldPort = 16_817;
export const trialPartition = 'config-trial';
const slurmdPort = 16_818;

/** Where and as what slurmctld runs. */
const placeKeys = /^(slurmctld(host|addr|port|pidfile|logfile)|statesavelocation)$/;

/** slurmdbd is left out, because the trial would register there. */
const accountingKeys = /^accountingstorage/;
const usesDatabase = /^(accounting_storage\/)?slurmdbd$/i;
/** Types of AccountingStorageTRES that slurmctld knows; it ends on any other. */
const tresTypes = /^(billing|cpu|energy|mem|node|pages|vmem|(bb|fs|gres|ic|license)\/.+)$/i;

/** Programs of the site, which would really run, and policies that decide about jobs rather than daemons. */
const siteKeys = new RegExp(
  `^(${[
    'slurmd(port|spooldir|pidfile|logfile|syslogdebug)',
    '(srun|task)?(pro|epi)log(slurmctld)?',
    '(healthcheck|resume|suspend|reboot|unkillablestep|slurmctldprimaryon|slurmctldprimaryoff)prog(ram)?',
    'resumefailprogram|suspendtime|mailprog',
    'jobsubmitplugins|clifilterplugins|jobcomp.*|schedulerparameters|enforcepartlimits|nodefeaturesplugins',
    'topologyplugin|topologyparam|maxnodecount',
  ].join('|')})$`,
);

/** What depends on devices. */
const deviceKeys =
  /^(acctgather(energy|interconnect|filesystem)type|switchtype|switchparameters|gpufreqdef)$/;

/** Files that slurmctld writes; where the real one has its state, the trial has nothing. */
const writtenFiles = /^(jobcomploc|slurmschedlogfile)$/;

/** Files that describe the nodes of the cluster, which the trial does not have. */
export const filesLeftOut: readonly string[] = ['topology.conf', 'topology.yaml'];

const gresDeviceKeys = /^(file|multiplefiles|cores|links|autodetect)$/;

/** Room for nodes beside those that the file names. */
const nodeRoom = 64;
const mostNodes = 65_533;

export function renderTrialConf(text: string, round: TrialRound, scope: TrialScope = 'image'): string {
  const settings = topLevelSettings(text);
  const state = settings.get('statesavelocation')?.value;
  const withWorkers = round !== 'check';
  const hasDatabase = usesDatabase.test(settings.get('accountingstoragetype')?.value ?? '');
  const isLeftOut = (key: string): boolean =>
    placeKeys.test(key) ||
    ((withWorkers || hasDatabase) && accountingKeys.test(key)) ||
    (withWorkers && siteKeys.test(key)) ||
    (withWorkers && scope === 'image' && deviceKeys.test(key));
  const lines = rewrite(text, (pairs) => {
    const own = settingsOf(pairs);
    const kept = own
      .filter(({ key }) => !isLeftOut(key.toLowerCase()))
      .map((pair) => moved(pair, state, round));
    const record = pairs.slice(own.length);
    return [...kept, ...(withWorkers ? withoutTopology(record) : record)];
  });
  const nodes = Math.min(mostNodes, (Number(settings.get('maxnodecount')?.value) || 0) + nodeRoom);
  const directory = stateDirectory(round);
  return [
    ...lines,
    '',
    '### TRIAL ###',
    // The address too: slurmctld must not depend on a name that only a Service would have.
    `SlurmctldHost=${trialHost}`,
    `SlurmctldPort=${trialSlurmctldPort}`,
    `StateSaveLocation=${directory}`,
    `SlurmctldPidFile=${directory}/slurmctld.pid`,
    ...(withWorkers || hasDatabase ? ['AccountingStorageType=accounting_storage/none'] : []),
    ...(withWorkers || !hasDatabase ? [] : unknownTres(settings.get('accountingstoragetres')?.value)),
    ...(withWorkers
      ? [
          `MaxNodeCount=${nodes}`,
          `SlurmdPort=${slurmdPort}`,
          'SlurmdSpoolDir=/tmp/trial-spool',
          'SlurmdPidFile=/tmp/trial-slurmd.pid',
          `PartitionName=${trialPartition} Nodes=ALL State=UP`,
        ]
      : []),
    '',
  ].join('\n');
}

/** slurmctld needs slurmdbd to track `gres/gpu`, but it ends on an unknown type before it asks: only those are tried. */
function unknownTres(value = ''): string[] {
  const unknown = value.split(',').filter((tres) => tres.trim() !== '' && !tresTypes.test(tres.trim()));
  return unknown.length === 0 ? [] : [`AccountingStorageTRES=${unknown.join(',')}`];
}

/** gres.conf without device files and libraries, which belong to a node. */
export function renderTrialGres(text: string): string {
  const lines = rewrite(text, (pairs) => {
    const kept = pairs.filter(({ key }) => !gresDeviceKeys.test(key.toLowerCase()));
    return kept.every(({ key }) => key.toLowerCase() === 'nodename') ? [] : kept;
  });
  return `${lines.join('\n')}\n`;
}

/** A partition may name a topology of a file that is left out. */
const withoutTopology = (record: readonly ConfPair[]): ConfPair[] =>
  record.filter(
    ({ key }, at) =>
      at === 0 || record[0]?.key.toLowerCase() !== 'partitionname' || key.toLowerCase() !== 'topology',
  );

function moved(pair: ConfPair, state: string | undefined, round: TrialRound): ConfPair {
  if (!writtenFiles.test(pair.key.toLowerCase())) return pair;
  if (state === undefined || !pair.value.startsWith(`${state}/`)) return pair;
  return { ...pair, value: `${stateDirectory(round)}/${pair.value.split('/').at(-1)}` };
}

/**
 * The lines of a file with other pairs in some of them; a line that keeps none is dropped. Everything else stays as it is written, above
 * all what Slurm cannot read: it would refuse it in the real file, so it must refuse it here.
 */
function rewrite(text: string, change: (pairs: readonly ConfPair[]) => readonly ConfPair[]): string[] {
  const lines: (string | undefined)[] = text.split('\n');
  for (const { line, last, pairs, rest } of parseSlurmConf(text)) {
    if (rest !== '') continue;
    const changed = change(pairs);
    if (changed.length === pairs.length && changed.every((pair, at) => pair === pairs[at])) continue;
    lines[line - 1] = changed.length === 0 ? undefined : renderPairs(changed);
    for (let at = line; at < last; at += 1) lines[at] = undefined;
  }
  return lines.filter((line) => line !== undefined);
}

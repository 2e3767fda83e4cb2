/** status: a cluster at a glance, as a tree. */
import { leaderLostFor, span } from '@slurm-operator/advice';
import { pods, sleep } from '@slurm-operator/kube';
import type { Command } from '../command-line/command.ts';
import { CliError, exitCode } from '../errors.ts';
import { operatorLease } from '../gather/evidence.ts';
import type { CommandLine } from '../line.ts';
import { clip, width } from '../output/style.ts';
import { table } from '../output/table.ts';
import { accountings, clusters, controllers, loginSets, nodeSets, restApis } from '../session/resources.ts';
import type { Session } from '../session/session.ts';
import { waitUntil } from '../session/wait-until.ts';
import { readObjects, readOperator } from './needs.ts';
import { areHealthy, headline, type Line, type StatusInput, statusLines } from './status-view.ts';

const redrawMs = 1_000;
const outageSeconds = 300;

async function look(session: Session): Promise<StatusInput> {
  const client = await session.client();
  const { metadata } = await session.cluster();
  const { namespace } = metadata;
  const { signal } = session;
  const items = async <T>(list: Promise<{ readonly items: T }>) => (await list).items;
  const silent = async () => leaderLostFor(await operatorLease(client, signal), await session.serverNow());
  const [cluster, silence, controllers_, nodeSets_, loginSets_, accountings_, restApis_, pods_] =
    await Promise.all([
      client.get(clusters, metadata, { signal }),
      // Who may not look there sees the rest.
      silent().catch(() => undefined),
      items(client.list(controllers, { namespace, signal })),
      items(client.list(nodeSets, { namespace, signal })),
      items(client.list(loginSets, { namespace, signal })),
      items(client.list(accountings, { namespace, signal })),
      items(client.list(restApis, { namespace, signal })),
      items(client.list(pods, { namespace, signal, labelSelector: 'app.kubernetes.io/component=worker' })),
    ]);
  return {
    cluster,
    silence,
    controllers: controllers_,
    nodeSets: nodeSets_,
    loginSets: loginSets_,
    accountings: accountings_,
    restApis: restApis_,
    pods: pods_,
  };
}

function draw(session: Session, input: StatusInput, verbose: boolean): string {
  const { paint, io } = session;
  const options = { now: io.now(), timeZone: io.timeZone };
  const lines = statusLines(input, { ...options, verbose });
  const { title, counts, health, tone } = headline(input, statusLines(input, { ...options, verbose: true }));
  const space = Math.max(3, Math.min(io.columns, 110) - width(title) - width(health));
  const tree = table(
    lines.map((line, index) => ({ ...line, branch: branch(lines, index) })),
    [
      { name: 'NAME', value: ({ branch: before, symbol, name }) => `${before}${symbol} ${name}` },
      { name: 'KIND', value: ({ kind }) => kind },
      { name: 'STATUS', value: ({ status }) => status, tone: (line) => line.tone },
      { name: 'AGE', value: ({ age }) => age },
      { name: 'INFO', value: ({ info }) => info },
    ],
    { paint, headers: !session.line.has('no-headers'), columns: io.isTty ? io.columns : undefined },
  );
  const hint =
    tone === 'bad' || health.startsWith('!')
      ? `\n${paint('quiet', `kubectl slurm doctor -n ${input.cluster.metadata.namespace} says why, and what to do.`)}\n`
      : '';
  const old =
    input.silence === undefined
      ? ''
      : paint(
          'warning',
          `! No operator has been running for ${span(input.silence)}: this is what it saw last.\n`,
        );
  return `${paint('strong', title)}${' '.repeat(space)}${paint(tone, health)}\n${counts === '' ? '' : `${counts}\n`}${old}\n${tree}${hint}`;
}

/** The lines of the tree before an entry. */
function branch(lines: readonly Line[], index: number): string {
  const { depth } = lines[index] as Line;
  if (depth === 0) return '';
  const hasNext = (level: number) => {
    for (const later of lines.slice(index + 1)) {
      if (later.depth < level) return false;
      if (later.depth === level) return true;
    }
    return false;
  };
  let before = '';
  for (let level = 1; level < depth; level += 1) before += hasNext(level) ? '│  ' : '   ';
  return `${before}${hasNext(depth) ? '├─' : '└─'}`;
}

async function run(session: Session, line: CommandLine): Promise<number> {
  const verbose = line.has('verbose');
  if (line.args.length > 0) throw new CliError('status takes no argument: choose a cluster with --cluster.');
  const isReady = ({ cluster, silence }: StatusInput) =>
    cluster.status?.isReady === true && silence === undefined;
  let input = await look(session);
  const print = () => {
    const { io } = session;
    const lines = statusLines(input, { now: io.now(), timeZone: io.timeZone, verbose: true });
    const data = {
      cluster: input.cluster.metadata.name,
      namespace: input.cluster.metadata.namespace,
      ready: isReady(input),
      ...(input.silence === undefined ? {} : { operatorSilentForMs: input.silence }),
      ...input.cluster.status,
      objects: lines,
    };
    const names = lines.map(({ kind, name }) => `${kind.toLowerCase()}/${name}`);
    if (!session.printObject('Status', data, names)) io.out(draw(session, input, verbose));
  };
  if (!line.has('watch')) {
    print();
    const lines = statusLines(input, { now: session.io.now(), timeZone: session.io.timeZone, verbose: true });
    return isReady(input) && areHealthy(lines, line.has('strict')) ? exitCode.good : exitCode.findings;
  }
  const { io } = session;
  for (let last = ''; !session.signal.aborted; ) {
    const text = draw(session, input, verbose);
    if (text !== last) {
      if (io.isTty) io.clear();
      io.out(io.isTty ? cut(text, io.columns) : `${text}\n`);
    }
    last = text;
    await sleep(redrawMs, session.signal).catch(() => undefined);
    // What fails for a moment must not end a watch.
    if (!session.signal.aborted)
      input = await waitUntil(session, () => look(session), {
        everyMs: redrawMs,
        timeoutSeconds: outageSeconds,
        tooLong: () => new CliError('The Kubernetes API does not respond.'),
      });
  }
  return exitCode.good;
}

const cut = (text: string, columns: number): string =>
  text
    .split('\n')
    .map((each) => clip(each, columns))
    .join('\n');

export const status: Command = {
  name: 'status',
  group: 'look',
  summary: 'Show a cluster as a tree: daemons, NodeSets, workers that need attention',
  usage: '',
  flags: [
    { name: 'watch', short: 'w', description: 'Redraw when something changes.' },
    { name: 'verbose', short: 'v', description: 'Show every worker.' },
    {
      name: 'strict',
      description:
        'Exit code 1 for warnings too, such as a drained worker; without it only for what does not work.',
    },
  ],
  examples: ['status', 'status -w', 'status -n hpc --verbose', 'status -o json'],
  role: 'viewer',
  needs: [...readObjects, ...readOperator],
  run,
};

/** proxy, dashboard, token and ssh: ways into the cluster. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { forwardPort } from '@slurm-operator/kube';
import type { Command } from '../command-line/command.ts';
import { CliError, exitCode } from '../errors.ts';
import type { CommandLine } from '../line.ts';
import { exchangedToken } from '../session/exchange.ts';
import { findServer, findToken } from '../session/open-slurm.ts';
import type { Session } from '../session/session.ts';
import { oneDaemon } from './daemons.ts';
import { reachSlurm, readClusters } from './needs.ts';

function portOf(line: CommandLine): number {
  const text = line.text('port') ?? '0';
  const port = Number(text);
  if (!Number.isInteger(port) || port < 0 || port > 65_535)
    throw new CliError(`--port must be a port number, not "${text}".`);
  return port;
}

async function proxy(session: Session, line: CommandLine): Promise<number> {
  const way = await findServer(session, portOf(line));
  try {
    session.io.out(
      `slurmrestd is at ${way.server}; every request needs the header X-SLURM-USER-TOKEN. Ctrl-C ends it.\n`,
    );
    if (line.has('with-token')) {
      const { token } = await findToken(session);
      session.io.out(`export SLURM_JWT=${(await token.token()) ?? ''}\n`);
    }
    await new Promise<void>((resolve) =>
      session.signal.addEventListener('abort', () => resolve(), { once: true }),
    );
    return exitCode.good;
  } finally {
    await way.close();
  }
}

async function dashboard(session: Session, line: CommandLine): Promise<number> {
  const { openDashboard } = await import('../dashboard/local-view.ts');
  await using opened = await openDashboard(session, portOf(line));
  session.io.out(`${opened.link}\n`);
  session.note('The link works once, on this machine. Ctrl-C ends the dashboard.');
  await new Promise<void>((resolve) =>
    session.signal.addEventListener('abort', () => resolve(), { once: true }),
  );
  return exitCode.good;
}

async function printToken(session: Session): Promise<number> {
  if ((session.line.text('slurm-user') ?? '') === '') {
    const exchanged = await exchangedToken(session);
    if (exchanged.kind === 'none')
      throw new CliError(
        exchanged.why === undefined
          ? `Say whose token it is: --slurm-user NAME. ${exchanged.closed === undefined ? 'The operator exchanges no tokens; if it is in another namespace, set --operator-namespace' : exchanged.closed}.`
          : `The operator gives you no Slurm token: ${exchanged.why}.`,
      );
    session.note(`This is a token for Slurm user ${exchanged.user}, for five minutes.`);
    session.io.out(`${(await exchanged.token.token()) ?? ''}\n`);
    return exitCode.good;
  }
  const { token } = await findToken(session);
  session.io.out(`${(await token.token()) ?? ''}\n`);
  return exitCode.good;
}

async function ssh(session: Session, line: CommandLine): Promise<number> {
  const [word = 'login', ...more] = line.args;
  const [user, host] = word.includes('@') ? word.split('@') : [undefined, word];
  const target = await oneDaemon(session, host === 'login' ? 'login' : `login/${host ?? ''}`);
  const client = await session.client();
  await using forwarded = await forwardPort(client, { namespace: target.namespace, name: target.pod }, 22, {
    signal: session.signal,
    onProblem: (error) => session.note(error.message),
  });
  // The key of the host belongs to the pod, not to the local port.
  const options = ['-p', String(forwarded.port), '-o', `HostKeyAlias=${target.namespace}.${host ?? 'login'}`];
  const child = spawn(
    'ssh',
    [...options, user === undefined ? '127.0.0.1' : `${user}@127.0.0.1`, ...more, ...line.rest],
    { stdio: 'inherit' },
  );
  const failed = once(child, 'error').then(([error]) => {
    throw new CliError(`ssh cannot be started: ${(error as Error).message}`);
  });
  const [code] = (await Promise.race([once(child, 'close'), failed])) as [number | null];
  return code ?? 255;
}

export const access: readonly Command[] = [
  {
    name: 'ssh',
    group: 'reach',
    formats: [],
    summary: 'Log in to a login node with ssh, through Kubernetes',
    usage: '[USER@]login|POD [-- COMMAND…]',
    flags: [],
    examples: ['ssh login', 'ssh alice@login', 'ssh root@login -- sinfo'],
    role: 'user',
    needs: [...readClusters, ...reachSlurm],
    run: ssh,
  },
  {
    name: 'proxy',
    group: 'reach',
    formats: [],
    summary: 'Serve slurmrestd on a port of this machine',
    usage: '',
    flags: [
      { name: 'port', value: 'PORT', description: 'Local port. Default: a free one.' },
      { name: 'with-token', description: 'Also print a token, as a line for the shell.' },
    ],
    examples: ['proxy --port 6820', 'proxy --with-token --slurm-user alice'],
    slurm: 'optional',
    role: 'user',
    needs: reachSlurm,
    run: proxy,
  },
  {
    name: 'dashboard',
    group: 'reach',
    formats: [],
    summary: 'Serve a live web page of the cluster on a port of this machine, with your own rights',
    usage: '',
    flags: [{ name: 'port', value: 'PORT', description: 'Local port. Default: a free one.' }],
    examples: ['dashboard', 'dashboard --port 8090'],
    slurm: 'required',
    role: 'user',
    needs: [
      ...reachSlurm,
      { group: 'slinky.slurm.net', resource: 'nodesets', verbs: ['list'] },
      { group: '', resource: 'configmaps', verbs: ['get'] },
      { group: 'events.k8s.io', resource: 'events', verbs: ['list'] },
    ],
    run: dashboard,
  },
  {
    name: 'token',
    group: 'reach',
    formats: [],
    summary: 'Print a Slurm token of five minutes: your own, or of --slurm-user if you may read the JWT key',
    usage: '[--slurm-user NAME]',
    flags: [],
    examples: ['token', 'export SLURM_JWT=$(kubectl slurm token)', 'token --slurm-user alice'],
    role: 'user',
    needs: reachSlurm,
    run: printToken,
  },
];

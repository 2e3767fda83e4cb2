/** What each command of `localcluster` does. */
import { spawn } from 'node:child_process';
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { clusterPaths, findCluster, listClusters } from '../cluster/cluster-directory.ts';
import { down, order, runningCluster, up } from '../cluster/control.ts';
import { LocalClusterError } from '../errors.ts';
import { findKubectl } from '../machine/toolbox.ts';
import { maxNodes } from '../network/addresses.ts';
import { amount, type Flags, wholeNumber } from './flags.ts';

type Command = (flags: Flags, print: (line: string) => void) => Promise<number>;

export const commands: Readonly<Record<string, Command>> = {
  async up(flags, print) {
    const began = performance.now();
    // The cluster's process does not hear Ctrl-C: it has to be told.
    const interrupted = new AbortController();
    const interrupt = () => interrupted.abort();
    const signals = ['SIGINT', 'SIGTERM'] as const;
    for (const signal of signals) process.once(signal, interrupt);
    const record = await up({
      signal: interrupted.signal,
      name: flags.name,
      nodes: wholeNumber('nodes', flags.nodes, 0, maxNodes),
      hollowNodes: wholeNumber('hollow-nodes', flags['hollow-nodes'], 0, 20_000),
      ...(flags.port === undefined ? {} : { port: wholeNumber('port', flags.port, 1, 65_535) }),
      ...(flags['node-grace-seconds'] === undefined
        ? {}
        : { nodeGraceSeconds: wholeNumber('node-grace-seconds', flags['node-grace-seconds'], 1, 3600) }),
      capacity: {
        ...(flags.cpu === undefined ? {} : { cpu: amount('cpu', flags.cpu, '8') }),
        ...(flags.memory === undefined ? {} : { memory: amount('memory', flags.memory, '16Gi') }),
      },
      progress: (line) => print(`  ${line}`),
    }).finally(() => {
      for (const signal of signals) process.off(signal, interrupt);
    });
    for (const path of flags.image) await loadImage(record.name, path, print);
    print(`cluster "${record.name}" is up after ${((performance.now() - began) / 1000).toFixed(1)} s`);
    print(
      `  eval "$(localcluster env --name ${record.name})"   or   localcluster kubectl --name ${record.name} get nodes`,
    );
    return 0;
  },

  async down(flags, print) {
    await down(flags.name, print);
    print(`cluster "${flags.name}" is gone`);
    return 0;
  },

  async status(_flags, print) {
    const names = await listClusters();
    if (names.length === 0) print('no cluster runs on this machine');
    for (const name of names) await printStatus(name, print);
    return 0;
  },

  async env(flags, print) {
    const record = await runningCluster(flags.name);
    print(`export KUBECONFIG=${record.kubeconfig}`);
    return 0;
  },

  async kubectl(flags) {
    const record = await runningCluster(flags.name);
    const child = spawn(await findKubectl(), [...flags.words], {
      stdio: 'inherit',
      env: { ...process.env, KUBECONFIG: record.kubeconfig },
    });
    // Ctrl-C reaches the child too; a signal to this process alone does not.
    process.once('SIGTERM', () => child.kill('SIGTERM'));
    return new Promise((done, fail) => {
      child.once('error', fail);
      child.once('close', (code) => done(code ?? 1));
    });
  },

  async 'load-image'(flags, print) {
    if (flags.words.length === 0)
      throw new LocalClusterError(
        'BadArgument',
        'load-image needs at least one file: localcluster load-image FILE.tar',
      );
    for (const path of flags.words) await loadImage(flags.name, path, print);
    return 0;
  },

  async logs(flags) {
    const { log } = clusterPaths(flags.name);
    if ((await findCluster(flags.name)).state === 'none') await runningCluster(flags.name);
    if (!flags.follow) {
      await pipeline(createReadStream(log), process.stdout, { end: false });
      return 0;
    }
    const enough = new AbortController();
    process.stdout.once('error', () => enough.abort()); // the reader has closed the pipe
    await followFile(log, (chunk) => process.stdout.write(chunk), enough.signal);
    return 0;
  },

  async node(flags, print) {
    const [what = '', node = ''] = flags.words;
    if (!['stop', 'start', 'cut'].includes(what) || node === '')
      throw new LocalClusterError(
        'BadArgument',
        'say what to do with which node: localcluster node stop|start|cut NODE',
      );
    await order(await runningCluster(flags.name), `/node/${what}`, { node });
    const done = { stop: 'is without power', start: 'is back', cut: 'is cut off the network' }[what];
    print(`node ${node} ${done ?? ''}`);
    return 0;
  },
};

async function loadImage(name: string, path: string, print: (line: string) => void): Promise<void> {
  const record = await runningCluster(name);
  const { names } = await order<{ names: string[] }>(record, '/load-image', { path: resolve(path) });
  print(`  image ${names.join(', ')}`);
}

interface Status {
  readonly url: string;
  readonly rssMb: number;
  readonly images: readonly string[];
  readonly nodes: readonly { name: string; address: string; state: string; pods: number }[];
}

async function printStatus(name: string, print: (line: string) => void): Promise<void> {
  const found = await findCluster(name);
  if (found.state !== 'running' || found.record === undefined) {
    print(
      `${name}: ended without cleaning up; \`localcluster down --name ${name}\` clears away what it left`,
    );
    return;
  }
  if (found.record.url === 'starting') {
    print(`${name}: is starting`);
    return;
  }
  const status = await order<Status>(found.record, '/status', {});
  print(`${name}: ${status.url}, ${status.rssMb} MB`);
  for (const node of status.nodes)
    print(`  ${node.name.padEnd(24)} ${node.address.padEnd(16)} ${node.state.padEnd(8)} ${node.pods} pods`);
  if (status.images.length > 0) print(`  images: ${status.images.join(', ')}`);
}

/** Hands over what is in a file and what comes to it, until the file is gone or `signal` says enough. */
export async function followFile(
  path: string,
  emit: (chunk: Buffer) => void,
  signal: AbortSignal,
): Promise<void> {
  for (let position = 0; !signal.aborted; ) {
    const size = await stat(path).then(
      (found) => found.size,
      () => undefined,
    );
    if (size === undefined) return;
    if (size > position)
      for await (const chunk of createReadStream(path, { start: position, end: size - 1 })) {
        position += (chunk as Buffer).length;
        emit(chunk as Buffer);
      }
    else await delay(200, undefined, { signal }).catch(() => {});
  }
}

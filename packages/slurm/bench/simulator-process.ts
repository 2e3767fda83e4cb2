/** The simulator in a process of its own, so that a benchmark measures the client alone. Driven over the IPC channel. */
import { setTimeout as pause } from 'node:timers/promises';
import { startSimulator } from '../testing/simulator/simulator.ts';

export interface SimulatorStart {
  readonly nodes: number;
  readonly jobs: number;
  readonly pingEveryMs: number;
}

export type SimulatorCommand =
  | { readonly kind: 'start'; readonly start: SimulatorStart }
  /** Changes one node's comment. */
  | { readonly kind: 'change'; readonly node: string; readonly comment: string }
  /** Bytes answered to a user since the last question. */
  | { readonly kind: 'bytes'; readonly user: string };

export type SimulatorAnswer =
  | { readonly kind: 'started'; readonly server: string; readonly tokens: Readonly<Record<string, string>> }
  | { readonly kind: 'changed'; readonly at: number }
  | { readonly kind: 'bytes'; readonly bytes: number; readonly requests: Readonly<Record<string, number>> };

let simulator: Awaited<ReturnType<typeof startSimulator>> | undefined;
const seen = new Map<string, number>();

process.on('message', (command: SimulatorCommand) => void obey(command));
process.on('disconnect', () => process.exit(0));

async function obey(command: SimulatorCommand): Promise<void> {
  switch (command.kind) {
    case 'start': {
      const { nodes, jobs, pingEveryMs } = command.start;
      simulator = await startSimulator({ nodes: `n[0-${nodes - 1}]`, latency: 'measured', pingEveryMs });
      // Half of the jobs run, one per node as far as nodes go; the other half waits, held.
      for (let index = 0; index < jobs; index += 1) {
        if (index % 2 === 0) simulator.cluster.runJob([`n${(index / 2) % nodes}`], { timeLimit: 60 });
        else simulator.cluster.createJob({ held: true });
      }
      const tokens = { watch: simulator.token('slurm'), naive: simulator.token('root') };
      return answer({ kind: 'started', server: simulator.server, tokens });
    }
    case 'change': {
      const node = simulator?.cluster.node(command.node);
      if (node === undefined) throw new Error('not started');
      node.comment = command.comment;
      simulator?.cluster.touch(node);
      return answer({ kind: 'changed', at: Date.now() });
    }
    case 'bytes': {
      const from = seen.get(command.user) ?? 0;
      const all = simulator?.requests ?? [];
      seen.set(command.user, all.length);
      const mine = all.slice(from).filter(({ user }) => user === command.user);
      while (mine.some(({ status }) => status === 0)) await pause(20); // still being answered
      const requests: Record<string, number> = {};
      for (const { path, status } of mine) {
        const kind = `${path.replace(/\d+$/, '*')} ${status}`;
        requests[kind] = (requests[kind] ?? 0) + 1;
      }
      return answer({ kind: 'bytes', bytes: mine.reduce((sum, { bytes }) => sum + bytes, 0), requests });
    }
  }
}

function answer(message: SimulatorAnswer): void {
  process.send?.(message);
}

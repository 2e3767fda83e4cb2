/** What an operator may be in the middle of when it crashes. */
import { nodeSets } from '../src/cache/resources.ts';
import type { NodeSetStage } from './nodeset-stage.ts';
import type { StagedSlurm } from './staged-slurm.ts';

type Stage = NodeSetStage<StagedSlurm>;

export interface CrashScenario {
  readonly name: string;
  /** Writes without which it cannot be done. */
  readonly atLeast: number;
  readonly before: object | undefined;
  readonly change: (stage: Stage) => Promise<void>;
  readonly settled: (stage: Stage) => Promise<void>;
}

const claims = [
  {
    metadata: { name: 'data' },
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
  },
];
const spec = {
  replicas: 2,
  volumeClaimTemplates: claims,
  persistentVolumeClaimRetentionPolicy: { whenScaled: 'Delete', whenDeleted: 'Delete' },
};

export const crashScenarios: readonly CrashScenario[] = [
  {
    name: 'scale-out',
    atLeast: 8,
    before: undefined,
    change: (stage) => stage.createNodeSet('w', spec),
    settled: (stage) => stage.untilQuiet('w', 2),
  },
  {
    name: 'scale-in',
    atLeast: 8,
    before: { ...spec, replicas: 3 },
    change: (stage) => stage.patchNodeSet('w', { replicas: 1 }),
    settled: async (stage) => {
      await stage.untilQuiet('w', 1);
      await stage.until('the claims of the others are gone', async () => (await stage.claims()).length === 1);
    },
  },
  {
    name: 'rollout',
    atLeast: 10,
    before: spec,
    change: (stage) => stage.patchNodeSet('w', { slurmd: { image: `${stage.image}-new` } }),
    settled: (stage) => stage.untilQuiet('w', 2),
  },
  {
    name: 'mode-switch',
    atLeast: 10,
    before: spec,
    change: (stage) => stage.patchNodeSet('w', { scalingMode: 'DaemonSet' }),
    settled: (stage) => stage.untilQuiet('w', 2),
  },
  {
    name: 'deletion',
    atLeast: 8,
    before: spec,
    change: async (stage) => void (await stage.client.delete(nodeSets, { namespace: 'slurm', name: 'w' })),
    settled: (stage) =>
      stage.until('the NodeSet is gone', async () => (await stage.nodeSet('w')) === undefined),
  },
];

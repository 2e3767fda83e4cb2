/**
 * A new slurm.key under jobs that begin and end all the time, with two slurmctld, and a worker, a kill of the operator and a second change in
 * the middle. Minutes: on request only.
 */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before as beforeAll, describe, it } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { annotation, conditionType, resourceName } from '@slurm-operator/api';
import { secrets } from '@slurm-operator/kube';
import { controllers } from '@slurm-operator/operator';
import { needsCluster, needsThisMachine } from './src/given/given-cluster.ts';
import { namespace, SlurmStage, stageConf } from './src/slurm-stage.ts';
import { slurmCommand } from './src/soak/operations/operation.ts';
import { until } from './src/until.ts';
import { wantedSlurm } from './src/wanted-slurm.ts';

const isRequested = process.env['KEYS'] === 'full';
const patience = { seconds: 900 };

describe(
  `a new slurm.key with Slurm ${wantedSlurm()}`,
  isRequested
    ? { ...needsCluster(3), ...needsThisMachine('it kills the operator') }
    : { skip: 'KEYS=full runs it' },
  () => {
    let stage: SlurmStage;
    const jobs: string[] = [];
    const over = new AbortController();
    let load: Promise<void> = Promise.resolve();

    beforeAll(async () => {
      stage = await SlurmStage.open({ name: `e2e-keys-${process.pid}`, nodes: 3, version: wantedSlurm() });
      const ha = stage.tellsWhoIsActive ? { ha: { enabled: true, backups: 1 } } : {};
      await stage.startSlurm({
        extraConf: `${stageConf}\nMinJobAge=7200`,
        ...(await stage.sharedState()),
        ...ha,
      });
      await stage.createNodeSet('w', { replicas: 2 });
      await stage.untilReady('w', 2, patience);
      load = submit();
    });
    after(async () => {
      over.abort();
      await load;
      await stage?.[Symbol.asyncDispose]();
    });

    async function submit(): Promise<void> {
      const scripts = [
        'sleep 1',
        'srun --mpi=none sleep 0.5; srun --mpi=none sleep 0.5',
        'sleep 4',
        'sleep 9',
      ];
      const options = ['--parsable', '--chdir=/tmp', '--output=/dev/null', '--mem=50'];
      while (!over.signal.aborted) {
        const script = scripts[jobs.length % scripts.length] ?? '';
        const id = await slurmCommand(stage, 'sbatch', ...options, '--wrap', script);
        if (id !== undefined && /^\d+$/.test(id.trim())) jobs.push(id.trim());
        // About as many as the workers complete: a queue would only prolong the end.
        await setTimeout(1_000, undefined);
      }
    }

    const rotate = () =>
      stage.client.mergePatch(
        secrets,
        { namespace, name: 'keys' },
        { data: { 'slurm.key': randomBytes(768).toString('base64') } },
      );
    const inForce = async () => {
      const { metadata } = await stage.client.get(secrets, {
        namespace,
        name: resourceName.slurmKeys('main'),
      });
      const { keys, signing } = JSON.parse(metadata.annotations?.[annotation.slurmKeys] ?? '{}') as {
        keys: string[];
        signing: string;
      };
      return { keys, signing };
    };
    const keysCurrent = async () => {
      const { status } = await stage.client.get(controllers, { namespace, name: 'main' });
      return status?.conditions?.find(({ type }) => type === conditionType.keysCurrent);
    };
    const untilChanged = (before: string) =>
      until(
        'the change to be over',
        async () => {
          const { keys, signing } = await inForce();
          const condition = await keysCurrent();
          if (keys.length === 1 && signing !== before && condition?.status === 'True') return true;
          throw new Error(JSON.stringify({ keys: keys.length, condition }));
        },
        patience,
      );

    it('goes on over a new worker and a killed operator, and says what it waits for', async () => {
      const { signing } = await inForce();
      await rotate();
      const seen: string[] = [];
      /** A change that is over ends the wait. */
      const step = async (n: number) => {
        const found = await until(
          `step ${n}`,
          async () => {
            const { keys, signing: now } = await inForce();
            const { message = '' } = (await keysCurrent()) ?? {};
            const line = `${new Date().toISOString()} ${keys.length} keys, ${now === signing ? 'old' : 'new'} signs: ${message}`;
            if (seen.at(-1)?.slice(24) !== line.slice(24)) seen.push(line);
            if (keys.length === 1 && now !== signing) return 'over';
            return message.startsWith(`Change of slurm.key, step ${n} of 3`) ? 'seen' : undefined;
          },
          { ...patience, seen: () => seen.join('\n') },
        );
        assert.equal(found, 'seen', seen.join('\n'));
      };
      await step(1);
      await stage.patchNodeSet('w', { replicas: 3 });
      await step(2);
      await stage.replaceOperator();
      await untilChanged(signing);
    });

    it('a second change in the middle of one ends with the last key', async () => {
      const { signing } = await inForce();
      await rotate();
      await until('two keys', async () => (await inForce()).keys.length === 2, patience);
      await rotate();
      await untilChanged(signing);
    });

    it('no job was lost, and none was started again', async () => {
      over.abort();
      await load;
      const states = async () => {
        const shown = (await slurmCommand(stage, 'scontrol', '--oneliner', 'show', 'jobs')) ?? '';
        const field = (line: string, name: string) => new RegExp(`${name}=(\\w+)`).exec(line)?.[1] ?? '';
        return new Map(
          shown.split('\n').map((line) => {
            const job = { state: field(line, 'JobState'), restarts: field(line, 'Restarts') };
            return [field(line, 'JobId'), job] as const;
          }),
        );
      };
      // One that Slurm has forgotten is lost.
      const open = async () => {
        const found = await states();
        return jobs.flatMap((id) => {
          const { state = 'forgotten' } = found.get(id) ?? {};
          return /^(PENDING|RUNNING|COMPLETING|forgotten)$/.test(state) ? [`${id} ${state}`] : [];
        });
      };
      const ends = { seconds: 600, everyMs: 1_000, seen: async () => (await open()).join() };
      await until('every job to end', async () => (await open()).length === 0, ends);
      const ended = await states();
      const hurt = jobs.filter((id) => {
        const job = ended.get(id);
        return job?.state !== 'COMPLETED' || job.restarts !== '0';
      });
      assert.deepEqual(hurt, [], `of ${jobs.length} jobs`);
      assert.ok(jobs.length > 50, `only ${jobs.length} jobs ran`);
      console.log(`${jobs.length} jobs during three changes, none lost`);
    });
  },
);

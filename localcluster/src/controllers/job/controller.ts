/** Carries out the plan of a Job. */

import type { Manager } from '@slurm-operator/kube';
import { draftOf } from '@slurm-operator/kube';
import { inBatches } from '../../in-batches.ts';
import { jobs, pods } from '../../objects/objects.ts';
import { podsFor } from '../pod-ownership.ts';
import { writeStatus } from '../write-status.ts';
import { planJob } from './plan.ts';

export function addJobController(manager: Manager): void {
  const { cache, client, recorder } = manager;
  manager
    .controller('job')
    .for(jobs)
    .owns(pods)
    .reconcile(async ({ namespace, name }, { signal, clock }) => {
      const job = cache.get(jobs, { namespace, name });
      if (job === undefined) return;
      const plan = planJob({ job, pods: podsFor(manager, job) }, clock.now());
      await inBatches(plan.actions, async (action) => {
        switch (action.do) {
          case 'createPod': {
            const pod = await client.create(pods, draftOf(pods, action.pod), { signal });
            recorder.normal(job, 'SuccessfulCreate', `Created pod: ${pod.metadata.name}`);
            return;
          }
          case 'deletePod':
            await client.delete(pods, action.pod.metadata, { uid: action.pod.metadata.uid, signal });
            return;
          case 'deleteJob':
            await client.delete(jobs, job.metadata, {
              uid: job.metadata.uid,
              propagation: 'Foreground',
              signal,
            });
        }
      });
      await writeStatus(client, jobs, job, plan.status, { signal });
      return plan.checkAgainInSeconds === undefined
        ? undefined
        : { requeueAfter: plan.checkAgainInSeconds * 1000 };
    });
}

/** What a person does first with a Slurm cluster: a job through ssh, one through REST, and a look at what is known of both. */
import { sleep } from '@slurm-operator/kube';
import type { Forwarded, Kubectl } from './install/kubectl.ts';
import type { LoginKey } from './install/login-session.ts';
import { RestSession } from './install/rest-session.ts';
import { demoNamespace, releases, restVersion } from './names.ts';

const slurm = releases.slurm.name;
const inDemo = ['--namespace', demoNamespace] as const;

/** What sbatch said. It waits for the job, and ends badly when the job did. */
export async function jobThroughSsh(kubectl: Kubectl, key: LoginKey): Promise<string> {
  await using login = await openLogin(kubectl, key);
  // One node is enough: the other may be drained.
  const { stdout } = await key.run(
    login.port,
    'cd /tmp && sbatch --wait --nodes=1-2 --job-name=from-ssh --output=/dev/null',
    { input: '#!/bin/sh\nsrun hostname\n' },
  );
  return stdout;
}

/** A port-forward to the login node with this key: one of an earlier run may still be terminating. */
async function openLogin(kubectl: Kubectl, key: LoginKey): Promise<Forwarded> {
  const deadline = performance.now() + 120_000;
  for (;;) {
    let login: Forwarded | undefined;
    try {
      login = await kubectl.forward(demoNamespace, `service/${slurm}-login-main`, 22);
      await key.run(login.port, 'true');
      return login;
    } catch (error) {
      await login?.[Symbol.asyncDispose]();
      if (performance.now() > deadline) throw error;
      await sleep(1_000, AbortSignal.timeout(5_000));
    }
  }
}

export async function jobThroughRest(kubectl: Kubectl): Promise<{ job: number; state: string }> {
  await using restapi = await kubectl.forward(demoNamespace, `service/${slurm}-restapi`, 6820);
  const secret = await kubectl.say(
    ...inDemo,
    'get',
    'secret',
    'demo-token',
    '--output=jsonpath={.data.SLURM_JWT}',
  );
  const token = Buffer.from(secret, 'base64').toString('utf8');
  const rest = new RestSession({ port: restapi.port, version: restVersion, token });
  const job = await rest.submit('#!/bin/sh\nhostname\n', { partition: 'long' });
  return { job, state: await rest.end(job) };
}

/** Output of a command beside slurmctld. */
export const inController = (kubectl: Kubectl, ...command: readonly string[]): Promise<string> =>
  kubectl.say(...inDemo, 'exec', `${slurm}-controller-0`, '--container=slurmctld', '--', ...command);

/** What accounting knows, once it knows of so many completed jobs: slurmctld passes its records on when it finds the time. */
export async function accountingRecords(kubectl: Kubectl, completed: number): Promise<string> {
  const deadline = performance.now() + 120_000;
  for (;;) {
    const records = await inController(
      kubectl,
      'sacct',
      '--allusers',
      '--allocations',
      '--format=JobID,JobName%12,Partition,State,NodeList%30',
    );
    if (records.split('COMPLETED').length - 1 >= completed) return records;
    if (performance.now() > deadline) throw new Error(`accounting does not know the jobs:\n${records}`);
    await sleep(500, AbortSignal.timeout(5_000));
  }
}

/**
 * What slurmrestd does, as tests: every fact this library relies on. Runs against the simulator and against real Slurm of
 * two releases; where they differ, the simulator is wrong.
 */
import { after, before, describe } from 'node:test';
import { accountChanges } from './account-changes.ts';
import { accounting } from './accounting.ts';
import { accounts } from './accounts.ts';
import { authentication } from './authentication.ts';
import { configuration } from './configuration.ts';
import { heterogeneousJobs, jobs } from './jobs.ts';
import { lastNode } from './last-node.ts';
import { nodes } from './nodes.ts';
import { outage } from './outage.ts';
import { qos } from './qos.ts';
import { reading } from './reading.ts';
import type { Subject } from './subject.ts';

export function contractSuite(name: string, start: () => Promise<Subject>): void {
  describe(`contract: ${name}`, () => {
    let subject: Subject | undefined;
    const of = () => {
      if (subject === undefined) throw new Error('the subject has not been started');
      return subject;
    };
    before(async () => {
      subject = await start();
    });
    after(async () => {
      await subject?.stop();
    });
    authentication(of);
    reading(of);
    nodes(of);
    jobs(of);
    configuration(of);
    accounting(of);
    qos(of);
    accounts(of);
    accountChanges(of);
    outage(of);
    heterogeneousJobs(of);
    lastNode(of);
  });
}

/** Account with real slurmctld, slurmdbd and MariaDB: what sacctmgr shows, limits of waiting jobs, removal and deletion under jobs. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { Account } from '@slurm-operator/api';
import { until } from '@slurm-operator/kube/testing';
import { type MiniSlurm, Random, startMiniSlurm } from '@slurm-operator/slurm/testing';
import { parse } from 'yaml';
import { RowStage } from '../../../testing/row-stage.ts';
import { accounts } from '../../cache/resources.ts';

const page = readFileSync(join(import.meta.dirname, '../../../../../docs/how-to/accounts.md'), 'utf8');
/** The example of the how-to page. */
const example = parse(/```yaml\n(.*?)```/s.exec(page)?.[1] ?? '') as { spec: object };

const leaves =
  'Share,Priority,QOS,DefaultQOS,GrpJobs,GrpSubmit,GrpJobsAccrue,GrpTRES,GrpTRESMins,GrpTRESRunMins,GrpWall,MaxJobs,MaxSubmit,MaxJobsAccrue,MaxTRES,MaxTRESPerNode,MaxTRESMins,MaxTRESRunMins,MaxWall,MinPrioThresh';

for (const release of ['26.05', '24.11'] as const)
  describe(`Account on Slurm ${release}`, () => {
    let mini: MiniSlurm;
    let stage: RowStage<Account>;
    before(async () => {
      mini = await startMiniSlurm({
        version: release,
        nodes: 1,
        accounting: true,
        configuration: ['AccountingStorageEnforce=associations,limits,qos'],
      });
      stage = await RowStage.open(
        { server: mini.server, jwtKey: mini.jwtKey, client: () => mini.client() },
        accounts,
      );
    });
    after(async () => {
      await stage[Symbol.asyncDispose]();
      await mini.stop();
    });

    const show = async (...filter: readonly string[]): Promise<string[]> => {
      const text = await mini.run('sacctmgr', '-nP', 'show', 'assoc', ...filter);
      return text === '' ? [] : text.replace(/\n$/, '').split('\n').toSorted();
    };
    const shown = (name: string, fields: string) => show(`account=${name}`, `format=${fields}`);
    const every = () => show(`format=Account,User,Partition,ParentName,Lineage,ID,${leaves}`);
    const submit = async (account: string): Promise<number> => {
      const job = [
        'sbatch',
        '--parsable',
        `--account=${account}`,
        '--mem=10',
        '-D',
        '/tmp',
        '--wrap',
        'sleep 600',
      ];
      return Number((await mini.run(...job)).trim());
    };
    const jobSays = (id: number, expected: RegExp) =>
      until(`job ${id} to be ${expected}`, async () =>
        expected.test(await mini.run('squeue', '-h', '-j', String(id), '-o', '%T %r')),
      );

    test('the example of the how-to page is what sacctmgr shows', async () => {
      await stage.create('physics', { ...example.spec, accountingRef: { name: 'slurm' } });
      await stage.ready('physics');
      assert.deepEqual(
        await shown('physics', 'User,ParentName,Share,QOS,DefaultQOS,GrpTRES,MaxJobs,Lineage'),
        [
          'alice||10|normal|normal|||/physics/0-alice/',
          'bob||1|normal|normal||2|/physics/0-bob/',
          '|root|100|normal|normal|cpu=64||/physics/',
        ],
      );
      const record = await mini.run(
        'sacctmgr',
        '-nP',
        'show',
        'account',
        'physics',
        'withcoord',
        'format=Descr,Coord',
      );
      assert.equal(record.trim(), 'physics department|alice');
      const user = await mini.run('sacctmgr', '-nP', 'show', 'user', 'alice', 'format=DefaultAccount');
      assert.equal(user.trim(), 'physics');
    });

    test('every leaf that was set, changed and removed equals a fresh apply', async () => {
      const share = { jobs: 1, submit: 2, accruing: 3, tres: { cpu: 4, mem: 5 }, tresRunMinutes: { cpu: 6 } };
      const full = {
        fairshare: 7,
        priority: 8,
        qos: ['normal'],
        defaultQos: 'normal',
        limits: {
          group: { ...share, tresMinutes: { cpu: 8 }, wall: '100h' },
          perMember: { jobs: 1, submit: 2, accruing: 3, tresRunMinutes: { cpu: 6 } },
          perJob: { tres: { cpu: 9 }, tresPerNode: { cpu: 2 }, tresMinutes: { cpu: 11 }, wall: '90m' },
          minPriority: 12,
        },
      };
      const texts = { description: 'full', organization: 'all' };
      const whole = { ...texts, ...full, members: [{ user: 'carol', ...full }] };
      const exact = (name: string) => shown(name, `User,${leaves}`);
      await stage.create('leaves', { members: [{ user: 'carol' }] });
      await stage.ready('leaves');
      await stage.edit('leaves', whole);
      await stage.ready('leaves');
      await stage.create('fresh-full', whole);
      await stage.ready('fresh-full');
      assert.deepEqual(await exact('leaves'), await exact('fresh-full'));
      assert.equal((await exact('leaves')).length, 2);
      const cleared = Object.fromEntries(Object.keys({ ...texts, ...full }).map((field) => [field, null]));
      await stage.edit('leaves', { ...cleared, priority: 3, members: [{ user: 'carol' }] });
      await stage.ready('leaves');
      await stage.create('fresh', { priority: 3, members: [{ user: 'carol' }] });
      await stage.ready('fresh');
      assert.deepEqual(await exact('leaves'), await exact('fresh'));
    });

    test('a job over a limit waits with its reason, and starts when the limit is raised', async () => {
      await stage.create('narrow', {
        deletionPolicy: 'Delete',
        limits: { group: { jobs: 1 } },
        members: [{ user: 'slurm', default: true }],
      });
      await stage.ready('narrow');
      const first = await submit('narrow');
      await jobSays(first, /^RUNNING/);
      const second = await submit('narrow');
      await jobSays(second, /^PENDING AssocGrpJobsLimit/);
      await stage.edit('narrow', { limits: { group: { jobs: 2 } } });
      await jobSays(second, /^RUNNING/);
    });

    test('a member and an account with running jobs stay until the jobs end, and name them', async () => {
      const [job] = (await mini.run('squeue', '-h', '-o', '%i')).trim().split('\n').toSorted();
      await stage.edit('narrow', { members: [] });
      const told = await stage.ready('narrow', 'InUse');
      assert.ok(told.message.includes(job ?? 'none'), told.message);
      await stage.delete('narrow');
      await until('InUse of the account', async () => {
        const conditions = (await stage.get('narrow'))?.status?.conditions ?? [];
        return conditions.some(({ message }) => message.includes('account narrow is not removed'));
      });
      assert.equal((await shown('narrow', 'User')).length, 2);
      await mini.run('scancel', '-u', 'slurm');
      await stage.gone('narrow');
      assert.deepEqual(await shown('narrow', 'User'), []);
    });

    test('drift by sacctmgr is corrected, and what is not named stays', async () => {
      await stage.create('drifts', { fairshare: 5, members: [{ user: 'dave' }] });
      await stage.ready('drifts');
      await mini.run('sacctmgr', '-i', 'modify', 'account', 'drifts', 'set', 'fairshare=50', 'grpjobs=9');
      await mini.run('sacctmgr', '-i', 'add', 'user', 'foreign', 'account=drifts');
      await mini.run('sacctmgr', '-i', 'remove', 'user', 'dave', 'where', 'account=drifts');
      await until('the correction', async () =>
        (await shown('drifts', 'User,Share,GrpJobs')).includes('|5|9'),
      );
      await until('the member', async () => (await shown('drifts', 'User')).includes('dave'));
      assert.deepEqual(await shown('drifts', 'User,Share,GrpJobs'), ['dave|1|', 'foreign|1|', '|5|9']);
    });

    test('slurmdbd that is killed in between changes nothing but the time', async () => {
      await mini.accounting.kill();
      await stage.edit('drifts', { fairshare: 6, members: [{ user: 'dave' }, { user: 'eve' }] });
      const told = await stage.ready('drifts', 'DatabaseUnknown');
      assert.equal(told.status, 'Unknown');
      await mini.accounting.start();
      await stage.ready('drifts');
      assert.deepEqual(await shown('drifts', 'User,Share'), ['dave|1', 'eve|1', 'foreign|1', '|6']);
    });

    test('a database made by sacctmgr is adopted without a change', async () => {
      await mini.run(
        'sacctmgr',
        '-i',
        'add',
        'account',
        'made',
        'description=made',
        'organization=org',
        'fairshare=4',
      );
      for (const user of ['m1', 'm2', 'm3'])
        await mini.run('sacctmgr', '-i', 'add', 'user', user, 'account=made', 'fairshare=3');
      const earlier = await every();
      const members = ['m1', 'm2', 'm3'].map((user) => ({ user, fairshare: 3, default: true }));
      await stage.create('made', {
        description: 'made',
        organization: 'org',
        parent: 'root',
        fairshare: 4,
        members,
      });
      await stage.ready('made', 'NotAdopted');
      assert.equal((await stage.get('made'))?.status?.plan, undefined);
      await stage.edit('made', { adopt: true });
      await stage.ready('made');
      assert.deepEqual(await every(), earlier);
    });

    test('random edits touch no row that the object does not name', async () => {
      const edits = Number(process.env['EDITS'] ?? 12);
      const random = new Random(21);
      const some = <T>(value: T): T | null => (random.next() < 0.5 ? value : null);
      await mini.run('sacctmgr', '-i', 'add', 'account', 'theirs', 'fairshare=9');
      await mini.run('sacctmgr', '-i', 'add', 'user', 'other-user', 'account=theirs', 'maxjobs=3');
      await stage.create('random');
      await stage.ready('random');
      const others = async () => (await every()).filter((line) => !line.includes('random'));
      const earlier = await others();
      assert.ok(earlier.some((line) => line.includes('other-user')));
      const share = () => ({
        fairshare: some(1 + random.below(9)),
        limits: some({
          perJob: some({ tres: { cpu: random.below(9) } }),
          perMember: some({ jobs: random.below(9) }),
        }),
      });
      const clean = (value: unknown): unknown =>
        JSON.parse(JSON.stringify(value, (_, leaf: unknown) => leaf ?? undefined));
      for (let edit = 0; edit < edits; edit += 1) {
        const members = ['r1', 'r2', 'r3']
          .filter(() => random.next() < 0.6)
          .map((user) => clean({ user, ...share() }));
        await stage.edit('random', { fairshare: null, limits: null });
        await stage.edit('random', { ...(clean(share()) as object), members });
        await stage.ready('random');
        await until(
          `edit ${edit}`,
          async () => (await shown('random', 'User')).length === members.length + 1,
        );
        assert.deepEqual(await others(), earlier, `edit ${edit}`);
      }
      const last = (await stage.get('random'))?.spec;
      await stage.create('random-fresh', { ...last, name: undefined });
      await stage.ready('random-fresh');
      const fields = 'User,Share,MaxTRES,MaxJobs';
      assert.deepEqual(await shown('random', fields), await shown('random-fresh', fields));
    });
  });

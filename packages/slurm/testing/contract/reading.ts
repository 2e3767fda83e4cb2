import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { NotSupported } from '../../src/errors.ts';
import { formatNodeState, isDrained, parseNodeState } from '../../src/meaning/node-state.ts';
import { versionsOf } from '../simulator/routes.ts';
import type { Subject } from './subject.ts';
import { eventually, firstError, newestOf, wire } from './wire.ts';

const nowhere = parseNodeState([]);

export function reading(of: () => Subject): void {
  describe('reading', () => {
    test('the newest common version is found by asking, and the release is told', async () => {
      const client = of().client();
      assert.equal(await client.apiVersion(), newestOf(of()));
      assert.ok(client.about.release?.startsWith(of().release));
      assert.equal(client.about.cluster, 'mini');
    });

    test('every version that this Slurm serves reads into the same model', async () => {
      for (const apiVersion of versionsOf[of().release]) {
        const client = of().client({ apiVersion });
        const [ping] = await client.controller.ping();
        assert.equal(ping?.responding, true, apiVersion);
        assert.equal(ping.primary, true, apiVersion);
        const names = (await client.nodes.list()).items.map((node) => node.name).toSorted();
        assert.deepEqual(names, ['n0', 'n1', 'n2'], apiVersion);
        assert.equal((await client.nodes.get('n1'))?.cpus, 4, apiVersion);
        assert.equal((await client.partitions.get('all'))?.nodeCount, 3, apiVersion);
        await client.controller.diag();
        await client.controller.licenses();
        await client.jobs.states();
        await client.reservations.list();
        const { id } = await client.jobs.submit({ script: '#!/bin/sh\nsleep 1\n', hold: true, timeLimit: 7 });
        assert.equal((await client.jobs.get(id))?.timeLimit, 7, apiVersion);
        assert.equal((await client.jobs.cancel(id)).outcome, 'accepted', apiVersion);
        // Up to v0.0.41 nothing tells that there was nothing to cancel.
        assert.equal(
          (await client.jobs.cancel(id)).outcome,
          apiVersion === 'v0.0.41' ? 'accepted' : 'ended',
          apiVersion,
        );
        await client.nodes.drain('n2', `test: ${apiVersion}`);
        assert.ok(
          isDrained((await client.nodes.list()).items.find(({ name }) => name === 'n2')?.state ?? nowhere),
        );
        await client.nodes.undrain('n2');
        assert.equal((await client.accounting.clusters())[0]?.name, 'mini', apiVersion);
      }
    });

    test('a version, path or method that does not exist is 404 in plain text', async () => {
      for (const [call, version] of [
        ['GET slurm/nodes/', 'v0.0.39'],
        ['GET slurm/nosuchthing', undefined],
        ['PUT slurm/nodes/', undefined],
      ] as const) {
        const answer = await wire(of(), call, version ? { version } : {});
        assert.equal(answer.status, 404, call);
        assert.match(answer.type, /text\/plain/);
        assert.equal(answer.connection.toLowerCase(), 'close');
      }
    });

    test('an endpoint that this API version lacks is NotSupported, by name', async () => {
      const client = of().client({ apiVersion: 'v0.0.42' });
      await assert.rejects(client.nodes.create('NodeName=c1 State=CLOUD'), NotSupported);
      await assert.rejects(client.jobs.requeue(1), NotSupported);
      await assert.rejects(client.partitions.create('blue', 'ALL'), NotSupported);
      await assert.rejects(client.nodes.update('n0', { topology: 'a:b' }), NotSupported);
      await assert.rejects(client.reservations.write({ name: 'r', durationMinutes: 5 }), NotSupported);
    });

    test('an unknown node is a 200 without nodes and with an error of number 0', async () => {
      const answer = await wire(of(), 'GET slurm/node/nope');
      assert.equal(answer.status, 200);
      assert.equal(answer.body['nodes'], undefined);
      assert.equal(firstError(answer), 0);
      assert.equal(await of().client().nodes.get('nope'), undefined);
    });

    test('a hostlist in the path is answered as one unknown node', async () => {
      for (const list of ['n%5B0-1%5D', 'n0%2Cn1']) {
        const answer = await wire(of(), `GET slurm/node/${list}`);
        assert.equal(answer.status, 200);
        assert.equal(answer.body['nodes'], undefined);
      }
    });

    test('an unknown partition: 200 and a warning in 26.05, 422 in 24.11; undefined in the client', async () => {
      const answer = await wire(of(), 'GET slurm/partition/nope');
      if (of().release === '26.05') {
        assert.equal(answer.status, 200);
        assert.equal(answer.body.warnings?.length, 1);
      } else {
        assert.equal(answer.status, 422);
        assert.equal(firstError(answer), 9000);
      }
      assert.equal(await of().client().partitions.get('nope'), undefined);
    });

    test('an unknown reservation is a 200 with an error of number 0, as an unknown node is', async () => {
      const answer = await wire(of(), 'GET slurm/reservation/nope');
      assert.equal(answer.status, 200);
      assert.equal(answer.body['reservations'], undefined);
      assert.equal(firstError(answer), 0);
      assert.equal(await of().client().reservations.get('nope'), undefined);
    });

    test('an unknown job is 404 with JSON and 2017; undefined in the client', async () => {
      const answer = await wire(of(), 'GET slurm/job/999999');
      assert.equal(answer.status, 404);
      assert.equal(firstError(answer), 2017);
      assert.equal(answer.connection.toLowerCase(), 'close');
      assert.equal(await of().client().jobs.get(999_999), undefined);
    });

    test('a good answer and "unchanged" keep the connection', async () => {
      const future = Math.floor(Date.now() / 1000) + 60;
      for (const [call, status] of [
        ['GET slurm/nodes/', 200],
        [`GET slurm/nodes/?update_time=${future}`, 304],
      ] as const) {
        const answer = await wire(of(), call);
        assert.equal(answer.status, status);
        assert.notEqual(answer.connection.toLowerCase(), 'close');
      }
    });

    test('the everyday endpoints answer in every version, with and without a slash at the end', async () => {
      const { id } = await of().client().jobs.submit({ script: '#!/bin/sh\nsleep 60\n', hold: true });
      const paths = [
        'slurm/nodes',
        'slurm/node/n0',
        'slurm/jobs',
        `slurm/job/${id}`,
        'slurm/partitions',
        'slurm/partition/all',
        'slurm/ping',
        'slurm/diag',
        'slurmdb/accounts',
        'slurmdb/users',
      ];
      for (const version of versionsOf[of().release])
        for (const path of paths)
          for (const call of [`GET ${path}`, `GET ${path}/`])
            assert.equal((await wire(of(), call, { version })).status, 200, `${call} in ${version}`);
      await of().client().jobs.cancel(id);
    });

    test('flags=DETAIL changes nothing', async () => {
      const keys = async (query: string) => {
        const { body } = await wire(of(), `GET slurm/nodes/${query}`);
        return Object.keys((body['nodes'] as object[])[0] ?? {}).toSorted();
      };
      assert.deepEqual(await keys('?flags=DETAIL'), await keys(''));
    });

    test('last_update is the time of the answer in whole seconds', async () => {
      const asked = Math.floor(Date.now() / 1000);
      const { updateTime } = await of().client().nodes.list();
      assert.ok(Number.isInteger(updateTime));
      assert.ok((updateTime ?? 0) >= asked && (updateTime ?? 0) <= Date.now() / 1000);
    });

    test('nodes: update_time is all or nothing, 304 when nothing changed', async () => {
      const future = Math.floor(Date.now() / 1000) + 60;
      assert.equal((await wire(of(), `GET slurm/nodes/?update_time=${future}`)).status, 304);
      const old = await wire(of(), 'GET slurm/nodes/?update_time=1');
      assert.equal(old.status, 200);
      assert.equal((old.body['nodes'] as unknown[]).length, 3);

      const client = of().client();
      // Quiet nodes become "unchanged" two seconds after their last change; a ping of theirs may come in between.
      await eventually(async () => {
        const { updateTime = 0 } = await client.nodes.list();
        assert.equal((await client.nodes.listSince(updateTime)).changed, false);
      });
    });

    test('a change is seen by update_time at once, also where 24.11 answers 500', async () => {
      const client = of().client();
      // Partitions must be older than the request for 24.11 to respond with 500.
      const updateTime = await eventually(async () => {
        const listed = await client.nodes.list();
        const since = await client.nodes.listSince(listed.updateTime ?? 0);
        assert.equal(since.changed, false);
        return listed.updateTime ?? 0;
      });
      await client.nodes.update('n0', { comment: `changed at ${updateTime}` });
      const raw = await wire(of(), `GET slurm/nodes/?update_time=${updateTime}`);
      if (of().release === '24.11') {
        assert.equal(raw.status, 500);
        assert.equal(firstError(raw), -1);
      } else {
        assert.equal(raw.status, 200);
        assert.equal((raw.body['nodes'] as unknown[]).length, 3, 'one changed node brings all');
      }
      const since = await client.nodes.listSince(updateTime);
      assert.ok(since.changed);
      assert.equal(since.items.find((node) => node.name === 'n0')?.comment, `changed at ${updateTime}`);
    });

    test('v0.0.41 cannot read a number as update_time; its client lists in full', async () => {
      if (of().release === '26.05')
        return assert.rejects(of().client({ apiVersion: 'v0.0.41' }).nodes.list(), NotSupported);
      assert.equal((await wire(of(), 'GET slurm/nodes/?update_time=1', { version: 'v0.0.41' })).status, 500);
      assert.equal((await wire(of(), 'GET slurm/jobs/?update_time=1', { version: 'v0.0.41' })).status, 422);
      const since = await of().client({ apiVersion: 'v0.0.41' }).nodes.listSince(1);
      assert.ok(since.changed && since.items.length === 3);
    });

    test('jobs: unchanged is a 200 with an empty list and a warning, which is not "no jobs"', async () => {
      const client = of().client();
      const { id } = await client.jobs.submit({ script: '#!/bin/sh\nsleep 0\n', hold: true });
      const future = Math.floor(Date.now() / 1000) + 60;
      const answer = await wire(of(), `GET slurm/jobs/?update_time=${future}`);
      assert.equal(answer.status, 200);
      assert.deepEqual(answer.body['jobs'], []);
      assert.match(answer.body.warnings?.[0]?.description ?? '', /No job changes/);
      assert.ok((await client.jobs.list()).items.some((job) => job.id === id));
      await client.jobs.cancel(id);
    });

    test('raw access reaches any endpoint, typed', async () => {
      const client = of().client({ apiVersion: 'v0.0.42' });
      const { nodes } = await client.raw('v0.0.42', 'GET /slurm/node/{node_name}', {
        path: { node_name: 'n0' },
      });
      assert.equal(nodes[0]?.name, 'n0');
    });

    test('surprise: the response for one node has stale allocations until the next list', async () => {
      const client = of().client();
      const { id } = await client.jobs.submit({
        script: '#!/bin/sh\nsleep 60\n',
        requiredNodes: ['n2'],
        timeLimit: 5,
      });
      await eventually(async () => {
        const node = (await client.nodes.list()).items.find(({ name }) => name === 'n2');
        assert.equal(node?.state.base, 'MIXED');
      });
      // From here on no client lists nodes until the job has ended.
      await client.jobs.cancel(id);
      await eventually(async () => assert.deepEqual((await client.jobs.get(id))?.state, ['CANCELLED']));
      const single = await client.nodes.get('n2');
      assert.equal(single?.state.base, 'MIXED', 'the job is over, and GET node does not know');
      assert.ok(single.allocatedCpus > 0);
      await eventually(async () => {
        const listed = (await client.nodes.list()).items.find(({ name }) => name === 'n2');
        assert.equal(formatNodeState(listed?.state ?? single.state).split('+')[0], 'IDLE');
      });
      assert.equal((await client.nodes.get('n2'))?.state.base, 'IDLE', 'the list put it right');
    });

    test('a list that returns nothing makes the response for one node current, in both directions', async () => {
      const client = of().client();
      await client.nodes.list();
      const { id } = await client.jobs.submit({
        script: '#!/bin/sh\nsleep 60\n',
        requiredNodes: ['n2'],
        timeLimit: 5,
      });
      await eventually(async () => assert.deepEqual((await client.jobs.get(id))?.state, ['RUNNING']));
      // From here on no client lists nodes.
      const before = await client.nodes.current(['n2', 'nowhere']);
      assert.deepEqual(
        before.nodes.map(({ name, state }) => [name, state.base]),
        [['n2', 'MIXED']],
        'the job that has begun is seen, and a node that does not exist is left out',
      );
      await client.jobs.cancel(id);
      await eventually(async () => assert.deepEqual((await client.jobs.get(id))?.state, ['CANCELLED']));
      assert.equal((await client.nodes.get('n2'))?.state.base, 'MIXED', 'a plain GET is stale');
      await eventually(async () => {
        const [node] = (await client.nodes.current(['n2'])).nodes;
        assert.equal(node && formatNodeState(node.state).split('+')[0], 'IDLE');
        assert.equal(node?.allocatedCpus, 0);
      });
    });
  });
}

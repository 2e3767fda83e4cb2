import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Forbidden, Unauthenticated, Unavailable } from '../../src/errors.ts';
import { signJwt } from '../../src/tokens/jwt.ts';
import { staticToken } from '../../src/tokens/token-provider.ts';
import type { Subject } from './subject.ts';
import { firstError, newestOf, refusalStatus, wire } from './wire.ts';

export function authentication(of: () => Subject): void {
  describe('authentication', () => {
    const badTokens = (): Readonly<Record<string, string>> => ({
      expired: of().expiredToken(),
      'signed with another key': signJwt({
        key: Buffer.alloc(32, 1),
        user: 'slurm',
        lifetimeSeconds: 60,
        now: Date.now(),
      }),
      garbage: 'this.is.nothing',
    });

    test('no token is a 401 in plain text', async () => {
      const answer = await wire(of(), 'GET slurm/nodes/', { token: null });
      assert.equal(answer.status, 401);
      assert.match(answer.type, /text\/plain/);
      assert.equal(answer.connection.toLowerCase(), 'close');
      const client = of().client({ token: { token: () => Promise.resolve(undefined) } });
      await assert.rejects(client.nodes.list(), Unauthenticated);
    });

    test('a bad token is 511 with error 1007, to reads and to writes', async () => {
      for (const [kind, token] of Object.entries(badTokens())) {
        for (const [call, body] of [
          ['GET slurm/nodes/'],
          ['POST slurm/node/n0', { state: ['DRAIN'], reason: 'x' }],
        ] as const) {
          const answer = await wire(of(), call, { token, body });
          assert.equal(answer.status, 511, `${kind} ${call}`);
          assert.equal(firstError(answer), 1007);
          assert.equal(answer.connection.toLowerCase(), 'close');
        }
      }
    });

    test('ping answers 200 to a bad token, and only v0.0.45 says why', async () => {
      for (const token of Object.values(badTokens())) {
        const answer = await wire(of(), 'GET slurm/ping/', { token });
        assert.equal(answer.status, 200);
        const [ping] = answer.body['pings'] as { responding: boolean; status?: string }[];
        assert.equal(ping?.responding, false);
        if (newestOf(of()) === 'v0.0.45') assert.equal(ping.status, 'Protocol authentication error');
        await assert.rejects(
          of()
            .client({ token: staticToken(token) })
            .controller.check(),
          Unauthenticated,
        );
      }
    });

    test('slurmdb answers 502 to a bad token; the client tells it from an outage', async () => {
      for (const token of Object.values(badTokens())) {
        const answer = await wire(of(), 'GET slurmdb/accounts/', { token });
        assert.equal(answer.status, 502);
        assert.equal(firstError(answer), 7000);
        await assert.rejects(
          of()
            .client({ token: staticToken(token) })
            .accounting.accounts(),
          Unauthenticated,
        );
      }
    });

    test('every call of a client with an expired token says Unauthenticated, and never that something is not there', async () => {
      const client = of().client({ token: staticToken(of().expiredToken()) });
      const calls = {
        list: () => client.nodes.list(),
        get: () => client.nodes.get('n0'),
        unknown: () => client.nodes.get('nope'),
        drain: () => client.nodes.drain('nope', 'test: x'),
        delete: () => client.nodes.delete('nope'),
        jobs: () => client.jobs.list(),
        states: () => client.jobs.states(),
        job: () => client.jobs.get(999_999),
        partition: () => client.partitions.get('nope'),
        submit: () => client.jobs.submit({ script: '#!/bin/sh\n' }),
      };
      for (const [name, call] of Object.entries(calls)) await assert.rejects(call, Unauthenticated, name);
    });

    test('Authorization: Bearer is accepted as well', async () => {
      const headers = { authorization: `Bearer ${of().token()}` };
      assert.equal((await wire(of(), 'GET slurm/nodes/', { token: null, headers })).status, 200);
    });

    test('a good token of a user that does not exist may list nodes', async () => {
      const listed = await of().client({ user: 'unknown-user' }).nodes.list();
      assert.equal(listed.items.length, 3);
    });

    test('an ordinary user may neither drain nor reconfigure: 2010', async () => {
      const token = of().token('alice');
      for (const call of ['POST slurm/node/n0', 'GET slurm/reconfigure/']) {
        const body = call.startsWith('POST') ? { state: ['DRAIN'], reason: 'alice' } : undefined;
        const answer = await wire(of(), call, { token, body });
        assert.equal(answer.status, refusalStatus(of()), call);
        assert.equal(firstError(answer), 2010);
      }
      const alice = of().client({ user: 'alice' });
      await assert.rejects(alice.nodes.drain('n0', 'test: alice'), Forbidden);
      await assert.rejects(alice.controller.reconfigure(), Forbidden);
      assert.equal((await alice.nodes.list()).items.length, 3);
    });

    test('a name of digits is a user id: 0 is root, also with more zeros', async () => {
      for (const user of ['0', '00']) {
        await of().client({ user }).nodes.drain('n0', `test: ${user}`);
        await of().client({ user }).nodes.undrain('n0');
      }
      await assert.rejects(of().client({ user: '1' }).nodes.drain('n0', 'test: 1'), Forbidden);
    });

    test('a token never appears in what an error shows', async () => {
      const token = of().expiredToken();
      const error: unknown = await of()
        .client({ token: staticToken(token) })
        .nodes.list()
        .catch((caught: unknown) => caught);
      assert.ok(error instanceof Unauthenticated);
      const { inspect } = await import('node:util');
      assert.ok(!inspect(error, { depth: 10, showHidden: true }).includes(token));
      assert.ok(!(error instanceof Unavailable));
    });
  });
}

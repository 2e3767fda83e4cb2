/** Client certificates: a valid one is a user, none is anonymous, an invalid one is refused. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createAuthority, issueClient, type KeyPair } from '@slurm-operator/kubernetes-values';
import { Caller } from '../../testing/contract/backend.ts';
import { startApiServer } from '../server.ts';

const YEAR = 366 * 24 * 3_600_000;
const jane = { name: 'jane', groups: ['dev'] };

test('the name and organizations of a certificate are user and groups; an expired or foreign one is 401', async (t) => {
  const now = Date.now();
  const [authority, another] = [
    await createAuthority({ name: 'ca', now }),
    await createAuthority({ name: 'ca', now }),
  ];
  const server = await startApiServer({ authority });
  t.after(() => server.stop());
  const ask = async (credentials: KeyPair | undefined) => {
    const { url, caPem } = server;
    const caller = new Caller({ name: 'embedded', url, caPem, ...credentials, controllers: false });
    const path = '/apis/authentication.k8s.io/v1/selfsubjectreviews';
    const answer = await caller.call({ method: 'POST', path, body: {} });
    caller.close();
    const review = JSON.parse(answer.text) as {
      status: { userInfo?: { username: string; groups: string[] } };
    };
    return { status: answer.status, user: review.status.userInfo };
  };
  const known = await ask(await issueClient(authority, { ...jane, now: now }));
  assert.deepEqual(
    [known.status, known.user?.username, known.user?.groups],
    [201, 'jane', ['dev', 'system:authenticated']],
  );
  assert.equal(
    (await ask(await issueClient(authority, { ...jane, now: now - YEAR }))).status,
    401,
    'expired',
  );
  assert.equal(
    (await ask(await issueClient(authority, { ...jane, now: now + YEAR }))).status,
    401,
    'not valid yet',
  );
  assert.equal(
    (await ask(await issueClient(another, { ...jane, now: now }))).status,
    401,
    'of another authority',
  );
  assert.equal((await ask(undefined)).status, 403, 'an anonymous user may not create a SelfSubjectReview');
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { silent } from '@slurm-operator/kube';
import { type ExchangeRequest, type Exchanger, exchangeToken } from './exchange-token.ts';
import { type LimitOptions, RequestLimits } from './request-limits.ts';
import { slurmUserOf } from './slurm-user.ts';

const now = Date.UTC(2026, 0, 1);
const key = Buffer.alloc(32, 7);

const limitsOf = (all: LimitOptions, each: LimitOptions, failures: LimitOptions = each) =>
  new RequestLimits({ all, each, failures, localFailures: { ...failures, burst: 2 * failures.burst } });

function exchanger(over: Partial<Exchanger> = {}): Exchanger & { readonly lines: string[] } {
  const lines: string[] = [];
  const note = (fields: object, message: string) => void lines.push(`${message} ${JSON.stringify(fields)}`);
  return {
    review: (bearer) => Promise.resolve(bearer === 'bad' ? undefined : { username: bearer }),
    isAllowed: () => Promise.resolve(true),
    keyOf: () => Promise.resolve({ secret: 'slurm-jwt', key, annotations: {} }),
    users: { prefix: '', suffix: '' },
    limits: limitsOf({ burst: 100, perSecond: 1 }, { burst: 3, perSecond: 0.1 }),
    log: { ...silent, info: note, warn: note },
    now: () => now,
    lines,
    ...over,
  };
}
const ask = (over: Partial<ExchangeRequest> = {}, body: object = {}): ExchangeRequest => ({
  bearer: 'alice',
  headers: ['authorization'],
  body: JSON.stringify({ namespace: 'hpc', cluster: 'slurm', ...body }),
  from: '10.0.0.1',
  ...over,
});

test('a user gets a token of their own for five minutes, and the log says so without it', async () => {
  const given = exchanger();
  const { status, body } = await exchangeToken(ask(), given);
  assert.equal(status, 200);
  const claims = JSON.parse(
    Buffer.from(body['token']?.split('.')[1] ?? '', 'base64url').toString('utf8'),
  ) as { sun: string; exp: number; iat: number; jti: string };
  assert.deepEqual([claims.sun, claims.exp - claims.iat], ['alice', 300]);
  assert.match(given.lines.join(), /issued a Slurm token .*"user":"alice".*"slurmUser":"alice"/);
  assert.ok(given.lines.join().includes(claims.jti));
  assert.ok(!given.lines.join().includes(body['token'] ?? '?'));
});

const consent = { 'slinky.slurm.net/token-users': 'slurm,root' };
test('a program that only reads is an account that owns nothing, whatever its name in Kubernetes', async () => {
  const asked: string[] = [];
  const given = exchanger({
    review: () => Promise.resolve({ username: 'system:serviceaccount:slinky:slurm-operator-dashboard' }),
    isAllowed: (_user, { subresource, verb }) => {
      asked.push(`${verb} clusters/${subresource}`);
      return Promise.resolve(true);
    },
  });
  const { status, body } = await exchangeToken(ask({}, { scope: 'view' }), given);
  assert.deepEqual([status, body['slurmUser'], asked], [200, 'nobody', ['create clusters/view']]);
});

const refusals: readonly (readonly [string, ExchangeRequest, number, RegExp, Partial<Exchanger>?])[] = [
  ['no token', ask({ bearer: undefined }), 401, /bearer token/],
  ['a token that Kubernetes refuses', ask({ bearer: 'bad' }), 401, /does not accept/],
  ['an impersonation header', ask({ headers: ['impersonate-user'] }), 400, /impersonation/],
  ['an impersonated group', ask({ headers: ['impersonate-group'] }), 400, /impersonation/],
  ['no JSON', ask({ body: '{' }), 400, /not JSON/],
  ['null', ask({ body: 'null' }), 400, /namespace must be/],
  ['a path as namespace', ask({}, { namespace: '../kube-system' }), 400, /namespace must be/],
  ['another scope', ask({}, { scope: 'secrets' }), 400, /scope must be/],
  ['no right', ask(), 403, /may not create clusters\/jobs/, { isAllowed: () => Promise.resolve(false) }],
  ['root', ask({ bearer: 'root' }), 403, /tokens for root need consent/],
  ['slurm', ask({ bearer: 'slurm' }), 403, /tokens for slurm need consent/],
  ['ROOT', ask({ bearer: 'ROOT' }), 403, /not the name of a Linux account/],
  ['a system account', ask({ bearer: 'nobody' }), 403, /system account/],
  ['a system account of Debian', ask({ bearer: '_apt' }), 403, /system account/],
  ['the account of a database', ask({ bearer: 'mysql' }), 403, /system account/],
  ['a service account', ask({ bearer: 'system:serviceaccount:a:b' }), 403, /not the name/],
  ['a line break', ask({ bearer: 'alice\nroot' }), 403, /not the name/],
  ['a foreign prefix', ask(), 403, /does not begin/, { users: { prefix: 'oidc:', suffix: '' } }],
  ['the administrator without consent', ask({}, { scope: 'nodes' }), 403, /need consent/],
  ['no such cluster', ask(), 404, /no Cluster/, { keyOf: () => Promise.resolve('there is no Cluster') }],
  [
    'a short key',
    ask(),
    409,
    /Secret s: the JWT key has/,
    { keyOf: () => Promise.resolve({ secret: 's', key: Buffer.alloc(3), annotations: {} }) },
  ],
];
const proxy = 'system:serviceaccount:slinky:slurm-operator-dashboard';
const forAlice = (onBehalfOf: unknown, body: object = {}) => ask({ bearer: proxy }, { ...body, onBehalfOf });
test('a program that may impersonate asks for a person, whose own rights and name count', async () => {
  const asked: string[] = [];
  const given = exchanger({
    isAllowed: ({ username, groups = [] }, { verb, subresource }) => {
      asked.push(`${username} [${groups.join()}] ${verb} clusters/${subresource}`);
      return Promise.resolve(true);
    },
  });
  const { status, body } = await exchangeToken(forAlice({ user: 'alice', groups: ['hpc'] }), given);
  assert.deepEqual([status, body['slurmUser']], [200, 'alice']);
  assert.deepEqual(asked, [
    `${proxy} [] impersonate clusters/users`,
    'alice [hpc,system:authenticated] create clusters/jobs',
  ]);
  assert.match(given.lines.join(), /"user":"alice","askedBy":"system:serviceaccount:slinky:/);
});

const only = (allowed: string): Partial<Exchanger> => ({
  isAllowed: (_user, { subresource }) => Promise.resolve(subresource === allowed),
});
const impersonations: typeof refusals = [
  ['no right to impersonate', forAlice({ user: 'alice' }), 403, /may not impersonate/, only('jobs')],
  ['no right of the person', forAlice({ user: 'alice' }), 403, /alice may not create/, only('users')],
  ['root for others', forAlice({ user: 'root' }), 403, /tokens for root need consent/],
  ['an account of Kubernetes', forAlice({ user: 'system:admin' }), 400, /name of a person/],
  ['a group of Kubernetes', forAlice({ user: 'alice', groups: ['system:masters'] }), 400, /groups of people/],
  ['two names in one', forAlice({ user: 'alice,root' }), 400, /name of a person/],
  ['no name', forAlice({}), 400, /name of a person/],
  ['null', forAlice(null), 400, /name of a person/],
  ['groups that are no list', forAlice({ user: 'alice', groups: 'hpc' }), 400, /groups of people/],
  ['the account that only reads', forAlice({ user: 'alice' }, { scope: 'view' }), 400, /asks for itself/],
];
for (const [what, request, status, says, over] of [...refusals, ...impersonations])
  test(`refused: ${what}`, async () => {
    const given = exchanger(over);
    const answer = await exchangeToken(request, given);
    assert.deepEqual([answer.status, answer.body['token']], [status, undefined]);
    assert.match(answer.body['message'] ?? '', says);
    assert.equal(given.lines.length, 1, 'a refusal is noted too');
  });

test('with consent on the key, and the right, nodes is a token for slurm', async () => {
  const asked: string[] = [];
  const given = exchanger({
    keyOf: () => Promise.resolve({ secret: 's', key, annotations: consent }),
    isAllowed: (_, { subresource }) => Promise.resolve(asked.push(subresource) > 0),
  });
  const { body } = await exchangeToken(ask({}, { scope: 'nodes' }), given);
  assert.deepEqual([body['slurmUser'], asked], ['slurm', ['nodes']]);
});

test('SlurmUser of another name needs consent, as administrator and as a person of that name', async () => {
  const exchange = async (annotations: Readonly<Record<string, string>>, scope: string, bearer = 'alice') => {
    const keyOf = () => Promise.resolve({ secret: 's', key, annotations, administrator: 'hpcadmin' });
    const { status, body } = await exchangeToken(ask({ bearer }, { scope }), exchanger({ keyOf }));
    return `${status} ${body['slurmUser'] ?? body['message']}`;
  };
  const needed = /^403 tokens for hpcadmin need consent: .*token-users=slurm,root,hpcadmin$/;
  assert.match(await exchange(consent, 'nodes'), needed);
  assert.match(await exchange(consent, 'jobs', 'hpcadmin'), needed);
  const listed = { 'slinky.slurm.net/token-users': 'hpcadmin' };
  assert.equal(await exchange(listed, 'nodes'), '200 hpcadmin');
  assert.equal(await exchange(listed, 'jobs', 'hpcadmin'), '200 hpcadmin');
  assert.equal(await exchange({}, 'jobs'), '200 alice');
  assert.match(await exchange({}, 'jobs', 'slurm'), /^403/, 'slurm needs it everywhere');
});

test('nothing of the cluster is looked at before the right to it is known', async () => {
  const given = exchanger({
    isAllowed: () => Promise.resolve(false),
    keyOf: () => assert.fail('the key was read'),
  });
  assert.equal((await exchangeToken(ask({}, { cluster: 'secret' }), given)).status, 403);
});

test('a flood of one user is stopped, others go on', async () => {
  const given = exchanger();
  const answers = [];
  for (let count = 0; count < 5; count += 1) answers.push((await exchangeToken(ask(), given)).status);
  assert.deepEqual(answers, [200, 200, 200, 429, 429]);
  assert.equal((await exchangeToken(ask({ bearer: 'bob' }), given)).status, 200);
});

test('a flood of bad tokens asks the API server only so often', async () => {
  let reviews = 0;
  const given = exchanger({
    review: () => {
      reviews += 1;
      return Promise.resolve(undefined);
    },
    limits: limitsOf({ burst: 10, perSecond: 1 }, { burst: 1, perSecond: 1 }),
  });
  for (let count = 0; count < 100; count += 1) await exchangeToken(ask({ bearer: 'bad' }), given);
  assert.equal(reviews, 10);
});

test('prefix and suffix are removed, and must be there', () => {
  const users = { prefix: 'oidc:', suffix: '@example.org' };
  assert.deepEqual(slurmUserOf('oidc:alice@example.org', users), { kind: 'user', name: 'alice' });
  for (const name of [
    'alice',
    'oidc:alice',
    'oidc:@example.org',
    'oidc:alice@example.org.evil',
    'oidc:a:b@example.org',
  ])
    assert.equal(slurmUserOf(name, users).kind, 'none', name);
});

test('a clock that is set back neither refills nor blocks', () => {
  const limits = limitsOf({ burst: 2, perSecond: 1 }, { burst: 1, perSecond: 1 });
  assert.equal(limits.waitOfAll(1_000_000), 0);
  assert.equal(limits.waitOfAll(0), 0);
  assert.ok(limits.waitOfAll(0) > 0);
  assert.equal(limits.waitOfAll(1_000), 0);
});

test('requests of an address that come to nothing are limited, and those of users are not', () => {
  const limits = limitsOf({ burst: 1, perSecond: 1 }, { burst: 1, perSecond: 1 }, { burst: 2, perSecond: 1 });
  const asks = (address: string, times: number, at = 0) =>
    Array.from({ length: times }, () => limits.waitOfAddress(address, at) === 0);
  assert.deepEqual(asks('10.0.0.1', 3), [true, true, false]);
  assert.deepEqual(asks('10.0.0.2', 1), [true], 'another address is not affected');
  assert.deepEqual(asks('10.0.0.1', 2, 1_000), [true, false], 'one more after a second');
  for (const address of ['127.0.0.1', '::1', '::ffff:127.0.0.1'])
    assert.deepEqual(asks(address, 5), [true, true, true, true, false], address);
  for (let count = 0; count < 10; count += 1) {
    assert.equal(limits.waitOfAddress('10.0.0.3', 0), 0);
    limits.giveBack('10.0.0.3');
  }
  limits.giveBack('10.0.0.3');
  limits.giveBack('10.0.0.4');
  assert.deepEqual(asks('10.0.0.3', 3), [true, true, false], 'no more is given back than there was');
});

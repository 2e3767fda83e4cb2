/** Every flag of the manager has a test of what it does here; the last test fails on one that has none. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createLog } from '@slurm-operator/kube';
import { type ManagerFlags, managerFlags, managerFlagTable } from './manager-flags.ts';
import { FlagError } from './parse-flags.ts';

const tried = new Set<string>();

function read(args: readonly string[], env: Record<string, string> = {}): ManagerFlags {
  for (const arg of args) tried.add(/^--?([a-z0-9-]+)/.exec(arg)?.[1] ?? '');
  const flags = managerFlags(args, env);
  if ('usage' in flags) assert.fail('this is no call for help');
  return flags;
}

const refused = (args: readonly string[], why: RegExp, env: Record<string, string> = {}) =>
  assert.throws(
    () => managerFlags(args, env),
    (error) => error instanceof FlagError && why.test(error.message),
  );

test('without a flag everything is as upstream has it', () => {
  assert.deepEqual(read([]), {
    serving: {
      kubeconfig: undefined,
      namespaces: undefined,
      leaderElection: undefined,
      health: { port: 8081 },
      metrics: { port: 8080, secure: false },
      http2: false,
      replica: undefined,
    },
    log: { level: 'info', form: 'json', time: 'text' },
    profile: undefined,
    exchange: undefined,
    podNamespace: undefined,
    keyStepPeriod: 60_000,
    clusterDomain: 'cluster.local',
    reachBy: 'name',
    images: {
      slurmctld: 'slurm-operator/slurmctld:26.05',
      slurmd: 'slurm-operator/slurmd:26.05',
      slurmdbd: 'slurm-operator/slurmdbd:26.05',
      slurmrestd: 'slurm-operator/slurmrestd:26.05',
      login: 'slurm-operator/login:26.05',
    },
    workers: {
      account: 128,
      accounting: 1,
      controller: 1,
      loginset: 1,
      nodeset: 1,
      qos: 64,
      restapi: 1,
      slurmclient: 1,
      token: 1,
    },
    nodeSetParallel: 16,
    propagatedConditions: [],
    slurm: { requestTimeoutMs: 20_000, backoff: { initial: 1000, limit: 900_000 }, pollPeriodMs: 5000 },
  });
});

test('flags are written as Go programs take them', () => {
  for (const args of [['--nodeset-workers', '7'], ['--nodeset-workers=7'], ['-nodeset-workers', '7']])
    assert.equal(read(args).workers.nodeset, 7);
  for (const on of [['--leader-elect'], ['--leader-elect=true'], ['-leader-elect=1']])
    assert.notEqual(read(on).serving.leaderElection, undefined, on.join(' '));
  assert.equal(read(['--leader-elect=false']).serving.leaderElection, undefined);
  assert.ok('usage' in managerFlags(['--help'], {}));
});

test('a wrong one is refused with its name, its value and what to do', () => {
  refused(['--nodeset-workers=0'], /^--nodeset-workers is "0": use a whole number from 1 to 1000$/);
  refused(['--nodeset-workers=many'], /"many"/);
  refused(['--health-addr=8081'], /--health-addr is "8081": use an address such as :8081/);
  refused(['--metrics-addr=:99999'], /--metrics-addr is ":99999"/);
  refused(['--leader-elect=maybe'], /--leader-elect is "maybe": use true or false/);
  refused(['--slurm-poll-period=5'], /--slurm-poll-period is "5": use a duration such as 500ms, 10s/);
  refused(['--slurm-request-timeout=1ms'], /from 100ms to 24h/);
  refused(['--slurm-backoff-initial=2m', '--slurm-backoff-max=1m'], /--slurm-backoff-max is less/);
  refused(['--reach-services-by=pigeon'], /use one of name, address/);
  refused(['--zap-encoder=xml'], /--zap-encoder is "xml"/);
  refused(['--nonsense'], /unknown flag --nonsense; see --help/);
  refused(['nodeset'], /"nodeset" is not a flag/);
  refused(['--kubeconfig'], /--kubeconfig needs a value/);
  refused(['--log-level=loud'], /--log-level is "loud": use one of debug, info/);
  refused([], /LOG_LEVEL is "loud"/, { LOG_LEVEL: 'loud' });
});

test('LOG_LEVEL wins over every flag', () => {
  const level = (args: readonly string[], env = {}) => read(args, env).log.level;
  assert.equal(level(['--log-level=error']), 'error');
  assert.equal(level(['--zap-log-level=debug']), 'debug');
  assert.equal(level(['--zap-log-level=2']), 'debug');
  assert.equal(level(['--zap-log-level=panic']), 'error');
  assert.equal(level(['--log-level=warn', '--zap-log-level=debug']), 'warn');
  assert.equal(level(['--zap-devel']), 'debug');
  assert.equal(
    level(['--log-level=error', '--zap-log-level=error', '--zap-devel'], { LOG_LEVEL: 'DEBUG' }),
    'debug',
  );
  assert.equal(level(['--log-level=error'], { LOG_LEVEL: '' }), 'error', 'an empty one is none');
});

test('log lines have the form, the time and the stack that flags ask for', () => {
  const line = (...args: string[]): string => {
    let written = '';
    const log = createLog('test', { ...read(args).log, destination: { write: (text) => (written += text) } });
    log.error({ pod: 'a b' }, 'it broke');
    return written;
  };
  assert.match(line(), /^\{"level":"error","time":"20\d\d-.*"pod":"a b","msg":"it broke"\}\n$/);
  assert.match(line('--zap-encoder=console'), /^20\d\d-\S+Z ERROR it broke pod="a b"\n$/);
  assert.match(line('--zap-devel'), / ERROR it broke/);
  assert.match(line('--zap-devel', '--zap-encoder=json'), /^\{/);
  assert.match(line('--zap-time-encoding=epoch'), /"time":\d{10},/);
  assert.match(line('--zap-time-encoding=millis'), /"time":\d{13},/);
  assert.match(line('--zap-time-encoding=nano'), /"time":\d{19},/);
  assert.doesNotMatch(line('--zap-stacktrace-level=panic'), /stack/);
  assert.match(line('--zap-stacktrace-level=error'), /"stack":"[^"]*manager-flags\.test\.ts/);
});

test('where it looks and who leads', () => {
  assert.equal(read(['--kubeconfig=/some/file']).serving.kubeconfig, '/some/file');
  assert.deepEqual(read(['--namespaces= a, b,,']).serving.namespaces, ['a', 'b']);
  const lease = (args: readonly string[], env = {}) => read(args, env).serving.leaderElection;
  assert.deepEqual(lease(['--leader-elect', '--leader-elect-namespace=x'], { POD_NAMESPACE: 'y' }), {
    namespace: 'x',
    name: undefined,
  });
  assert.equal(lease(['--leader-elect'], { POD_NAMESPACE: 'y' })?.namespace, 'y');
  assert.equal(lease(['--leader-elect'])?.namespace, undefined);
  assert.equal(lease(['--leader-elect', '--leader-elect-name=second'])?.name, 'second');
});

test('what it serves about itself, and where', () => {
  const { serving } = read([
    '--health-addr=127.0.0.1:1',
    '--metrics-addr=[::1]:2',
    '--metrics-secure',
    '--enable-http2',
  ]);
  assert.deepEqual(serving.health, { host: '127.0.0.1', port: 1 });
  assert.deepEqual(serving.metrics, { host: '::1', port: 2, secure: true });
  assert.equal(serving.http2, true);
  assert.equal(read(['--health-addr=0', '--metrics-addr=0']).serving.health, undefined);
  assert.equal(read(['--metrics-addr', '']).serving.metrics, undefined);
  assert.deepEqual(read(['--profile']).profile, { host: 'localhost', port: 6060 });
  assert.deepEqual(read(['--profile', '--profile-addr=:7070']).profile, { port: 7070 });
  assert.equal(read(['--profile-addr=:7070']).profile, undefined);
});

test('each kind has its own number of workers; slurmclient is the Cluster controller', () => {
  const kinds = [
    'account',
    'accounting',
    'controller',
    'loginset',
    'nodeset',
    'qos',
    'restapi',
    'slurmclient',
    'token',
  ] as const;
  assert.equal(read(['--nodeset-parallel=64']).nodeSetParallel, 64);
  const { workers } = read(kinds.map((kind, index) => `--${kind}-workers=${index + 2}`));
  assert.deepEqual(workers, Object.fromEntries(kinds.map((kind, index) => [kind, index + 2])));
});

test('how patient it is with Slurm', () => {
  assert.deepEqual(
    read([
      '--slurm-request-timeout=1m30s',
      '--slurm-backoff-initial=500ms',
      '--slurm-backoff-max=2h',
      '--slurm-poll-period=1.5s',
    ]).slurm,
    { requestTimeoutMs: 90_000, backoff: { initial: 500, limit: 7_200_000 }, pollPeriodMs: 1500 },
  );
});

test('the domain of Services: the flag, else what the kubelet wrote into /etc/resolv.conf', () => {
  const resolvConf = 'search slinky.svc.corp.example svc.corp.example corp.example\nnameserver 10.96.0.10\n';
  const domainOf = (...args: string[]) => {
    const flags = managerFlags(args, {}, resolvConf);
    return 'usage' in flags ? undefined : flags.clusterDomain;
  };
  assert.equal(domainOf(), 'corp.example');
  assert.equal(domainOf('--cluster-domain=other.example'), 'other.example');
  refused(['--cluster-domain=no domain'], /--cluster-domain.*DNS domain such as cluster\.local/);
});

test('what is built', () => {
  const flags = read([
    '--image-repository=registry.example/slurm',
    '--image-tag=24.11',
    '--cluster-domain=corp.local',
    '--reach-services-by=address',
    '--propagated-node-conditions=GpuBroken,DiskFull:5m,example.com/GpuHealthy=False:30s',
    '--key-step-period=2m',
  ]);
  assert.equal(flags.keyStepPeriod, 120_000);
  assert.equal(flags.images.slurmd, 'registry.example/slurm/slurmd:24.11');
  assert.equal(flags.clusterDomain, 'corp.local');
  assert.equal(flags.reachBy, 'address');
  assert.deepEqual(flags.propagatedConditions, [
    { type: 'GpuBroken', status: 'True', drainAfterMs: undefined },
    { type: 'DiskFull', status: 'True', drainAfterMs: 300_000 },
    { type: 'example.com/GpuHealthy', status: 'False', drainAfterMs: 30_000 },
  ]);
});

test('the token exchange is off without an address', () => {
  const users = ['--token-exchange-user-prefix=oidc:', '--token-exchange-user-suffix=@example.org'];
  assert.equal(read(users).exchange, undefined);
  assert.deepEqual(
    read(['--token-exchange-addr=:9444', '--token-exchange-audiences=a,b', ...users]).exchange,
    {
      address: { port: 9444 },
      users: { prefix: 'oidc:', suffix: '@example.org' },
      audiences: ['a', 'b'],
    },
  );
});

test('every flag was tried above', () => {
  const untried = Object.keys(managerFlagTable).filter((flag) => !tried.has(flag));
  assert.deepEqual(untried, [], 'flags without a test of what they do');
});

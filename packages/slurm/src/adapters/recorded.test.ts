/** Interprets and reads every exchange recorded from real Slurm: six combinations of Slurm and API version. */
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, test } from 'node:test';
import { type Interpretation, interpret } from '../connection/answer.ts';
import { type ApiVersion, isApiVersion } from '../connection/api-version.ts';
import type { SlurmErrorCode } from '../errors.ts';
import { formatNodeState } from '../meaning/node-state.ts';
import type { Adapter } from './adapter.ts';
import { adapters } from './versions.ts';

interface Recorded {
  readonly name: string;
  readonly slurm: string;
  readonly version: ApiVersion;
  readonly interpretation: Interpretation;
}

const root = join(import.meta.dirname, '../../testdata', 'recorded');

function recordings(): Recorded[] {
  return globSync('*/*/*.json', { cwd: root }).map((path) => {
    const [slurm = '', version = ''] = path.split('/');
    if (!isApiVersion(version)) throw new Error(`${path} is in the folder of no API version`);
    const { request, status, headers, body } = JSON.parse(readFileSync(join(root, path), 'utf8')) as {
      request: { method: string; path: string };
      status: number;
      headers?: Record<string, string>;
      body: unknown;
    };
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    const contentType =
      headers?.['content-type'] ?? (typeof body === 'string' ? 'text/plain' : 'application/json');
    const answer = { status, contentType, text, bytes: text.length, beganAt: 0 };
    const interpretation = interpret(answer, `${request.method} ${request.path}`);
    return { name: basename(path, '.json'), slurm, version, interpretation };
  });
}

const all = recordings();
const of = (name: string) => all.filter((recorded) => recorded.name === name);

describe('errors of both releases have the same class', () => {
  const expected: Readonly<Record<string, SlurmErrorCode>> = {
    'auth-no-token': 'Unauthenticated',
    'auth-wrong-signature': 'Unauthenticated',
    'auth-expired': 'Unauthenticated',
    'auth-garbage': 'Unauthenticated',
    'auth-expired-drain': 'Unauthenticated',
    'auth-alice-drain-denied': 'Forbidden',
    'reconfigure-as-alice': 'Forbidden',
    'node-resume-idle': 'Refused',
    'node-bad-state': 'Refused',
    'node-unknown-drain': 'NotFound',
    'node-delete-unknown': 'NotFound',
    'node-delete-busy': 'Refused',
    'node-reboot-rest-REBOOT_ISSUED': 'Refused',
    'job-submit-impossible': 'Refused',
    'job-submit-bad-partition': 'Refused',
    'job-submit-no-env': 'Refused',
    'job-submit-no-script': 'Refused',
    'job-unknown': 'NotFound',
    'ctld-down-nodes': 'Unavailable',
    'ctld-down-drain': 'Unavailable',
    'ctld-down-job': 'Unavailable',
    'dbd-down-slurmdb-ping': 'Unavailable',
    'dbd-down-accounts': 'Unavailable',
  };
  for (const [name, code] of Object.entries(expected)) {
    test(`${name} is ${code}`, () => {
      const found = of(name);
      assert.ok(found.length >= 2, 'recorded from both Slurm versions');
      for (const { slurm, version, interpretation } of found) {
        assert.equal(interpretation.kind, 'bad', `${slurm} ${version}`);
        assert.equal(interpretation.kind === 'bad' && interpretation.error.code, code, `${slurm} ${version}`);
      }
    });
  }

  test('an unknown path, version or method does not mean that an object is missing', () => {
    for (const name of ['http-404-path', 'http-404-version', 'http-405'])
      for (const { interpretation } of of(name)) assert.equal(interpretation.kind, 'no-such-path');
  });

  test('304 is "unchanged"', () => {
    const unchanged = of('nodes-update_time-unchanged').filter(({ version }) => version !== 'v0.0.41');
    assert.ok(unchanged.length > 0);
    for (const { interpretation } of unchanged) assert.equal(interpretation.kind, 'unchanged');
  });

  test('every other response is good', () => {
    const special = new Set([...Object.keys(expected), 'http-404-path', 'http-404-version', 'http-405']);
    const odd = all
      .filter(
        ({ name, interpretation }) =>
          interpretation.kind !== 'good' && interpretation.kind !== 'unchanged' && !special.has(name),
      )
      .map(
        ({ name, slurm, version, interpretation }) => `${slurm} ${version} ${name}: ${interpretation.kind}`,
      );
    // What is left differs by version, and is not there in some.
    assert.deepEqual(
      new Set(odd.map((line) => line.split(' ').at(2))),
      new Set([
        'conf:',
        'job-requeue:',
        'jobs-requeue:',
        'jobs-update_time-future:',
        'node-create:',
        'node-delete-busy-gone:',
        'node-reboot-rest-REBOOT_REQUESTED:',
        'nodes-update_time-future:',
        'nodes-update_time-old:',
        'nodes-update_time-unchanged:',
        'partition-create:',
        'partition-unknown:',
        'slurmdb-ping:',
      ]),
    );
  });
});

describe('reads every version into one model', () => {
  const read = <T>(name: string, key: string, reader: (adapter: Adapter) => (raw: unknown) => T) =>
    of(name).map(({ slurm, version, interpretation }) => {
      assert.equal(interpretation.kind, 'good', `${slurm} ${version} ${name}`);
      const list = interpretation.kind === 'good' ? (interpretation.envelope[key] as unknown[]) : [];
      return { version, slurm, item: reader(adapters[version])(list[0]) };
    });

  test('nodes', () => {
    const nodes = read('nodes', 'nodes', (adapter) => adapter.node);
    assert.equal(nodes.length, 6);
    for (const { item, slurm } of nodes) {
      assert.match(item.name, /^n[0-2]$/);
      assert.match(formatNodeState(item.state), /^IDLE\+DYNAMIC_NORM/);
      assert.equal(item.cpus, 4);
      assert.equal(item.memory, 4000);
      assert.equal(item.partitions[0], 'all');
      assert.deepEqual(item.features, ['mini']);
      assert.match(item.address, /^10\.79\.0\.1\d$/);
      assert.ok(item.version.startsWith(slurm));
      assert.ok((item.slurmdStartedAt ?? 0) > Date.UTC(2026, 0));
      assert.equal(item.reasonSetAt, undefined);
    }
  });

  test('a drained node has its reason', () => {
    for (const { item } of read('node-get-drained', 'nodes', (adapter) => adapter.node)) {
      assert.equal(item.reason, 'operator: scale-in');
      assert.equal(item.reasonSetBy, 'slurm');
      assert.ok(item.state.flags.has('DRAIN'));
    }
  });

  test('jobs', () => {
    for (const { item } of read('job-running', 'jobs', (adapter) => adapter.job)) {
      assert.deepEqual(item.state, ['RUNNING']);
      assert.equal(item.timeLimit, 5);
      assert.match(item.nodes, /^n[0-2]$/);
      assert.equal(item.user, 'slurm');
      assert.ok((item.startedAt ?? 0) > Date.UTC(2026, 0));
    }
    for (const { item } of read('job-failed', 'jobs', (adapter) => adapter.job)) {
      assert.equal(item.exitCode, 3);
      assert.equal(item.stateReason, 'NonZeroExitCode');
    }
    for (const { item } of read('job-held', 'jobs', (adapter) => adapter.job)) assert.equal(item.held, true);
    for (const { item } of read('jobs-state', 'jobs', (adapter) => adapter.jobState)) {
      assert.match(item.id, /^\d+$/);
      assert.ok(item.state.length > 0);
    }
  });

  test('ping: an expired token is reported as not responding', () => {
    for (const { item, version } of read('ping', 'pings', (adapter) => adapter.ping)) {
      const status = version === 'v0.0.45' ? 'No error' : undefined;
      assert.deepEqual(
        { ...item, latency: 0 },
        { hostname: 'slurmctl', responding: true, primary: true, latency: 0, status },
      );
    }
    for (const { item } of read('auth-expired-ping', 'pings', (adapter) => adapter.ping))
      assert.equal(item.responding, false);
    for (const { item } of read('ctld-down-ping', 'pings', (adapter) => adapter.ping))
      assert.equal(item.responding, false);
  });

  test('partitions', () => {
    for (const { item } of read('partition', 'partitions', (adapter) => adapter.partition)) {
      assert.equal(item.name, 'all');
      assert.deepEqual(item.state, ['UP']);
      assert.equal(item.maxTime, 'infinite');
      assert.equal(item.nodeCount, 3);
    }
  });

  test('accounting', () => {
    for (const { item } of read('slurmdb-accounts', 'accounts', (adapter) => adapter.account))
      assert.equal(item.organization, 'org');
    for (const { item } of read('slurmdb-users', 'users', (adapter) => adapter.user))
      assert.equal(item.name, 'alice');
    for (const { item } of read('slurmdb-assocs', 'associations', (adapter) => adapter.association))
      assert.equal(item.cluster, 'mini');
    for (const { item } of read('slurmdb-qos', 'qos', (adapter) => adapter.qos))
      assert.equal(item.name, 'normal');
    for (const { item } of read('slurmdb-clusters', 'clusters', (adapter) => adapter.clusterRecord))
      assert.equal(item.controllerPort, 6817);
    for (const { item } of read('slurmdb-tres', 'TRES', (adapter) => adapter.tres))
      assert.equal(item.type, 'cpu');
    for (const { item } of read('slurmdb-jobs', 'jobs', (adapter) => adapter.accountingJob)) {
      assert.ok(item.id > 0);
      assert.ok((item.submittedAt ?? 0) > Date.UTC(2026, 0));
      for (const { id, state, nodes, tasks, startedAt, endedAt, exitCode } of item.steps) {
        assert.match(id, /^\d+\.(batch|\d+)$/);
        const [where, many] = id.endsWith('.batch') ? ['n1', 1] : ['n[1-2,0]', 3];
        assert.deepEqual([state, nodes, tasks, exitCode], [['COMPLETED'], where, many, 0]);
        assert.ok((endedAt ?? 0) >= (startedAt ?? 0) && (startedAt ?? 0) > Date.UTC(2026, 0));
      }
      assert.ok(item.steps.length > 0);
    }
  });
});

/**
 * The client half of the token exchange, attacked through `kubectl slurm` on a running demo with real daemons. People are service accounts
 * here; of them Slurm knows alice, slurm and root. Adds the table of results to `rows`.
 */
import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { chart, Helm } from '@slurm-operator/charts';
import { type Client, kubeconfigConfig, namespaces, secrets } from '@slurm-operator/kube';
import { type CommandResult, runCommand } from '@slurm-operator/sandbox';
import { parseAllDocuments } from 'yaml';

const roles = fileURLToPath(new URL('../../deploy/kubectl-slurm-roles.yaml', import.meta.url));
const people = 'people';
const demo = 'slurm-demo';
const operator = 'slurm-demo-operator';
const everyone = ['alice', 'zoe', 'slurm', 'root', 'backup', 'mallory', 'carol', 'flood'];
const rbac = '/apis/rbac.authorization.k8s.io/v1';
const consentAnnotation = 'slinky.slurm.net/token-users';

export interface AttackOptions {
  readonly client: Client;
  readonly kubeconfig: string;
  readonly directory: string;
  /** The file of `kubectl slurm`. */
  readonly plugin: string;
}

export async function attackTokenExchange(options: AttackOptions, rows: string[]): Promise<void> {
  const { client, directory } = options;
  await enable(options);
  for (const role of parseAllDocuments(await readFile(roles, 'utf8')))
    await client.json('POST', `${rbac}/clusterroles`, { body: role.toJS() as object });
  await client.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: people } });
  for (const name of everyone) await account(client, name);
  for (const name of everyone.filter((one) => one !== 'mallory'))
    await bind(client, {
      name: `${name}-user`,
      namespace: demo,
      role: ['ClusterRole', 'slurm-user'],
      who: name,
    });
  await bind(client, {
    name: 'mallory-view',
    namespace: demo,
    role: ['ClusterRole', 'slurm-viewer'],
    who: 'mallory',
  });
  for (const name of everyone)
    await bind(client, {
      name: `${name}-exchange`,
      namespace: operator,
      role: ['Role', 'slurm-operator-token-exchange'],
      who: name,
    });
  const { server } = await kubeconfigConfig({ files: [options.kubeconfig] });
  const { ca = '' } = await client.config.identity({ refused: false });
  const as = async (name: string, token: string, words: readonly string[]): Promise<CommandResult> => {
    const file = join(directory, `kubeconfig-${name}`);
    const base64 = Buffer.from(ca).toString('base64');
    const config = {
      apiVersion: 'v1',
      kind: 'Config',
      clusters: [{ name: 'c', cluster: { server, 'certificate-authority-data': base64 } }],
      users: [{ name: 'u', user: { token } }],
      contexts: [{ name: 'x', context: { cluster: 'c', user: 'u', namespace: demo } }],
      'current-context': 'x',
    };
    await writeFile(file, JSON.stringify(config), { mode: 0o600 });
    const { SLURM_JWT: _, ...env } = process.env;
    return runCommand([process.execPath, options.plugin, '--operator-namespace', operator, ...words], {
      env: { ...env, KUBECONFIG: file, NO_COLOR: '1' },
      allowFailure: true,
      timeoutMs: 120_000,
    });
  };
  const token = (name: string, audiences?: readonly string[]) => tokenOf(client, name, audiences);
  const row = (what: string, { exitCode, stdout, stderr }: CommandResult, code: number, says: RegExp) => {
    const said = `${stdout}${stderr}`.trim().replaceAll(/\s+/g, ' ');
    assert.equal(exitCode, code, `${what}: ${said}`);
    assert.match(said, says, what);
    assert.doesNotMatch(said, / at .*\.ts:\d+/, what);
    const shown = said.replaceAll(/eyJ[\w-]+\.[\w-]+\.[\w-]+/g, '<token>').slice(0, 150);
    rows.push(`${what.padEnd(46)} exit ${code}  ${shown}`);
  };

  const alice = await token('alice');
  const issued = await as('alice', alice, ['token']);
  const jwt = issued.stdout.trim();
  row('alice asks for her token', issued, 0, /token for Slurm user alice, for five minutes/);
  assert.equal(claimsOf(jwt)['sun'], 'alice');
  const script = join(directory, 'held.sh');
  await writeFile(script, '#!/bin/sh\n#SBATCH -H -p short --time=1 --job-name=hers --chdir=/tmp\ntrue\n');
  const hers = await as('alice', alice, ['submit', script, '-o', 'name']);
  row('alice submits a job', hers, 0, /^job\/\d+/);
  const theirs = (
    await runCommand(
      [process.execPath, options.plugin, '-n', demo, 'submit', script, '--slurm-user', 'root', '-o', 'name'],
      {
        env: { ...process.env, KUBECONFIG: options.kubeconfig },
      },
    )
  ).stdout.trim();
  row('alice cancels a job of root', await as('alice', alice, ['cancel', theirs]), 3, /Slurm refuses it/);
  row(
    'alice drains a node',
    await as('alice', alice, ['drain', 'short-0', '--reason', 'mine']),
    3,
    /Slurm refuses it|may not/,
  );
  row('alice cancels her own job', await as('alice', alice, ['cancel', hers.stdout.trim()]), 0, /cancelled/);
  row(
    'alice acts as root in Kubernetes (--as)',
    await as('alice', alice, ['token', '--as', 'root']),
    2,
    /act as another|may not|impersonate/i,
  );
  row(
    'alice signs for root (--slurm-user)',
    await as('alice', alice, ['token', '--slurm-user', 'root']),
    2,
    /right to read Secret/,
  );
  const zoe = await as('zoe', await token('zoe'), ['submit', script, '-o', 'name']);
  row('a user that Slurm does not know submits', zoe, 3, /Slurm refuses it/);
  // The key of the demo lists root and slurm.
  const key = { namespace: demo, name: 'slurm-auth-jwt' };
  const consent = (await client.get(secrets, key)).metadata.annotations?.[consentAnnotation];
  assert.equal(consent, 'root,slurm');
  const allow = (users: string | null) =>
    client.mergePatch(secrets, key, { metadata: { annotations: { [consentAnnotation]: users } } });
  for (const name of ['slurm', 'root']) {
    const theirToken = await token(name);
    row(
      `the user ${name}, with consent`,
      await as(name, theirToken, ['token']),
      0,
      new RegExp(`token for Slurm user ${name},`),
    );
    await allow(null);
    row(
      `the user ${name}, without consent`,
      await as(name, theirToken, ['token']),
      2,
      new RegExp(`tokens for ${name} need consent`),
    );
    await allow(consent ?? null);
  }
  row('a system account', await as('backup', await token('backup'), ['token']), 2, /system account/);
  row(
    'no right to clusters/jobs',
    await as('mallory', await token('mallory'), ['token']),
    2,
    /may not create clusters\/jobs/,
  );
  row(
    'a token for a foreign audience',
    await as('alice', await token('alice', ['vault']), ['token']),
    2,
    /does not accept your credentials/,
  );
  row(
    'a forged token',
    await as('alice', `${alice.slice(0, -8)}AAAAAAAA`, ['token']),
    2,
    /does not accept your credentials/,
  );
  const carol = await token('carol');
  row('carol asks for her token', await as('carol', carol, ['token']), 0, /Slurm user carol/);
  await client.json('DELETE', `/api/v1/namespaces/${people}/serviceaccounts/carol`);
  row(
    'replay after the account was deleted',
    await as('carol', carol, ['token']),
    2,
    /does not accept your credentials/,
  );
  const flood = await token('flood');
  const results = await Promise.all(Array.from({ length: 14 }, () => as('flood', flood, ['token'])));
  const refused = results.filter(({ exitCode }) => exitCode === 2);
  assert.ok(refused.length > 0 && refused.length < 14, `${refused.length} of 14 refused`);
  const odd = refused.filter(({ stderr }) => !stderr.includes('too many requests'));
  if (odd.length > 0) {
    const said = odd.map(({ stderr }) => stderr).join('');
    const log = await operatorLog(options);
    assert.fail(`${odd.length} were refused for another reason:\n${said}\nThe operator logged:\n${log}`);
  }
  row(
    `a flood: ${refused.length} of 14 at once are refused`,
    refused[0] ?? assert.fail(),
    2,
    /too many requests/,
  );
  row('alice goes on meanwhile', await as('alice', alice, ['jobs']), 0, /./);
}

const claimsOf = (jwt: string): Readonly<Record<string, unknown>> =>
  JSON.parse(Buffer.from(jwt.split('.')[1] ?? '', 'base64url').toString('utf8')) as Record<string, unknown>;

async function enable({ kubeconfig }: AttackOptions): Promise<void> {
  await using helm = await Helm.open({ kubeconfig });
  const values = await helm.file({
    operator: { tokenExchange: { enabled: true, userPrefix: `system:serviceaccount:${people}:` } },
  });
  const place = ['--namespace', operator, '--reuse-values', '--values', values];
  await helm.run([
    'upgrade',
    'slurm-operator',
    chart('slurm-operator'),
    ...place,
    '--wait',
    '--timeout',
    '4m',
  ]);
}

/** What the exchange logged last, for the message of a failure. */
async function operatorLog({ kubeconfig, plugin }: AttackOptions): Promise<string> {
  const { stdout, stderr } = await runCommand(
    [process.execPath, plugin, '-n', demo, 'logs', 'operator', '--tail', '400'],
    { env: { ...process.env, KUBECONFIG: kubeconfig, NO_COLOR: '1' }, allowFailure: true, timeoutMs: 60_000 },
  );
  const lines = stdout.split('\n').filter((line) => line.includes('token-exchange'));
  return lines.slice(-40).join('\n') || stderr;
}

const account = (client: Client, name: string) =>
  client.json('POST', `/api/v1/namespaces/${people}/serviceaccounts`, {
    body: { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name } },
  });

async function tokenOf(client: Client, name: string, audiences?: readonly string[]): Promise<string> {
  const { status } = await client.json<{ status: { token: string } }>(
    'POST',
    `/api/v1/namespaces/${people}/serviceaccounts/${name}/token`,
    {
      body: {
        apiVersion: 'authentication.k8s.io/v1',
        kind: 'TokenRequest',
        spec: audiences === undefined ? {} : { audiences },
      },
    },
  );
  return status.token;
}

interface Binding {
  readonly name: string;
  readonly namespace: string;
  readonly role: readonly [kind: string, name: string];
  readonly who: string;
}

const bind = (client: Client, { name, namespace, role: [kind, role], who }: Binding) =>
  client.json('POST', `${rbac}/namespaces/${namespace}/rolebindings`, {
    body: {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'RoleBinding',
      metadata: { name },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind, name: role },
      subjects: [{ kind: 'ServiceAccount', name: who, namespace: people }],
    },
  });

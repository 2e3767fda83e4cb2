/**
 * Plays a program of a control plane for the test of the way to real ones: notes its arguments, checks what it was given
 * as the real one would (it reads every file, it needs the others), and runs until it is told to end.
 *
 * `fake-control-plane.ts NOTES PROGRAM --flag=value …`
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { get, createServer as plainServer } from 'node:http';
import { createServer, request } from 'node:https';
import { join } from 'node:path';
import { parse } from 'yaml';

const [notes = '', program = '', ...args] = process.argv.slice(2);
const note = (what: string, text: string) => writeFileSync(join(notes, `${program}.${what}`), text);
const flag = (name: string): string => {
  const found = args.find((arg) => arg.startsWith(`--${name}=`));
  if (found === undefined) throw new Error(`${program} was not given --${name}`);
  return found.slice(name.length + 3);
};
const file = (name: string): string => readFileSync(flag(name), 'utf8');

process.once('SIGTERM', () => {
  note('ended', 'SIGTERM');
  process.exit(0);
});
note('args', JSON.stringify(args));

const programs: Readonly<Record<string, () => void>> = {
  etcd() {
    const { hostname, port } = new URL(flag('listen-client-urls'));
    plainServer((_request, response) => response.end('etcd')).listen(Number(port), hostname);
  },
  'kube-apiserver'() {
    const tls = { cert: file('tls-cert-file'), key: file('tls-private-key-file'), ca: file('client-ca-file') };
    for (const name of ['service-account-key-file', 'service-account-signing-key-file']) file(name);
    createServer({ ...tls, requestCert: true, rejectUnauthorized: true }, (_request, response) => {
      const answer = (status: number) => response.writeHead(status).end(program);
      get(flag('etcd-servers'), (etcd) => etcd.resume().once('end', () => answer(200))).once('error', () =>
        answer(500),
      );
    }).listen(Number(flag('secure-port')), flag('bind-address'));
  },
  'kube-controller-manager'() {
    const config = parse(file('kubeconfig')) as {
      clusters: { cluster: Record<string, string> }[];
      users: { user: Record<string, string> }[];
    };
    const text = (encoded: string | undefined) => Buffer.from(encoded ?? '', 'base64').toString('utf8');
    const { cluster } = config.clusters[0] ?? { cluster: {} };
    const { user } = config.users[0] ?? { user: {} };
    const credentials = {
      ca: text(cluster['certificate-authority-data']),
      cert: text(user['client-certificate-data']),
      key: text(user['client-key-data']),
    };
    request(`${cluster['server']}/readyz`, credentials, (response) => note('reached', String(response.statusCode)))
      .end();
    setInterval(() => undefined, 60_000);
  },
};
programs[program]?.();

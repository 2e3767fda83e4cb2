/** check: whether the installation is complete; --pre before there is one. */
import { ForbiddenError, NotFoundError } from '@slurm-operator/kube';
import type { Command } from '../command-line/command.ts';
import { exitCode, toExit } from '../errors.ts';
import { gatherEvidence } from '../gather/evidence.ts';
import type { CommandLine } from '../line.ts';
import { findingsText, uncheckedText } from '../output/findings.ts';
import { clusters, storageClasses } from '../session/resources.ts';
import type { Session } from '../session/session.ts';
import { readEvidence } from './needs.ts';

interface Check {
  readonly what: string;
  readonly good: boolean;
  readonly detail: string;
}

async function beforeInstallation(session: Session): Promise<readonly Check[]> {
  const client = await session.client();
  const { signal } = session;
  const attempt = async (
    what: string,
    look: () => Promise<{ good: boolean; detail: string }>,
  ): Promise<Check> => {
    try {
      return { what, ...(await look()) };
    } catch (error) {
      return {
        what,
        good: false,
        detail: error instanceof ForbiddenError ? 'you may not look' : toExit(error).message,
      };
    }
  };
  const may = (verb: string, resource: string, group: string) =>
    attempt(`you may ${verb} ${resource}`, async () => {
      const review = await client.json<{ status?: { allowed?: boolean } }>(
        'POST',
        '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews',
        {
          body: {
            apiVersion: 'authorization.k8s.io/v1',
            kind: 'SelfSubjectAccessReview',
            spec: { resourceAttributes: { verb, resource, group } },
          },
          signal,
        },
      );
      return {
        good: review.status?.allowed === true,
        detail: review.status?.allowed === true ? '' : 'needed to install the charts',
      };
    });
  return Promise.all([
    attempt('Kubernetes is 1.29 or newer', async () => {
      const { minor } = await client.json<{ minor: string }>('GET', '/version', { signal });
      return { good: Number.parseInt(minor, 10) >= 29, detail: `1.${minor}` };
    }),
    attempt('a StorageClass is the default', async () => {
      const { items } = await client.list(storageClasses, { signal });
      const found = items.find(
        ({ metadata }) => metadata.annotations?.['storageclass.kubernetes.io/is-default-class'] === 'true',
      );
      return {
        good: found !== undefined,
        detail: found?.metadata.name ?? 'name one in persistence.storageClassName of the Controller',
      };
    }),
    attempt('the CRDs are installed, or will be', async () => {
      const isThere = await client.list(clusters, { signal }).then(
        () => true,
        (error: unknown) => {
          if (error instanceof NotFoundError) return false;
          throw error;
        },
      );
      return { good: true, detail: isThere ? '' : 'not yet: the chart slurm-operator-crds comes first' };
    }),
    may('create', 'customresourcedefinitions', 'apiextensions.k8s.io'),
    may('create', 'clusterroles', 'rbac.authorization.k8s.io'),
    may('create', 'namespaces', ''),
  ]);
}

async function run(session: Session, line: CommandLine): Promise<number> {
  if (line.has('pre')) {
    const checks = await beforeInstallation(session);
    if (!session.printObject('Check', { items: checks }))
      for (const { what, good, detail } of checks)
        session.io.out(
          `${good ? session.paint('good', '✔') : session.paint('bad', '✖')} ${what}${detail === '' ? '' : `: ${detail}`}\n`,
        );
    return checks.every(({ good }) => good) ? exitCode.good : exitCode.findings;
  }
  const evidence = await gatherEvidence(session, { installation: true, logs: false });
  const namespace = await session.namespace();
  const { diagnose } = await import('../gather/diagnosis.ts');
  const diagnosis = diagnose(evidence, {
    now: session.io.now(),
    namespace,
    cluster: '',
    timeZone: session.io.timeZone,
  });
  const isMine = (rule: string): boolean => rule.startsWith('A');
  const findings = diagnosis.findings.filter(({ rule }) => isMine(rule));
  const unchecked = diagnosis.unchecked.filter(({ rules }) => rules.some(isMine));
  const isUnknown = unchecked.some(({ evidence: name }) => evidence[name]?.kind === 'unknown');
  if (!session.printObject('Check', { findings, unchecked })) {
    const { io, paint } = session;
    if (findings.length > 0)
      io.out(findingsText(findings, paint, io.columns, session.line.text('namespace')));
    else if (unchecked.length === 0)
      io.out(`${paint('good', '✔')} CRDs, operator and webhook are in order.\n`);
    else if (isUnknown)
      io.out(`${paint('warning', '?')} Nothing was found, but part of it could not be checked.\n`);
    else io.out(`${paint('good', '✔')} What you may look at is in order.\n`);
    io.out(uncheckedText({ ...diagnosis, unchecked, failed: [] }, paint, io.columns));
  }
  if (findings.some(({ severity }) => severity !== 'info')) return exitCode.findings;
  return isUnknown ? exitCode.failed : exitCode.good;
}

export const check: Command = {
  name: 'check',
  group: 'look',
  summary: 'Check the installation: CRDs, operator, webhook; --pre before you install',
  usage: '',
  flags: [{ name: 'pre', description: 'Before an installation: version, storage, your permissions.' }],
  examples: ['check', 'check --pre'],
  role: 'viewer',
  needs: readEvidence,
  formats: ['table', 'wide', 'json', 'yaml'],
  run,
};

/** C: accounting, login nodes, tokens and keys. */
import { family, rule } from '../finding.ts';
import { count, hosts, lastError, listed, moment, quote, shellWord, span } from '../text/text.ts';
import { component, containerStates, isReady, logOf, time, withReason } from './read.ts';

const authenticationLog =
  /failed to connect to any sack sockets|Protocol authentication error|auth_g_verify|cred.*(signature|unauthorized)|Unauthorized credential/i;

export const accountingRules = family('accounting', [
  rule({
    id: 'C1',
    title: 'The database refuses the user of slurmdbd',
    needs: ['accountings'],
    *find({ accountings }) {
      for (const object of accountings) {
        const found = withReason(object, ['DatabaseRefused']);
        if (found !== undefined)
          yield {
            subject: { kind: 'Accounting', name: object.metadata.name },
            says: `The database refuses slurmdbd: ${quote(found.message)}`,
            because: ['A database volume that is older than the Secret keeps its old password.'],
            fix: ['Set the password of the Secret in the database, or correct the Secret.'],
            doc: 'accounting.md',
          };
      }
    },
  }),
  rule({
    id: 'C2',
    title: 'slurmdbd does not reach its database',
    needs: ['accountings', 'clusters'],
    *find({ accountings, clusters }) {
      for (const object of [...accountings, ...clusters]) {
        const found = withReason(object, ['DatabaseUnreachable']);
        if (found !== undefined)
          yield {
            subject: { kind: object.kind, name: object.metadata.name },
            says: `slurmdbd cannot use its database: ${quote(found.message)}`,
            fix: ['kubectl slurm logs slurmdbd'],
            after: [{ rule: 'C1' }],
          };
      }
    },
  }),
  rule({
    id: 'C3',
    title: 'A user with pending jobs belongs to no account',
    needs: ['jobs', 'associations'],
    *find({ jobs, associations }) {
      const users = new Set(associations.map(({ user }) => user));
      const refused = jobs.filter(
        ({ state, stateReason, user }) =>
          state.includes('PENDING') && /InvalidAccount|AssocNotFound/i.test(stateReason) && !users.has(user),
      );
      for (const [user, mine] of Map.groupBy(refused, (job) => job.user))
        yield {
          subject: { kind: 'User', name: user },
          says: `${user} belongs to no account, so Slurm holds ${count(mine.length, 'job')} (${listed(mine.map(({ id }) => String(id)))}).`,
          fix: [`kubectl slurm exec slurmctld -- sacctmgr -i add user ${shellWord(user)} account=ACCOUNT`],
        };
    },
  }),
  rule({
    id: 'C4',
    title: 'A Token has expired',
    needs: ['tokens'],
    *find({ tokens }, { now }) {
      for (const token of tokens) {
        const expired = time(token.status?.expiresAt);
        if (expired === undefined || expired > now) continue;
        yield {
          subject: { kind: 'Token', name: token.metadata.name },
          says: `The token ${token.metadata.name} of ${token.spec.username} expired ${span(now - expired)} ago${!token.spec.refresh ? ': refresh is false' : ' and was not renewed'}.`,
          fix: !token.spec.refresh
            ? ['Delete its Secret, or set refresh: true.']
            : ['kubectl slurm logs operator'],
          after: [{ rule: 'A2' }, { rule: 'A3' }],
        };
      }
    },
  }),
  rule({
    id: 'C5',
    title: 'A Token is refused',
    needs: ['tokens'],
    *find({ tokens }) {
      for (const token of tokens) {
        const found = withReason(token, ['UserNotAllowed', 'InvalidKey', 'SecretNotFound', 'InvalidSpec']);
        if (found !== undefined)
          yield {
            subject: { kind: 'Token', name: token.metadata.name },
            says: `Token ${token.metadata.name} is not issued: ${quote(found.message)}`,
            fix: ['Choose another user, or let an administrator allow it.'],
            doc: 'how-to/tokens.md',
          };
      }
    },
  }),
  rule({
    id: 'C6',
    title: 'A login pod is not ready',
    needs: ['pods', 'logs'],
    *find({ pods, logs }, { now }) {
      for (const pod of pods) {
        if (component(pod) !== 'login' || isReady(pod)) continue;
        const since = time(pod.status?.conditions?.find(({ type }) => type === 'Ready')?.lastTransitionTime);
        if (since === undefined || now - since < 60_000) continue;
        const said = lastError(logOf(logs, pod));
        yield {
          subject: { kind: 'Pod', name: pod.metadata.name },
          says: `The login pod ${pod.metadata.name} has not been ready for ${span(now - since)}${said === '' ? '.' : `: "${said}"`}`,
          fix: ['kubectl slurm logs login'],
          after: [
            { rule: 'D4', subject: pod.metadata.name },
            { rule: 'C7', subject: pod.metadata.name },
            { rule: 'C8', subject: pod.metadata.name },
            { rule: 'B1' },
          ],
        };
      }
    },
  }),
  rule({
    id: 'C7',
    title: 'A pod has another slurm.key than slurmctld',
    needs: ['pods', 'logs'],
    *find({ pods, logs }, { namespace }) {
      for (const pod of pods) {
        const line = logOf(logs, pod)
          .split('\n')
          .findLast((each) => authenticationLog.test(each));
        if (line === undefined) continue;
        yield {
          subject: { kind: 'Pod', name: pod.metadata.name },
          says: `Slurm refuses the messages of pod ${pod.metadata.name}: its slurm.key is most likely not the one of slurmctld.`,
          because: [quote(line)],
          fix: [`kubectl -n ${namespace} get secrets`, 'See which keys are in use: docs/key-rotation.md'],
          doc: 'key-rotation.md',
        };
      }
    },
  }),
  rule({
    id: 'C8',
    title: 'Login nodes do not know the users: sssd is offline',
    needs: ['pods', 'logs'],
    *find({ pods, logs }) {
      for (const pod of pods) {
        if (component(pod) !== 'login') continue;
        const line = logOf(logs, pod)
          .split('\n')
          .findLast((each) =>
            /sssd.*(offline|no servers|cannot contact|not running|exited|failed)/i.test(each),
          );
        if (line !== undefined)
          yield {
            subject: { kind: 'Pod', name: pod.metadata.name },
            says: `Users are unknown on ${pod.metadata.name}: sssd does not reach its directory.`,
            because: [quote(line)],
            fix: ['Check sssd.conf in the Secret of the LoginSet, and NetworkPolicies to the directory.'],
            doc: 'how-to/login.md',
          };
      }
    },
  }),
  rule({
    id: 'C9',
    title: 'The clock of a worker is wrong',
    needs: ['slurmNodes', 'diag'],
    *find({ slurmNodes, diag }, { now }) {
      const reference = diag.time ?? now;
      const ahead = slurmNodes.filter(({ bootedAt, slurmdStartedAt }) =>
        [bootedAt, slurmdStartedAt].some((at) => at !== undefined && at - reference > 300_000),
      );
      if (ahead.length === 0) return;
      const most = Math.max(
        ...ahead.map(
          ({ bootedAt = 0, slurmdStartedAt = 0 }) => Math.max(bootedAt, slurmdStartedAt) - reference,
        ),
      );
      yield {
        subject: { kind: 'SlurmNode', name: hosts(ahead.map(({ name }) => name)) },
        says: `The clock of ${hosts(ahead.map(({ name }) => name))} is at least ${span(most)} ahead of slurmctld: Slurm refuses messages that are more than 5 min apart.`,
        fix: ['Synchronize the clock of its Kubernetes node (NTP).'],
      };
    },
  }),
  rule({
    id: 'C10',
    title: 'Some daemons still use an old key',
    severity: 'info',
    needs: ['controllers', 'nodeSets', 'loginSets', 'accountings'],
    *find(values) {
      for (const object of Object.values(values).flat()) {
        const found = withReason(object, ['KeyRotation']);
        if (found !== undefined)
          yield {
            subject: { kind: object.kind, name: object.metadata.name },
            says: `A key is being rotated: ${quote(found.message)}`,
            fix: ['Wait: no daemon has to be restarted.'],
            doc: 'key-rotation.md',
          };
      }
    },
  }),
  rule({
    id: 'C11',
    title: 'slurmctld waits for a newer slurmdbd',
    severity: 'warning',
    needs: ['controllers'],
    *find({ controllers }) {
      for (const object of controllers) {
        const found = withReason(object, ['AccountingOlder', 'AccountingStarting']);
        if (found !== undefined)
          yield {
            subject: { kind: 'Controller', name: object.metadata.name },
            says: quote(found.message, 400),
            fix: ['kubectl slurm logs slurmdbd'],
          };
      }
    },
  }),
  rule({
    id: 'C12',
    title: 'slurmdbd exits again and again',
    needs: ['pods', 'logs'],
    *find({ pods, logs }) {
      for (const pod of pods) {
        if (component(pod) !== 'accounting') continue;
        const looping = containerStates(pod).find(({ waiting }) => waiting === 'CrashLoopBackOff');
        if (looping !== undefined)
          yield {
            subject: { kind: 'Pod', name: pod.metadata.name },
            says: `${looping.name} in pod ${pod.metadata.name} is crash looping: "${lastError(logOf(logs, pod))}"`,
            fix: ['kubectl slurm logs slurmdbd --previous'],
            after: [{ rule: 'C1' }, { rule: 'C2' }],
          };
      }
    },
  }),
  rule({
    id: 'C13',
    title: 'A Token expires soon and is not renewed',
    severity: 'warning',
    needs: ['tokens'],
    *find({ tokens }, context) {
      for (const token of tokens) {
        const expires = time(token.status?.expiresAt);
        if (expires === undefined || token.spec.refresh) continue;
        if (expires < context.now || expires - context.now > 24 * 3_600_000) continue;
        yield {
          subject: { kind: 'Token', name: token.metadata.name },
          says: `The token ${token.metadata.name} expires at ${moment(expires, context)} and is not renewed (refresh is false).`,
          fix: ['Set refresh: true, or create a new Token.'],
        };
      }
    },
  }),
]);

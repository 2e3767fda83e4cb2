/** Who a container runs as: the security context first, then the image's USER, looked up in the image's own files. */
import type { Container, Pod } from '../../objects/objects.ts';
import { AgentError } from '../errors.ts';

export interface Accounts {
  /** Content of the image's /etc/passwd and /etc/group, empty if it has none. */
  readonly passwd: string;
  readonly group: string;
}

export interface ContainerUser {
  readonly uid: number;
  readonly gid: number;
  readonly additionalGids: readonly number[];
  readonly home: string;
}

export function resolveUser(
  pod: Pod,
  container: Container,
  imageUser: string,
  accounts: Accounts,
): ContainerUser {
  const context = { ...pod.spec.securityContext, ...container.securityContext };
  const [userPart = '', groupPart] =
    context.runAsUser === undefined ? imageUser.split(':') : [String(context.runAsUser)];
  const entry = findUser(accounts.passwd, userPart === '' ? '0' : userPart);
  if (entry === undefined && !/^\d*$/.test(userPart))
    throw new AgentError(
      'CreateContainerError',
      `unable to find user ${userPart}: no matching entries in passwd file`,
    );
  const uid = entry?.uid ?? Number(userPart || '0');
  const gid =
    context.runAsGroup ??
    (groupPart === undefined ? undefined : findGroup(accounts.group, groupPart)) ??
    entry?.gid ??
    0;
  const refusal = context.runAsNonRoot === true ? rootRefusal(context.runAsUser, userPart, uid) : undefined;
  if (refusal !== undefined)
    throw new AgentError(
      'CreateContainerConfigError',
      `${refusal} (pod: "${pod.metadata.name}", container: ${container.name})`,
    );
  const extra = new Set<number>(pod.spec.securityContext?.supplementalGroups ?? []);
  if (pod.spec.securityContext?.fsGroup !== undefined) extra.add(pod.spec.securityContext.fsGroup);
  if (entry !== undefined && pod.spec.securityContext?.supplementalGroupsPolicy !== 'Strict')
    for (const group of groupsOf(accounts.group, entry.name)) extra.add(group);
  extra.delete(gid);
  return { uid, gid, additionalGids: [...extra].toSorted((a, b) => a - b), home: entry?.home ?? '/' };
}

/** A kubelet does not read the files of an image: the name of an account is refused, whatever its number is. */
function rootRefusal(runAsUser: number | undefined, imageUser: string, uid: number): string | undefined {
  if (runAsUser !== undefined) return uid === 0 ? "container's runAsUser breaks non-root policy" : undefined;
  if (uid === 0 && /^\d*$/.test(imageUser)) return 'container has runAsNonRoot and image will run as root';
  if (/^\d+$/.test(imageUser)) return undefined;
  return `container has runAsNonRoot and image has non-numeric user (${imageUser}), cannot verify user is non-root`;
}

function findUser(passwd: string, wanted: string) {
  for (const line of passwd.split('\n')) {
    const [name = '', , uid = '', gid = '', , home = '/'] = line.split(':');
    if (name !== '' && (name === wanted || uid === wanted))
      return { name, uid: Number(uid), gid: Number(gid), home };
  }
  return undefined;
}

function findGroup(group: string, wanted: string): number | undefined {
  if (/^\d+$/.test(wanted)) return Number(wanted);
  const line = group.split('\n').find((entry) => entry.split(':')[0] === wanted);
  return line === undefined ? undefined : Number(line.split(':')[2]);
}

function groupsOf(group: string, user: string): number[] {
  return group
    .split('\n')
    .filter((line) => (line.split(':')[3] ?? '').split(',').includes(user))
    .map((line) => Number(line.split(':')[2]));
}

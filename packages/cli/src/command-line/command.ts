/** A command as data: help, completion, the reference page and the ClusterRoles come from it. */
import type { CommandLine } from '../line.ts';
import type { Session } from '../session/session.ts';

export const outputFormats = ['table', 'wide', 'json', 'yaml', 'name'] as const;
export type OutputFormat = (typeof outputFormats)[number];

export interface Flag {
  readonly name: string;
  readonly short?: string;
  /** Placeholder of its value; none for a switch. */
  readonly value?: string;
  readonly description: string;
  readonly choices?: readonly string[];
  readonly repeatable?: boolean;
}

/** A permission in Kubernetes. */
export interface Need {
  readonly group: string;
  readonly resource: string;
  readonly verbs: readonly string[];
  /** The resource has no namespace. */
  readonly clusterWide?: boolean;
}

export type Role = 'viewer' | 'user' | 'admin';

export interface Command {
  /** `rollout status`. */
  readonly name: string;
  readonly group: 'look' | 'jobs' | 'nodes' | 'change' | 'reach' | 'other';
  readonly summary: string;
  /** Arguments as the usage line shows them. */
  readonly usage: string;
  readonly flags: readonly Flag[];
  readonly examples: readonly string[];
  /** Beside Kubernetes it asks Slurm: a token is needed. */
  readonly slurm?: 'required' | 'optional';
  /** What `--output` may be. None: the command passes text on. @default all */
  readonly formats?: readonly OutputFormat[];
  /** Words after its name are passed on as they are. */
  readonly passesOn?: boolean;
  readonly role: Role;
  readonly needs: readonly Need[];
  /** What the first argument may be, for completion. */
  readonly completes?: 'clusters' | 'nodes' | 'nodesets' | 'jobs' | 'daemons' | 'shells';
  readonly run: (session: Session, line: CommandLine) => Promise<number>;
}

export const globalFlags: readonly Flag[] = [
  { name: 'namespace', short: 'n', value: 'NAME', description: 'Namespace. Default: that of the context.' },
  { name: 'cluster', value: 'NAME', description: 'Cluster object, where the namespace has several.' },
  { name: 'context', value: 'NAME', description: 'Context of the kubeconfig.' },
  { name: 'kubeconfig', value: 'FILE', description: 'Kubeconfig file.' },
  { name: 'server', short: 's', value: 'URL', description: 'Address of the Kubernetes API.' },
  { name: 'token', value: 'TOKEN', description: 'Bearer token for Kubernetes.' },
  { name: 'certificate-authority', value: 'FILE', description: 'Authority of the API server.' },
  { name: 'client-certificate', value: 'FILE', description: 'Client certificate for Kubernetes.' },
  { name: 'client-key', value: 'FILE', description: 'Its key.' },
  { name: 'tls-server-name', value: 'NAME', description: "Name in the API server's certificate." },
  {
    name: 'insecure-skip-tls-verify',
    description: "Do not check the API server's certificate: others can read and change everything.",
  },
  { name: 'as', value: 'USER', description: 'User to impersonate in Kubernetes.' },
  {
    name: 'as-group',
    value: 'GROUP',
    description: 'Group to impersonate; may be repeated.',
    repeatable: true,
  },
  { name: 'as-uid', value: 'UID', description: 'UID to impersonate.' },
  {
    name: 'request-timeout',
    value: 'TIME',
    description: 'Deadline of each request, such as 5s or 1m. Default: 20s.',
  },
  {
    name: 'operator-namespace',
    value: 'NAME',
    description: 'Namespace of the operator, for its token exchange. Default: slinky.',
  },
  {
    name: 'slurm-user',
    value: 'USER',
    description: 'Slurm user to sign a token for, if you may read the JWT key. Default: slurm, to read.',
  },
  {
    name: 'output',
    short: 'o',
    value: 'FORMAT',
    description: 'table, wide, json, yaml or name.',
    choices: outputFormats,
  },
  { name: 'no-headers', description: 'Leave out the header of tables.' },
  { name: 'no-color', description: 'No colours; NO_COLOR does the same.' },
  { name: 'yes', short: 'y', description: 'Do not ask before a change.' },
  { name: 'help', short: 'h', description: 'Show help.' },
];

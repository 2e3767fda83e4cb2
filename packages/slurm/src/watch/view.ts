/**
 * What is known about Slurm, and when; or that nothing is known, and why. Consumers cannot access the
 * content without checking `kind` first: unknown is never treated as idle.
 */
import type { SlurmErrorCode } from '../errors.ts';

export type Known<Content> = Content & {
  readonly kind: 'known';
  /** When the list was requested: the content reflects this moment or a later one. */
  readonly at: number;
  /** When its response was complete: the content reflects this moment or an earlier one. */
  readonly answeredAt: number;
};

export interface Unknown<Content> {
  readonly kind: 'unknown';
  /** When the outage began. */
  readonly since: number;
  readonly why: { readonly code: SlurmErrorCode | 'NotYetListed'; readonly message: string };
  /** The last known content, for display only. Never base a decision on it. */
  readonly last: Known<Content> | undefined;
}

export type View<Content> = Known<Content> | Unknown<Content>;

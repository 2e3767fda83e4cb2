/**
 * What is known of Slurm, with the moment it was true; or that nothing is known, and why. Consumers cannot reach the
 * content without looking at `kind` first: unknown is never read as idle.
 */
import type { SlurmErrorCode } from '../errors.ts';

export type Known<Content> = Content & {
  readonly kind: 'known';
  /** When the list that shows this was asked for: the content is true of this moment or a later one. */
  readonly at: number;
  /** When its answer was there: the content is true of this moment or an earlier one. */
  readonly answeredAt: number;
};

export interface Unknown<Content> {
  readonly kind: 'unknown';
  /** The first moment of which nothing is known. */
  readonly since: number;
  readonly why: { readonly code: SlurmErrorCode | 'NotYetListed'; readonly message: string };
  /** What was known before, for people to look at. Never decide by it. */
  readonly last: Known<Content> | undefined;
}

export type View<Content> = Known<Content> | Unknown<Content>;

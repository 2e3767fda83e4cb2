/** How old a part of the page is. */
export type Freshness =
  | { readonly kind: 'known'; readonly at: number }
  | {
      readonly kind: 'unknown';
      readonly since: number;
      /** Slurm's own words, without secrets: errors of the client never contain a token. */
      readonly why: string;
      /** When the rows that are still shown were read; `undefined` if there are none. */
      readonly lastAt: number | undefined;
    };

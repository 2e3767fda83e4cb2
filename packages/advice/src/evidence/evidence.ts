/** The evidence. Each piece is known, unknown or forbidden: a rule never takes the last two for "nothing is wrong". */

export type Evidence<T> =
  | { readonly kind: 'known'; readonly value: T; readonly at: number }
  | { readonly kind: 'unknown'; readonly why: string }
  | { readonly kind: 'forbidden'; readonly verb: string; readonly resource: string; readonly why?: string };

export const known = <T>(value: T, at: number): Evidence<T> => ({ kind: 'known', value, at });
export const unknown = <T>(why: string): Evidence<T> => ({ kind: 'unknown', why });
/** `why`: where more is to be said than "you may not VERB RESOURCE". */
export const forbidden = <T>(verb: string, resource: string, why?: string): Evidence<T> => ({
  kind: 'forbidden',
  verb,
  resource,
  ...(why === undefined ? {} : { why }),
});

/** Why a piece of evidence is missing, as the end of "not checked: …". */
export function missing(evidence: Evidence<unknown>): string {
  if (evidence.kind === 'forbidden')
    return evidence.why ?? `you may not ${evidence.verb} ${evidence.resource}`;
  return evidence.kind === 'unknown' ? evidence.why : '';
}

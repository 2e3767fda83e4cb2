/**
 * What tests start from and what takes minutes at the first time on a machine: downloads, images, helm. Made beside the tests
 * that need none of it, each in a process of its own (`prepare.ts`). A file that needs something that is not named here waits
 * for it itself; so this list decides about time only, never about results.
 */
export const preparations = {
  tools: { about: 'programs from Debian packages', seconds: 30 },
  'images-26.05': { about: 'images of Slurm 26.05, its services and the operator', seconds: 120 },
  'images-24.11': { about: 'images of Slurm 24.11', seconds: 90 },
  'mini-slurm': { about: 'root file systems with all of Slurm 26.05 and 24.11', seconds: 90 },
  helm: { about: 'helm, built with Go', seconds: 150 },
} as const;

export type Preparation = keyof typeof preparations;

/** One after the other where they would only wait for each other's downloads. */
export const preparedAfter: Readonly<Record<Preparation, readonly Preparation[]>> = {
  tools: [],
  'images-26.05': ['tools'],
  'images-24.11': ['images-26.05'],
  'mini-slurm': ['images-24.11'],
  helm: [],
};

const needs: readonly (readonly [RegExp, readonly Preparation[]])[] = [
  [/^charts\/.*\.integration\./, ['helm']],
  [/^tools\/release\/.*\.(sandbox|cluster)\./, ['helm', 'tools']],
  [/^e2e\/.*\.sandbox\./, ['helm', 'tools']],
  [/^e2e\/helm-example\./, ['helm', 'images-26.05', 'images-24.11']],
  [/^e2e\/(helm|demo)/, ['helm', 'images-26.05']],
  [/^e2e\/.*\.cluster\.|^localcluster\/src\/slurm-pods\./, ['images-26.05']],
  [/^localcluster\/.*\.cluster\./, ['tools']],
  [/^e2e\/.*\.vm\./, ['images-26.05']],
  [/^images\/src\/operator\//, ['images-26.05']],
  [/^images\/.*\.sandbox\./, ['images-26.05', 'images-24.11']],
  [/^packages\/operator\/.*\.sandbox\./, ['images-26.05', 'images-24.11']],
  [/^packages\/slurm\/.*\.sandbox\./, ['mini-slurm']],
  [/\.sandbox\./, ['tools']],
];

/** What a test file starts from. The first line that fits counts. */
export function preparationsOf(file: string): readonly Preparation[] {
  return needs.find(([pattern]) => pattern.test(file))?.[1] ?? [];
}

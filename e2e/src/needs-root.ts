/** Set where the tests run on a given cluster; `given/given-cluster.ts` has the options of tests that can. */
const isGiven = (process.env['GIVEN_KUBECONFIG'] ?? '') !== '';
const isRoot = process.getuid?.() === 0;

/** Options of a test that runs containers on this machine: elsewhere it is skipped, and says so. */
export const needsRoot = {
  skip: isGiven
    ? 'not run here: it needs the machine itself'
    : isRoot
      ? false
      : 'needs root: it runs containers',
} as const;

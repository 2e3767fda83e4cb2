/** Options of a test that runs containers: it is skipped without root, and says so. */
export const needsRoot = {
  skip: process.getuid?.() === 0 ? false : 'needs root: it runs containers',
} as const;

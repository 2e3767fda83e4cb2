/** Recorded cases that the embedded server does not pass yet, each with its reason. The goal is an empty list. */
export const knownDifferences: Readonly<Record<string, string>> = {};

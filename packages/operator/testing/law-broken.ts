/** What the plan must never do; a test of the laws fails on the first. */
export class LawBroken extends Error {}

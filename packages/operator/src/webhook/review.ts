/** What one rule finds: refusals and warnings, each a sentence that names the field and what to do. */
export interface Findings {
  readonly errors: readonly string[];
  readonly warnings: readonly string[];
}

/** What a rule may look at besides the object: read from the API server when it is needed, never cached. */
export interface Surroundings {
  /** The keys of a ConfigMap; undefined when there is none of that name. */
  configMapKeys(name: string): Promise<readonly string[] | undefined>;
  /** The access modes of a claim; undefined when there is none of that name. */
  claimModes(name: string): Promise<readonly string[] | undefined>;
  hasController(name: string): Promise<boolean>;
  /** The other NodeSets of the namespace. */
  nodeSets(): Promise<readonly Worker[]>;
}

/** What of a NodeSet decides how its Slurm nodes are called. */
export interface Worker {
  readonly name: string;
  readonly controller: string;
  readonly prefix: string;
}

export const nothing: Findings = { errors: [], warnings: [] };

export function together(findings: readonly Findings[]): Findings {
  return {
    errors: findings.flatMap(({ errors }) => errors),
    warnings: findings.flatMap(({ warnings }) => warnings),
  };
}

export const error = (message: string): Findings => ({ errors: [message], warnings: [] });
export const warning = (message: string): Findings => ({ errors: [], warnings: [message] });

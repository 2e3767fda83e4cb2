/** What of a slurm.conf the model of slurmctld obeys. Read apart from the product's own parser, so that a fault in one is seen by the other. */

export interface ModelPartition {
  /** Names of sets or nodes, or ALL. */
  readonly nodes: readonly string[];
  readonly state: string;
}

export interface ModelConf {
  readonly text: string;
  readonly maxNodeCount: number;
  /** Set → the feature that its nodes have. */
  readonly nodeSets: ReadonlyMap<string, string>;
  readonly partitions: ReadonlyMap<string, ModelPartition>;
  /** Nodes that have a line of their own; those with State=FUTURE count for MaxNodeCount and are not listed. */
  readonly nodes: ReadonlyMap<string, { readonly future: boolean }>;
  /** A script runs on the host of slurmctld before each job. */
  readonly hasProlog: boolean;
}

export function parseModelConf(text: string): ModelConf {
  const lines = text.split('\n').map((line) => line.replace(/#.*/, '').trim());
  const records = lines.map(
    (line) =>
      new Map(
        line.split(/\s+/).map((pair) => {
          const at = pair.indexOf('=');
          return [pair.slice(0, Math.max(0, at)).toLowerCase(), pair.slice(at + 1)] as const;
        }),
      ),
  );
  const last = (key: string) => records.findLast((record) => record.has(key))?.get(key);
  return {
    text,
    maxNodeCount: Number(last('maxnodecount') ?? 65_533),
    nodeSets: new Map(
      records.flatMap((record) => {
        const name = record.get('nodeset');
        return name === undefined ? [] : [[name, record.get('feature') ?? '']];
      }),
    ),
    partitions: new Map(
      records.flatMap((record) => {
        const name = record.get('partitionname');
        if (name === undefined) return [];
        const nodes = (record.get('nodes') ?? '').split(',').filter((one) => one !== '');
        return [[name, { nodes, state: (record.get('state') ?? 'UP').toUpperCase() }]];
      }),
    ),
    nodes: new Map(
      records.flatMap((record) => {
        const future = record.get('state')?.toUpperCase() === 'FUTURE';
        const names = (record.get('nodename') ?? '').split(',').filter((one) => one !== '');
        return names.map((name) => [name, { future }] as const);
      }),
    ),
    hasProlog: (last('prologslurmctld') ?? '') !== '',
  };
}

/** Finds a /16 of 10.0.0.0/8 that nothing on this machine uses. */
import { LocalClusterError } from '../errors.ts';
import { run } from '../machine/run.ts';
import type { Toolbox } from '../machine/toolbox.ts';

const first = 130;
const last = 200;

/** `taken` are blocks that another cluster, which starts at this moment, was quicker to get. */
export async function freeBlock(tools: Toolbox, taken: ReadonlySet<number> = new Set()): Promise<number> {
  const { stdout } = await run(['ip', '-4', 'route', 'show', 'table', 'all'], { env: tools.env });
  const block = chooseBlock(stdout, taken);
  if (block === undefined)
    throw new LocalClusterError(
      'StartFailed',
      `no network between 10.${first}.0.0/16 and 10.${last}.0.0/16 is free: stop another cluster first (\`localcluster status\` lists them).`,
    );
  return block;
}

/** The first block that no route mentions. */
export function chooseBlock(routes: string, taken: ReadonlySet<number>): number | undefined {
  for (let block = first; block <= last; block++)
    if (!taken.has(block) && !new RegExp(String.raw`(^|\s)10\.${block}\.`, 'm').test(routes)) return block;
  return undefined;
}

/** kubectl of Debian, fetched at the first use only. The machine's own, if it has one, is not asked. */
import { unpackTools } from '@slurm-operator/sandbox';

export async function findKubectl(): Promise<string> {
  const tools = await unpackTools({ suite: 'trixie', packages: ['kubectl'] });
  return tools.path('kubectl');
}

import { bundleCli } from '@slurm-operator/cli/bundle';
import type { RootFile, UnpackedPackages } from '@slurm-operator/sandbox';
import { bundlePrograms } from './bundle-programs.ts';
import { librarySuite, plainFiles, pluginPath, sbomPath } from './operator-files.ts';
import { softwareBill } from './sbom.ts';

/** What of the image is ours: bundles, the small files around them, and the list of all that is in it. */
export async function operatorFiles(
  debian: UnpackedPackages['packages'],
  version: string,
): Promise<readonly RootFile[]> {
  const bundles = await bundlePrograms();
  const plugin = await bundleCli(version);
  const inputs = [...new Set([...bundles.flatMap((bundle) => bundle.inputs), ...plugin.inputs])];
  return [
    ...plainFiles,
    ...bundles.map(({ path, content }) => ({ path, content, mode: 0o755 })),
    // For people to copy: the plugin of kubectl that belongs to this operator.
    { path: pluginPath, content: plugin.content },
    { path: sbomPath, content: softwareBill(inputs, debian, librarySuite, version) },
  ];
}

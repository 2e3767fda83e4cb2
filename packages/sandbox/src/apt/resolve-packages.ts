import type { DebPackage } from './print-uris.ts';
import { type AptOptions, PrivateApt } from './private-apt.ts';

/** What installing these packages on an empty system of that release and machine would mean; nothing is fetched but the lists. */
export async function resolvePackages(
  options: AptOptions & { readonly packages: readonly string[] },
): Promise<readonly DebPackage[]> {
  return (await PrivateApt.open(options)).resolve(options.packages);
}

/** /version: the release whose behaviour this server stands in for. */
import type { JsonObject } from '../api/types.ts';

export const release = { major: '1', minor: '36', gitVersion: 'v1.36.4' } as const;

export function versionDocument(): JsonObject {
  const { major, minor, gitVersion } = release;
  return {
    major,
    minor,
    emulationMajor: major,
    emulationMinor: minor,
    minCompatibilityMajor: major,
    minCompatibilityMinor: String(Number(minor) - 1),
    gitVersion: `${gitVersion}+embedded`,
    gitCommit: 'embedded',
    gitTreeState: 'clean',
    buildDate: '1970-01-01T00:00:00Z',
    goVersion: 'none',
    compiler: `node ${process.version}`,
    platform: `${process.platform}/${process.arch === 'x64' ? 'amd64' : process.arch}`,
  };
}

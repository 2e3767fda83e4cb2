/** completion, options and version. */
import manifest from '../../package.json' with { type: 'json' };
import type { Command } from '../command-line/command.ts';
import { completionScript } from '../command-line/completion.ts';
import { optionsHelp } from '../command-line/help.ts';
import { CliError, exitCode } from '../errors.ts';
import { deploymentsOf } from '../session/installation.ts';
import { readClusters } from './needs.ts';

declare const PLUGIN_VERSION: string | undefined;

/** Written into the file when it is bundled for a release. */
export const pluginVersion = typeof PLUGIN_VERSION === 'string' ? PLUGIN_VERSION : manifest.version;

const nothing = { flags: [], needs: [], role: 'viewer', group: 'other' } as const;

export const aboutCommands: readonly Command[] = [
  {
    ...nothing,
    name: 'completion',
    summary: 'Print the file that makes kubectl complete this plugin, or a script for bash, zsh or fish',
    usage: '[kubectl|bash|zsh|fish]',
    examples: [
      'completion kubectl > ~/.local/bin/kubectl_complete-slurm && chmod +x ~/.local/bin/kubectl_complete-slurm',
      'completion bash',
    ],
    completes: 'shells',
    formats: [],
    run(session, line) {
      const script = completionScript(line.args[0] ?? 'kubectl');
      if (script === undefined)
        throw new CliError(`completion knows kubectl, bash, zsh and fish, not "${line.args[0]}".`);
      session.io.out(script);
      return Promise.resolve(exitCode.good);
    },
  },
  {
    ...nothing,
    name: 'options',
    summary: 'List the flags of all commands',
    usage: '',
    examples: ['options'],
    formats: [],
    run(session) {
      session.io.out(optionsHelp());
      return Promise.resolve(exitCode.good);
    },
  },
  {
    ...nothing,
    name: 'version',
    summary: 'Print the version of this plugin, of the operator and of Slurm',
    usage: '',
    flags: [{ name: 'client', description: 'Only that of the plugin.' }],
    formats: ['table', 'wide', 'json', 'yaml'],
    examples: ['version', 'version --client'],
    needs: [...readClusters, { group: 'apps', resource: 'deployments', verbs: ['list'], clusterWide: true }],
    async run(session, line) {
      const found: Record<string, string> = { plugin: pluginVersion };
      if (!line.has('client')) {
        const client = await session.client();
        const [operator] = await deploymentsOf(client, 'operator', session.signal).catch(() => []);
        const image = operator?.spec?.template.spec?.containers[0]?.image;
        if (image !== undefined) found['operator'] = image.split(':').at(-1) ?? image;
        const cluster = await session.cluster().catch(() => undefined);
        if (cluster?.status?.slurmVersion !== undefined) found['slurm'] = cluster.status.slurmVersion;
        if (cluster?.status?.apiVersion !== undefined) found['rest'] = cluster.status.apiVersion;
      }
      if (!session.printObject('Version', found))
        session.io.out(
          Object.entries(found)
            .map(([name, value]) => `${name.padEnd(9)}${value}\n`)
            .join(''),
        );
      return exitCode.good;
    },
  },
];

/** `localcluster <command>`: reads the words, does the thing, says one sentence when it cannot. */
import { parseArgs } from 'node:util';
import { explain, LocalClusterError } from '../errors.ts';
import { commands } from './commands.ts';
import type { Flags } from './flags.ts';

const help = `localcluster: a Kubernetes-like cluster on this machine

  up            start a cluster                    --nodes N (3)  --hollow-nodes N (0)  --port P  --cpu C --memory M (per node)
                                                   --image FILE.tar (repeatable)  --node-grace-seconds S (50)
  down          stop it and remove every trace
  status        clusters, nodes, pods, images
  env           print the line that points kubectl here: eval "$(localcluster env)"
  kubectl ...   Debian's kubectl on it
  load-image    load image tars: localcluster load-image FILE.tar ...
  logs          the cluster's own log              --follow
  node stop|start|cut NODE                         power off, power on (or plug in), pull the network cable

  Every command takes --name NAME (local): several clusters may run at once.
`;

/** Answers the exit code. */
export async function runCli(words: readonly string[], print: (line: string) => void): Promise<number> {
  const [command = 'help', ...rest] = words;
  if (command === 'help' || command === '--help' || command === '-h') {
    print(help);
    return 0;
  }
  try {
    const action = commands[command];
    if (action === undefined)
      throw new LocalClusterError(
        'BadArgument',
        `"${command}" is no command; \`localcluster help\` lists them.`,
      );
    return await action(command === 'kubectl' ? kubectlFlags(rest) : readFlags(rest), print);
  } catch (error) {
    console.error(`localcluster: ${explain(error)}`);
    return error instanceof LocalClusterError && error.code === 'BadArgument' ? 2 : 1;
  }
}

function readFlags(words: readonly string[]): Flags {
  try {
    const { values, positionals } = parseArgs({
      args: [...words],
      allowPositionals: true,
      options: {
        name: { type: 'string', default: 'local' },
        nodes: { type: 'string', default: '3' },
        'hollow-nodes': { type: 'string', default: '0' },
        port: { type: 'string' },
        cpu: { type: 'string' },
        memory: { type: 'string' },
        image: { type: 'string', multiple: true, default: [] },
        'node-grace-seconds': { type: 'string' },
        follow: { type: 'boolean', short: 'f', default: false },
      },
    });
    return { ...values, words: positionals };
  } catch (cause) {
    // Node explains at length; its first line says what is wrong.
    const what = (explain(cause).split('\n')[0] ?? '').replace(/\.$/, '');
    throw new LocalClusterError('BadArgument', `${what}; \`localcluster help\` lists the options.`, {
      cause,
    });
  }
}

/** Everything but a leading --name is kubectl's own. */
function kubectlFlags(words: readonly string[]): Flags {
  const named = words[0] === '--name';
  return {
    ...readFlags([]),
    name: named ? (words[1] ?? '') : 'local',
    words: named ? words.slice(2) : words,
  };
}

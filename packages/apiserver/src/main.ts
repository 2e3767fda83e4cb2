/** The server as a program: `node main.ts --port 6443 --data DIR --kubeconfig FILE`; ends on SIGINT or SIGTERM. */
import { writeFile } from 'node:fs/promises';
import { enableCompileCache } from 'node:module';
import { parseArgs } from 'node:util';

const usage = 'usage: main.ts [--port N] [--host ADDRESS] [--data DIRECTORY] [--kubeconfig FILE]';

const values = options();
if (values.help === true) {
  console.log(usage);
  process.exit(0);
}
const port = Number(values.port ?? '0');
if (!Number.isInteger(port) || port < 0 || port > 65_535) {
  console.error(`--port ${values.port} is no port: give a number from 0 (any free one) to 65535\n${usage}`);
  process.exit(2);
}

// Before the rest is loaded: a second start then spends its time on serving, not on compiling.
enableCompileCache();
const { startApiServer } = await import('./server.ts');
const server = await startApiServer({
  port,
  ...(values.host === undefined ? {} : { host: values.host }),
  ...(values.data === undefined ? {} : { data: values.data }),
});
if (values.kubeconfig !== undefined) await writeFile(values.kubeconfig, server.kubeconfig(), { mode: 0o600 });
console.log(`embedded API server ready on ${server.url}`);

const stop = (): void => {
  server.stop().then(
    () => process.exit(0),
    (error: unknown) => {
      console.error(error);
      process.exit(1);
    },
  );
};
process.once('SIGINT', stop);
process.once('SIGTERM', stop);

function options() {
  try {
    return parseArgs({
      options: {
        port: { type: 'string' },
        host: { type: 'string' },
        data: { type: 'string' },
        kubeconfig: { type: 'string' },
        help: { type: 'boolean' },
      },
    }).values;
  } catch (error) {
    console.error(`${(error as Error).message}\n${usage}`);
    return process.exit(2);
  }
}

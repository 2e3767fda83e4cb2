/**
 * The few of curl's options that looking at a program from within its own container takes: GET, to this machine only.
 * So that `kubectl exec deploy/slurm-operator -- curl localhost:8080/debug/vars` works in an image without curl.
 */
import { get as getHttp, type IncomingMessage } from 'node:http';
import { get as getHttps } from 'node:https';
import { parseArgs } from 'node:util';

export interface CurlOutput {
  readonly print: (text: string | Buffer) => void;
  readonly complain: (text: string) => void;
}

const usage = 'usage: curl [-s] [-f] [-i] [-k] [-m SECONDS] [-H "Name: value"] http://localhost:PORT/PATH';
const longest = 64 << 20;
const local = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/;

/** Answers curl's own exit codes where it has one. */
export async function curl(args: readonly string[], output: CurlOutput): Promise<number> {
  const asked = readArguments(args);
  if (typeof asked === 'string') {
    output.complain(asked);
    return 2;
  }
  const { url, fail, include, seconds, insecure, headers } = asked;
  if (!local.test(url.hostname)) {
    output.complain(
      `(6) ${url.hostname} is not localhost: this curl connects to localhost only; use a debug container for other hosts`,
    );
    return 6;
  }
  try {
    const options = { headers, signal: AbortSignal.timeout(seconds * 1000), rejectUnauthorized: !insecure };
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      const get = url.protocol === 'https:' ? getHttps : getHttp;
      get(url, options, resolve).once('error', reject);
    });
    const { statusCode = 0, statusMessage = '' } = response;
    if (fail && statusCode >= 400) {
      response.destroy();
      output.complain(`(22) the answer is ${statusCode} ${statusMessage}`);
      return 22;
    }
    if (include) {
      const lines = Object.entries(response.headers).map(([name, value]) => `${name}: ${String(value)}`);
      output.print(`HTTP/${response.httpVersion} ${statusCode} ${statusMessage}\n${lines.join('\n')}\n\n`);
    }
    let size = 0;
    for await (const chunk of response as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size > longest) {
        output.complain('(63) the answer is too long');
        return 63;
      }
      output.print(chunk);
    }
    return 0;
  } catch (error) {
    const slow = error instanceof Error && error.name === 'TimeoutError';
    const why = error instanceof Error ? error.message : String(error);
    output.complain(slow ? `(28) no answer within ${seconds} s` : `(7) ${url.href}: ${why}`);
    return slow ? 28 : 7;
  }
}

interface Asked {
  readonly url: URL;
  readonly fail: boolean;
  readonly include: boolean;
  readonly insecure: boolean;
  readonly seconds: number;
  readonly headers: Readonly<Record<string, string>>;
}

function readArguments(args: readonly string[]): Asked | string {
  try {
    const { values, positionals } = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        silent: { type: 'boolean', short: 's' },
        'show-error': { type: 'boolean', short: 'S' },
        fail: { type: 'boolean', short: 'f' },
        include: { type: 'boolean', short: 'i' },
        insecure: { type: 'boolean', short: 'k' },
        'max-time': { type: 'string', short: 'm', default: '30' },
        header: { type: 'string', short: 'H', multiple: true, default: [] },
      },
    });
    const [address = '', ...more] = positionals;
    if (address === '' || more.length > 0) return usage;
    const url = URL.parse(/^[a-z]+:\/\//i.test(address) ? address : `http://${address}`);
    if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:'))
      return `(3) "${address}" is not an address; ${usage}`;
    const seconds = Number(values['max-time']);
    if (!(seconds > 0 && seconds <= 600)) return '-m takes a number of seconds up to 600';
    return {
      url,
      seconds,
      fail: values.fail ?? false,
      include: values.include ?? false,
      insecure: values.insecure ?? false,
      headers: Object.fromEntries(
        values.header.map((line) => {
          const colon = line.indexOf(':');
          return [line.slice(0, colon).trim(), line.slice(colon + 1).trim()];
        }),
      ),
    };
  } catch (error) {
    return `${error instanceof Error ? error.message : String(error)}; ${usage}`;
  }
}

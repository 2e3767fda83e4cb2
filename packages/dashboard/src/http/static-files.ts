/** The files of the page, read once at the start. A name in a URL is looked up in a list and never becomes a path. */
import { hash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { extname, join } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';

interface StaticFile {
  readonly type: string;
  readonly etag: string;
  readonly plain: Buffer;
  readonly br: Buffer;
  readonly gzip: Buffer;
}

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.json': 'application/json',
};

export class StaticFiles {
  readonly #files: ReadonlyMap<string, StaticFile>;

  private constructor(files: ReadonlyMap<string, StaticFile>) {
    this.#files = files;
  }

  static async read(directory: string): Promise<StaticFiles> {
    const names = (await readdir(directory)).filter((name) => types[extname(name)] !== undefined);
    if (!names.includes('index.html'))
      throw new Error(`the folder ${directory} has no index.html: build the page first`);
    return StaticFiles.of(
      await Promise.all(names.map(async (name) => [name, await readFile(join(directory, name))] as const)),
    );
  }

  /** Of names and contents: a program that is one file carries the page in itself. */
  static async of(contents: Iterable<readonly [string, Buffer]>): Promise<StaticFiles> {
    const files = [...contents].map(
      async ([name, plain]) => [`/${name}`, await prepared(name, plain)] as const,
    );
    return new StaticFiles(new Map(await Promise.all(files)));
  }

  serve(request: IncomingMessage, response: ServerResponse, path: string): void {
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      response.writeHead(405, { Allow: 'GET' }).end();
      return;
    }
    // Addresses of pages are the page itself, which reads the path; files have an ending.
    const file =
      this.#files.get(path) ?? (/\.[a-z]+$/.test(path) ? undefined : this.#files.get('/index.html'));
    if (file === undefined) {
      response.writeHead(404, { 'Content-Type': 'text/plain' }).end('not found\n');
      return;
    }
    response.setHeader('ETag', file.etag);
    response.setHeader('Cache-Control', 'no-cache');
    response.setHeader('Vary', 'Accept-Encoding');
    if (request.headers['if-none-match'] === file.etag) {
      response.writeHead(304).end();
      return;
    }
    const accepted = request.headers['accept-encoding']?.toString() ?? '';
    const encoding = /\bbr\b/.test(accepted) ? 'br' : /\bgzip\b/.test(accepted) ? 'gzip' : undefined;
    if (encoding !== undefined) response.setHeader('Content-Encoding', encoding);
    const body = encoding === undefined ? file.plain : file[encoding];
    response.writeHead(200, { 'Content-Type': file.type, 'Content-Length': body.length });
    response.end(request.method === 'HEAD' ? undefined : body);
  }
}

async function prepared(name: string, plain: Buffer): Promise<StaticFile> {
  const [br, zipped] = await Promise.all([
    promisify(brotliCompress)(plain, { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } }),
    promisify(gzip)(plain, { level: 9 }),
  ]);
  const etag = `"${hash('sha256', plain).slice(0, 32)}"`;
  return { type: types[extname(name)] ?? '', etag, plain, br, gzip: zipped };
}

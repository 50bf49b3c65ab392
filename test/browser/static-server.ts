import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { extname, join, normalize } from 'node:path';

export interface StaticServer {
  /** Ends in a slash. */
  readonly baseURL: string;
  close(): Promise<void>;
}

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.css': 'text/css',
  '.js': 'text/javascript',
  '.svg': 'image/svg+xml',
};

/** Serves the files of a folder below a path, as they are: no index, no other extension is tried. For missing ones its 404.html. */
export async function serveFolder(folder: string, path: string): Promise<StaticServer> {
  const server = createServer(async ({ url = '' }, response) => {
    const { pathname } = new URL(url, 'http://localhost');
    const inside = pathname.startsWith(path) ? normalize(decodeURI(pathname.slice(path.length - 1))) : undefined;
    const content = inside && (await readFile(join(folder, inside)).catch(() => undefined));
    const type = TYPES[content === undefined ? '.html' : extname(pathname)] ?? 'text/plain; charset=utf-8';
    response
      .writeHead(content === undefined ? 404 : 200, { 'content-type': type })
      .end(content ?? (await readFile(join(folder, '404.html')).catch(() => undefined)));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    baseURL: `http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

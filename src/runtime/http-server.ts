import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { messageOf } from '../base/errors.ts';

export interface Page {
  readonly status: number;
  readonly contentType: string;
  readonly body: string;
}

export interface HttpServer {
  /** Where it listens: with the port that was chosen, if 0 was asked for. */
  readonly address: string;
  close(): Promise<void>;
}

/** `host:port` or `:port`, as flags have it. Throws on anything else. */
export function parseAddress(address: string): { readonly host: string | undefined; readonly port: number } {
  const match = /^(?:\[(?<v6>[0-9a-fA-F:]+)\]|(?<host>[^:]*)):(?<port>\d{1,5})$/.exec(address);
  const port = Number(match?.groups?.['port']);
  if (match === null || port > 65_535) throw new RangeError(`Address "${address}" is not host:port, such as :8080`);
  return { host: match.groups?.['v6'] ?? (match.groups?.['host'] || undefined), port };
}

/** Serves GET for a few fixed paths; for metrics and probes. Rejects if it cannot listen there. */
export function serve(
  address: string,
  pages: Readonly<Record<string, () => Page | Promise<Page>>>,
): Promise<HttpServer> {
  const { host, port } = parseAddress(address);
  const server = createServer((request, response) => {
    answer(pages, request, response).catch((error: unknown) => {
      response.writeHead(500, { 'content-type': 'text/plain' }).end(messageOf(error));
    });
  });
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => resolve({ address: addressOf(server), close: () => close(server) }));
  });
}

async function answer(
  pages: Readonly<Record<string, () => Page | Promise<Page>>>,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const path = (request.url ?? '/').replace(/\?.*$/, '');
  const page = Object.hasOwn(pages, path) ? pages[path] : undefined;
  if (page === undefined || request.method !== 'GET') {
    response.writeHead(page === undefined ? 404 : 405, { 'content-type': 'text/plain' }).end();
    return;
  }
  const { status, contentType, body } = await page();
  response.writeHead(status, { 'content-type': contentType }).end(body);
}

function addressOf(server: Server): string {
  const address = server.address();
  if (address === null || typeof address === 'string') return address ?? '';
  return `${address.family === 'IPv6' ? `[${address.address}]` : address.address}:${address.port}`;
}

function close(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}

import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { messageOf } from '../base/errors.ts';
import type { CertificateFiles } from './certificate.ts';

// An import reads every export, including those made on first access only: its WebSocket loads all of fetch, some 5 MB.
const { createServer } = process.getBuiltinModule('node:http');

export interface Page {
  readonly status: number;
  readonly contentType: string;
  readonly body: string;
}

/** Returns the page that says why the one at the path may not be seen; undefined: it may. `authorization`: the header. */
export type PageGuard = (path: string, authorization: string | undefined) => Promise<Page | undefined>;

export interface ServeOptions {
  /** Absent: without TLS. */
  readonly certificate?: CertificateFiles | undefined;
  /** Asked before each page. Absent: everybody may see it. */
  readonly guard?: PageGuard | undefined;
}

export interface HttpServer {
  /** Where it listens: with the port that was chosen, if it was 0. */
  readonly address: string;
  close(): Promise<void>;
}

/** Parses `host:port` or `:port`, as flags have it. Throws on anything else. */
export function parseAddress(address: string): { readonly host: string | undefined; readonly port: number } {
  const match = /^(?:\[(?<v6>[0-9a-fA-F:]+)\]|(?<host>[^:]*)):(?<port>\d{1,5})$/.exec(address);
  const port = Number(match?.groups?.['port']);
  if (match === null || port > 65_535) throw new RangeError(`Address "${address}" is not host:port, such as :8080`);
  return { host: match.groups?.['v6'] ?? (match.groups?.['host'] || undefined), port };
}

/** Serves GET and HEAD for a few fixed paths, for metrics and probes. Rejects if it cannot listen there. */
export function serve(
  address: string,
  pages: Readonly<Record<string, () => Page | Promise<Page>>>,
  { certificate, guard }: ServeOptions = {},
): Promise<HttpServer> {
  const { host, port } = parseAddress(address);
  const handle = (request: IncomingMessage, response: ServerResponse) => {
    answer(pages, guard, request, response).catch((error: unknown) => {
      response.writeHead(500, { 'content-type': 'text/plain' }).end(messageOf(error));
    });
  };
  const end = new AbortController();
  const server = certificate === undefined ? createServer(handle) : tlsServer(certificate, handle, end.signal);
  const close = () => {
    end.abort();
    const closed = new Promise<void>((resolve) => {
      server.close(() => resolve());
    });
    server.closeAllConnections();
    return closed;
  };
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      // A connection that cannot be accepted, for example for lack of file descriptors, is no reason to end the process.
      server.on('error', () => {});
      resolve({ address: addressOf(server.address()), close });
    });
  });
}

function tlsServer(
  certificate: CertificateFiles,
  handle: (request: IncomingMessage, response: ServerResponse) => void,
  signal: AbortSignal,
) {
  const server = createTlsServer({ ...certificate.current }, handle);
  // Open connections go on with the old one.
  certificate.follow((pair) => server.setSecureContext({ ...pair }), signal);
  return server;
}

async function answer(
  pages: Readonly<Record<string, () => Page | Promise<Page>>>,
  guard: PageGuard | undefined,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const path = (request.url ?? '/').replace(/\?.*$/, '');
  const page = Object.hasOwn(pages, path) ? pages[path] : undefined;
  if (page === undefined) {
    response.writeHead(404, { 'content-type': 'text/plain' }).end();
    return;
  }
  // Node sends no body in answer to HEAD.
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    response.writeHead(405, { 'content-type': 'text/plain', allow: 'GET, HEAD' }).end();
    return;
  }
  const refusal = await guard?.(path, request.headers.authorization);
  const { status, contentType, body } = refusal ?? (await page());
  const challenge = status === 401 ? { 'www-authenticate': 'Bearer' } : {};
  response.writeHead(status, { 'content-type': contentType, ...challenge }).end(body);
}

function addressOf(address: AddressInfo | string | null): string {
  if (address === null || typeof address === 'string') return address ?? '';
  return `${address.family === 'IPv6' ? `[${address.address}]` : address.address}:${address.port}`;
}

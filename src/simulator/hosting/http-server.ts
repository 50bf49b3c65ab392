import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Answer } from '../exchange/message.ts';
import type { Outcome } from '../faults/effects.ts';
import type { Simulator } from '../interface.ts';
import { createPortBook, Listeners } from './listeners.ts';

export interface SimulatorServerOptions {
  /** Interface to listen on. Default 127.0.0.1. */
  readonly host?: string;
  /**
   * Port of the management API; database servers get the ports after it. Default 0: any free one, and database servers get
   * ports below those that systems use for outgoing connections.
   */
  readonly port?: number;
  /** Host in addresses, if clients know this machine by another name. Default: `host`, or loopback if that is any. */
  readonly advertisedHost?: string;
}

export interface SimulatorServer {
  readonly baseURL: string;
  /** Resolves once every running server is reachable at its address. Until then one may move, since its port may be taken. */
  listening(): Promise<void>;
  close(): Promise<void>;
}

const DEFAULT_HOST = '127.0.0.1';
/** Longer than clients keep idle connections: a request sent on a closing connection would have an unknown outcome. */
const KEEP_ALIVE = { keepAliveTimeout: 75_000 } as const;
const SERVER_PORTS = { first: 10_000, span: 22_000, apart: 16 } as const;
const MAX_BODY_BYTES = 16 * 1024 * 1024;

/** Serves the simulator over HTTP: the management API on one port, each running database server on its own. */
export async function startSimulatorServer(
  simulator: Simulator,
  options: SimulatorServerOptions = {},
): Promise<SimulatorServer> {
  const host = options.host ?? DEFAULT_HOST;
  const addresses = new WeakMap<Socket, string>();
  const cloudAuthority = new URL(simulator.baseURL).host;
  const advertisedHost = urlHost(options.advertisedHost ?? host);
  const management = createServer(KEEP_ALIVE, (request, response) => {
    void serve(simulator, cloudAuthority, request, response);
  });
  await listen(management, host, options.port ?? 0);
  const port = boundPort(management);

  // One HTTP server reads the connections of all database servers: ten thousand HTTP servers would each keep timers.
  const databases = createServer(KEEP_ALIVE, (request, response) => {
    void serve(simulator, addresses.get(request.socket) ?? '', request, response);
  });
  simulator.useAddresses(createPortBook(advertisedHost, options.port ? port + 1 : firstServerPort(port)));
  const listeners = new Listeners(simulator, host, (socket, address) => {
    addresses.set(socket, address);
    databases.emit('connection', socket);
  });

  return {
    baseURL: `http://${advertisedHost}:${port}`,
    listening: () => listeners.listening(),
    close: async () => {
      listeners.close();
      await new Promise<void>((resolve) => {
        management.close(() => resolve());
        management.closeAllConnections();
      });
    },
  };
}

/** Gives simulators that run at the same time different ports, even if their own ports are neighbours. */
function firstServerPort(port: number): number {
  return SERVER_PORTS.first + ((port * SERVER_PORTS.apart) % SERVER_PORTS.span);
}

/** The host for use in a URL. Nobody can connect to "any interface". */
function urlHost(host: string): string {
  if (host === '0.0.0.0' || host === '::') return DEFAULT_HOST;
  return host.includes(':') ? `[${host}]` : host;
}

async function serve(
  simulator: Simulator,
  authority: string,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const gone = new AbortController();
  response.once('close', () => gone.abort());
  const body = await readAll(request);
  if (body === undefined) return void response.writeHead(413).end();
  const outcome = await simulator.handle(
    {
      authority,
      method: request.method ?? '',
      path: request.url ?? '/',
      headers: singleHeaders(request),
      body,
    },
    gone.signal,
  );
  send(response, outcome);
}

/** The whole body, or undefined if it is too large or incomplete. */
async function readAll(request: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of request) {
      size += chunk.byteLength;
      if (size > MAX_BODY_BYTES) return undefined;
      chunks.push(chunk);
    }
  } catch {
    return undefined;
  }
  return Buffer.concat(chunks).toString('utf8');
}

function singleHeaders(request: IncomingMessage): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(request.headers)) {
    if (value !== undefined) headers[name] = Array.isArray(value) ? value.join(', ') : value;
  }
  return headers;
}

function send(response: ServerResponse, outcome: Outcome): void {
  const { socket } = response;
  if (outcome.kind !== 'answer') return void socket?.resetAndDestroy();
  const { answer, breaksHalfway } = outcome;
  const body = Buffer.from(answer.body, 'utf8');
  response.writeHead(answer.status, headersOf(answer, body.byteLength));
  if (!breaksHalfway) return void response.end(body);
  response.write(body.subarray(0, Math.floor(body.byteLength / 2)), () => socket?.destroy());
}

function headersOf(answer: Answer, length: number): Record<string, string | number> {
  return answer.status === 204 ? { ...answer.headers } : { ...answer.headers, 'content-length': length };
}

function listen(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      resolve();
    });
  });
}

function boundPort(server: Server): number {
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The server has no port');
  return address.port;
}

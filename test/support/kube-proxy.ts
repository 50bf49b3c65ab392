import { writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage } from 'node:http';
import { Agent, request as httpsRequest } from 'node:https';
import type { AddressInfo } from 'node:net';
import { systemClock } from '../../src/base/clock.ts';
import { loadKubeConnection } from '../../src/kube/connection/config.ts';
import type { Gate } from './gate.ts';

/** A proxy to the API server in which every request for a single object goes through a gate. Lists and watches pass freely. */
export interface KubeProxy {
  /** Uses the proxy, with the same token. */
  readonly kubeconfig: string;
  /** How many requests have arrived, including lists and watches. */
  readonly requests: () => number;
  close(): Promise<void>;
}

/**
 * `kubeconfig`: one with a token, as written by kubeconfigFor; the new file is put beside it, as `name`. `namespace`: that of its
 * context, in which an operator looks for its Lease.
 */
export async function startKubeProxy(
  kubeconfig: string,
  name: string,
  gate: Gate,
  namespace = 'default',
): Promise<KubeProxy> {
  const { server, tls, authorize } = await loadKubeConnection(systemClock, kubeconfig);
  const token = String((await authorize(false))['authorization']).replace('Bearer ', '');
  const agent = new Agent({ keepAlive: true, ca: typeof tls.ca === 'function' ? tls.ca() : tls.ca });
  let requests = 0;
  const proxy = createServer(async (request, response) => {
    requests++;
    const chunks: Buffer[] = [];
    try {
      for await (const chunk of request) chunks.push(chunk);
      const body = Buffer.concat(chunks);
      const what = nameOf(request, body.toString('utf8'));
      const pass = () => forward(agent, server, request, body);
      const answer = await (what === undefined ? pass() : gate(what, pass));
      response.once('close', () => answer.destroy());
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      // A watch begins with its headers; nothing may happen for a long time after that.
      response.flushHeaders();
      answer.pipe(response);
    } catch {
      response.destroy();
    }
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  const { port } = proxy.address() as AddressInfo;
  const path = `${kubeconfig}-${name}`;
  // The library that reads the configuration accepts plain HTTP only with this; then there is nothing to verify.
  const cluster = { server: `http://127.0.0.1:${port}`, 'insecure-skip-tls-verify': true };
  const content = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name, cluster }],
    users: [{ name, user: { token } }],
    contexts: [{ name, context: { cluster: name, user: name, namespace } }],
    'current-context': name,
  };
  writeFileSync(path, JSON.stringify(content), { mode: 0o600 });
  return {
    kubeconfig: path,
    requests: () => requests,
    close: async () => {
      proxy.closeAllConnections();
      await new Promise<void>((resolve) => proxy.close(() => resolve()));
      agent.destroy();
    },
  };
}

/** Status fields whose first appearance makes the request a step with its own name. */
const TOLD = /"(operation|createdAt|credentials)":[{"]/;

/** `POST secrets`, `PATCH databaseclusters/orders/status with createdAt`; undefined: a list or a watch. */
function nameOf({ method, url = '' }: IncomingMessage, body: string): string | undefined {
  const path = url.replace(/\?.*$/, '');
  const [, rest = ''] = /\/namespaces\/[^/]+\/(.+)$/.exec(path) ?? [];
  if (rest === '' || (method === 'GET' && !rest.includes('/'))) return undefined;
  const told = rest.endsWith('/status') ? TOLD.exec(body)?.[1] : undefined;
  return `${method} ${rest}${told === undefined ? '' : ` with ${told}`}`;
}

/** Forwards the request; resolves when the answer begins, so when the work is done. */
function forward(agent: Agent, server: string, request: IncomingMessage, body: Buffer): Promise<IncomingMessage> {
  const { hostname, port } = new URL(server);
  const { host: _, ...headers } = request.headers;
  const options = { agent, hostname, port, method: request.method, path: request.url, headers };
  return new Promise((resolve, reject) => {
    httpsRequest(options, resolve).once('error', reject).end(body);
  });
}

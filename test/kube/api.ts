import { expect, vi } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { API_VERSION } from '../../src/base/group.ts';
import { readText } from '../../src/base/transport.ts';
import { createUndiciTransport } from '../../src/http/undici-transport.ts';
import { definitions } from '../../src/kinds/definitions.ts';
import { loadKubeConnection } from '../../src/kube/connection/config.ts';
import { customResourceDefinition } from '../../src/kube/crd/crd.ts';

export interface ApiAnswer {
  readonly status: number;
  /** Parsed JSON. */
  readonly body: unknown;
  /** The metav1.Status.details.causes as `field: message`; empty after a success. */
  readonly causes: readonly string[];
}

/** Raw requests to the API server, for what the operator itself never sends. */
export interface Api {
  /** A PATCH is a server-side apply, so that a test can be run again on the same server. */
  send(method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE', path: string, body?: unknown): Promise<ApiAnswer>;
  close(): Promise<void>;
}

const MAX_ANSWER_BYTES = 16 * 1024 * 1024;

export async function openApi(kubeconfig: string): Promise<Api> {
  const connection = await loadKubeConnection(systemClock, kubeconfig);
  const transport = createUndiciTransport(connection.tls);
  return {
    close: () => transport.close(),
    send: async (method, path, body) => {
      const response = await transport({
        method,
        url: `${connection.server}${path}`,
        headers: {
          ...(await connection.authorize(false)),
          accept: 'application/json',
          'content-type': method === 'PATCH' ? 'application/apply-patch+yaml' : 'application/json',
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      const text = await readText(response, MAX_ANSWER_BYTES);
      // For resources that are not served yet the answer is plain text.
      const isJson = response.headers['content-type']?.startsWith('application/json') === true;
      const answer: unknown = isJson ? JSON.parse(text) : { message: text };
      return { status: response.status, body: answer, causes: response.status < 300 ? [] : causesOf(answer) };
    },
  };
}

/** Returns the causes of a metav1.Status, or its message if there are none. */
function causesOf(answer: unknown): readonly string[] {
  const { details, message } = answer as {
    message?: string;
    details?: { causes?: readonly { field?: string; message?: string }[] };
  };
  return details?.causes?.map((cause) => `${cause.field}: ${cause.message}`) ?? [message ?? ''];
}

/** Applies the CustomResourceDefinitions and waits until the API server serves them. */
export async function installCrds(api: Api): Promise<void> {
  for (const crd of definitions.map(customResourceDefinition)) {
    const path = `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${crd.metadata.name}`;
    const applied = await api.send('PATCH', `${path}?fieldManager=test&force=true`, crd);
    if (applied.status >= 300) throw new Error(applied.causes.join('\n'));
  }
  for (const { plural } of definitions) {
    const isServed = async () =>
      expect((await api.send('GET', `/apis/${API_VERSION}/${plural}?limit=1`)).status).toBe(200);
    await vi.waitFor(isServed, { timeout: 30_000, interval: 50 });
  }
}

/** Creates a namespace with a new name. */
export async function createNamespace(api: Api): Promise<string> {
  const metadata = { generateName: 'crd-' };
  const { body } = await api.send('POST', '/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata });
  return (body as { metadata: { name: string } }).metadata.name;
}

export function collectionPath(kind: string, namespace: string): string {
  const definition = definitions.find((each) => each.kind === kind);
  return `/apis/${API_VERSION}/namespaces/${namespace}/${definition?.plural}`;
}

import { Client } from 'undici';
import type { Resource } from '../../src/kube/api.ts';
import type { KubeObject } from '../../src/kube/object.ts';

/**
 * The API server's etcd, through its JSON gateway. Objects put there skip admission and validation: copying an object that
 * has passed both takes a tenth of the time.
 */
export class Etcd {
  readonly #client: Client;

  /** `socket`: the path of the socket that etcd listens on. */
  constructor(socket: string) {
    this.#client = new Client('http://localhost', { socketPath: socket, pipelining: 1 });
  }

  close(): Promise<void> {
    return this.#client.close();
  }

  /** Stores the object as the API server would. Resolves to its resource version. */
  async put(resource: Resource, object: KubeObject): Promise<string> {
    const { resourceVersion: _, ...metadata } = object.metadata;
    const { group, plural } = resource;
    const kind = group === '' ? plural : `${group}/${plural}`;
    const key = `/registry/${kind}/${metadata.namespace}/${metadata.name}`;
    const answer = (await this.#ask('/v3/kv/put', {
      key: encoded(key),
      value: encoded(JSON.stringify({ ...object, metadata })),
    })) as { readonly header: { readonly revision: string } };
    return answer.header.revision;
  }

  async #ask(path: string, body: object): Promise<unknown> {
    const { statusCode, body: answer } = await this.#client.request({
      method: 'POST',
      path,
      body: JSON.stringify(body),
    });
    const text = await answer.text();
    if (statusCode !== 200) throw new Error(`etcd answered ${statusCode} to ${path}: ${text}`);
    return JSON.parse(text);
  }
}

function encoded(text: string): string {
  return Buffer.from(text).toString('base64');
}

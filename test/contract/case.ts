import { type KubeApi, KubeError } from '../../src/kube/api.ts';
import { aSpace, SPACES } from './objects.ts';

/** A Kubernetes API under test, and what KubeApi cannot do to it. */
export interface Subject {
  readonly api: KubeApi;
  /** A namespace of its own for each test. */
  makeNamespace(): Promise<string>;
  /** Starts to delete it; it stays for as long as a finalizer holds something in it. */
  terminateNamespace(namespace: string): Promise<void>;
}

/** A space in a namespace of its own, and short ways to look at it. */
export async function aCase(open: () => Promise<Subject>, metadata: object = {}) {
  const { api, makeNamespace, terminateNamespace } = await open();
  const namespace = await makeNamespace();
  const ref = { namespace, name: 'one' };
  const object = await api.create(SPACES, namespace, aSpace('one', metadata));
  const patch = (change: object) => api.patch(SPACES, ref, change);
  const patchStatus = (change: object) => api.patch(SPACES, ref, change, { subresource: 'status' });
  return { api, namespace, ref, object, patch, patchStatus, terminate: () => terminateNamespace(namespace) };
}

export async function errorOf(promise: Promise<unknown>): Promise<unknown> {
  try {
    await promise;
  } catch (error) {
    return error;
  }
  throw new Error('It was not refused');
}

export function statusOf(error: unknown): number | undefined {
  return error instanceof KubeError ? error.status : undefined;
}

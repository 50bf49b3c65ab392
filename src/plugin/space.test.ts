import { expect, test } from 'vitest';
import { type KubeApi, KubeError } from '../kube/api.ts';
import { readSpace } from './space.ts';

/** An API server without any space, which answers lists with this status. */
function without(status: number): KubeApi {
  const api: Pick<KubeApi, 'get' | 'list'> = {
    get: async () => undefined,
    list: () => Promise.reject(new KubeError('no list', { status })),
  };
  return api as KubeApi;
}

const read = (status: number) =>
  readSpace(without(status), { namespace: 'shop', name: 'production' }, new AbortController().signal);

test('A missing space is told from missing definitions of resources', async () => {
  await expect(read(403)).rejects.toThrow(
    'DatabaseSpace "production" in namespace "shop" does not exist: check its name and --namespace',
  );
  await expect(read(404)).rejects.toBeInstanceOf(KubeError);
});

/*
 * Fencing, which client-go leaves to its users: a process that may no longer act, because it lost the lease or was frozen until after
 * another could take it, changes nothing in Kubernetes or in the cloud. The fence is checked right before each call, here, so that the
 * caller hears at once, and by `HttpRequest.refusal` again when the first byte is about to leave.
 */

import { TransientError } from '../base/errors.ts';
import { type HttpTransport, withheld } from '../base/transport.ts';
import type { KubeApi } from '../kube/api.ts';

/** Returns why this process may not change anything now; undefined if it may. */
export type Fence = () => string | undefined;

/** Returns the same API with writes refused while the fence is up. */
export function fencedApi(api: KubeApi, fence: Fence): KubeApi {
  const fenced =
    <Given extends readonly unknown[], Answer>(write: (...given: Given) => Promise<Answer>) =>
    async (...given: Given): Promise<Answer> => {
      const reason = fence();
      if (reason !== undefined) throw new TransientError('NotLeading', `Nothing is written: ${reason}`);
      return write(...given);
    };
  return {
    get: (...args) => api.get(...args),
    list: (...args) => api.list(...args),
    watch: (...args) => api.watch(...args),
    create: fenced((...args: Parameters<KubeApi['create']>) => api.create(...args)),
    patch: fenced((...args: Parameters<KubeApi['patch']>) => api.patch(...args)),
    delete: fenced((...args: Parameters<KubeApi['delete']>) => api.delete(...args)),
  };
}

/** Returns the same transport, which sends only GETs while the fence is up. */
export function fencedTransport(transport: HttpTransport, fence: Fence): HttpTransport {
  return async (request) => {
    const reason = request.method === 'GET' ? undefined : fence();
    if (reason !== undefined) throw withheld(reason);
    return transport({ ...request, ...(request.method === 'GET' ? {} : { refusal: fence }) });
  };
}

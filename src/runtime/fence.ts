/*
 * Fencing, which client-go leaves to its users: nothing is changed, in Kubernetes or in the cloud, by a process that may
 * not act any more, as it lost the lease or was frozen until after another could take it. Looked at right before each call,
 * so that its caller hears at once, and once more when its first byte is about to leave.
 */

import { TransientError } from '../base/errors.ts';
import { type HttpTransport, withheld } from '../base/http.ts';
import type { KubeApi } from '../kube/api.ts';

/** Why this process may not change anything now; undefined: it may. */
export type Fence = () => string | undefined;

/** The same API, whose writes are refused while the fence is up. */
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

/** The same transport, which sends nothing but GETs while the fence is up. */
export function fencedTransport(transport: HttpTransport, fence: Fence): HttpTransport {
  return async (request) => {
    const reason = request.method === 'GET' ? undefined : fence();
    if (reason !== undefined) throw withheld(reason);
    return transport({ ...request, ...(request.method === 'GET' ? {} : { refusal: fence }) });
  };
}

import { difference, type KubeRequests, minus } from '../measure/kube-requests.ts';
import type { Setting } from '../setting.ts';

export interface Changes {
  readonly kube: KubeRequests;
  readonly cloud: ReadonlyMap<string, number>;
  readonly server: ReadonlyMap<string, number>;
}

/** Reads all counters. Resolves to a function that returns what has been added since. */
export async function since({ kubeRequests, cloud }: Setting): Promise<() => Promise<Changes>> {
  const kubeBefore = await kubeRequests();
  const before = await cloud.calls();
  return async () => {
    const after = await cloud.calls();
    return {
      kube: difference(kubeBefore, await kubeRequests()),
      cloud: minus(after.cloud, before.cloud),
      server: minus(after.server, before.server),
    };
  };
}

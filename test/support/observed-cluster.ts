import type { ClusterObservation, ClusterSubject } from '../../src/kinds/databasecluster/observation.ts';
import { observeCluster } from '../../src/kinds/databasecluster/observe.ts';
import type { ClusterWorld } from '../../src/kinds/databasecluster/world.ts';
import type { KindBench } from './kind-bench.ts';

/** Properties of a cluster that somebody else created: those of `aCluster()`. */
export const FOREIGN = { provider: 'gcp', region: 'europe-west2', storageSizeGB: 100, version: '3.5.0' } as const;

/** What is seen of the object, in the world of the bench but for these changes. */
export function observe(
  bench: KindBench,
  { subject }: { readonly subject: ClusterSubject },
  changes: Partial<ClusterWorld> = {},
): Promise<ClusterObservation> {
  return observeCluster({ ...bench.world(), ...changes }, subject, new AbortController().signal);
}

/** The poller lists the clusters of the space once more. */
export async function listAgain(bench: KindBench): Promise<void> {
  await bench.world().connections.get('shop/production')?.poller.refresh();
}

import { vi } from 'vitest';
import { ServerClient } from '../../src/database/client.ts';
import type { KindBench } from './kind-bench.ts';

/** Hides all existing clusters from List and Get until the returned function is called. */
export async function hideClusters(bench: KindBench): Promise<() => Promise<void>> {
  const connection = bench.world().connections.get('shop/production');
  if (connection === undefined) throw new Error('There is no connection');
  const { client, poller } = connection;
  const show = untilShown(
    vi.spyOn(client, 'get').mockResolvedValue(undefined),
    vi.spyOn(client, 'listAs').mockResolvedValue({ clusters: [], problem: undefined }),
  );
  await poller.refresh();
  return async () => {
    show();
    await poller.refresh();
  };
}

/** Hides all users of all servers from List and Get until the returned function is called. */
export function hideUsers(): () => void {
  const { prototype } = ServerClient;
  return untilShown(
    vi.spyOn(prototype, 'listUsers').mockResolvedValue([]),
    vi.spyOn(prototype, 'getUser').mockResolvedValue(undefined),
  );
}

/** Hides all databases of all servers from List and Get until the returned function is called. */
export function hideDatabases(): () => void {
  const { prototype } = ServerClient;
  return untilShown(
    vi.spyOn(prototype, 'listDatabases').mockResolvedValue([]),
    vi.spyOn(prototype, 'getDatabase').mockResolvedValue(undefined),
  );
}

function untilShown(...hidden: readonly { mockRestore(): void }[]): () => void {
  return () => {
    for (const each of hidden) each.mockRestore();
  };
}

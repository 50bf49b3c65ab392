import { systemClock } from '../base/clock.ts';
import { systemRandom } from '../base/random.ts';
import type { SpaceDependencies } from '../plugin/space.ts';
import type { OnCluster } from './on-cluster.ts';
import { PLUGIN_AGENT, transportsFor } from './transports.ts';

/** Calls `use` with what a person's command needs to reach clouds and servers, and closes the connections when that has ended. */
export async function withOutside<T>(
  { api, io }: Pick<OnCluster, 'api' | 'io'>,
  use: (outside: SpaceDependencies) => Promise<T>,
): Promise<T> {
  const transports = transportsFor(PLUGIN_AGENT, io.env);
  try {
    return await use({ api, clock: systemClock, random: systemRandom, transport: transports.of });
  } finally {
    await transports.close();
  }
}

import type { Clock } from '../base/clock.ts';
import { settle } from './cloud/lifecycle.ts';
import { cloudRespond } from './cloud/operations.ts';
import { CLOUD_ROUTES, type CloudRoute } from './cloud/routes.ts';
import type { Cluster, ServerNode, World } from './cloud/state.ts';
import type { Target } from './exchange/exchange.ts';
import { bearerOf, type Incoming } from './exchange/message.ts';
import { createRouter } from './exchange/router.ts';
import type { FaultBook } from './faults/faults.ts';
import { hasSentinel } from './faults/sentinels.ts';
import { serverRespond } from './server/operations.ts';
import { SERVER_ROUTES, type ServerRoute } from './server/routes.ts';
import type { ServerWorld } from './server/world.ts';

const cloudRouter = createRouter(CLOUD_ROUTES);
const serverRouter = createRouter(SERVER_ROUTES);

export function cloudTarget(world: World, request: Incoming): Target<CloudRoute> {
  return {
    api: 'cloud',
    router: cloudRouter,
    place: {},
    respond: (match, now) => cloudRespond(world, match, request, now),
    endToken: () => void world.state.accessTokens.delete(bearerOf(request) ?? ''),
    isReachable: () => true,
  };
}

/** The database server at the request's address, or undefined if none listens. */
export function serverTarget(
  world: World,
  faults: FaultBook,
  clock: Clock,
  request: Incoming,
): Target<ServerRoute> | undefined {
  const cluster = world.state.byAddress.get(request.authority);
  if (cluster === undefined) return undefined;
  const isReachable = () => {
    settle(world, cluster, clock.now());
    return isServing(faults, cluster, request.authority);
  };
  if (!isReachable()) return undefined;
  const server: ServerWorld = {
    world,
    state: cluster.database,
    version: cluster.version,
    address: request.authority,
    primaryAddress: primaryOf(cluster)?.address ?? request.authority,
    changed: () => world.changed(cluster),
  };
  return {
    api: 'server',
    router: serverRouter,
    place: cluster,
    respond: (match, now) => serverRespond(server, match, request, now),
    endToken: () => void cluster.database.tokens.delete(bearerOf(request) ?? ''),
    isReachable,
  };
}

function primaryOf({ servers }: Cluster): ServerNode | undefined {
  return servers.find(({ isPrimary }) => isPrimary) ?? servers[0];
}

/** Reports whether the server at this address takes connections. */
export function isServing(faults: FaultBook, cluster: Cluster, address: string): boolean {
  return (
    !cluster.gone &&
    cluster.servers.some((server) => server.address === address && server.status === 'running') &&
    !hasSentinel(cluster.id, 'serverDown') &&
    !faults.isOut(cluster)
  );
}

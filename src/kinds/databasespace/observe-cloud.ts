import { isRefusedExchange } from '../../cloud/token.ts';
import { ApiError, isHeldBack } from '../../http/api-error.ts';
import { RECONCILE_AT } from '../../kube/annotations.ts';
import type { ObjectKey } from '../../kube/object.ts';
import { connected } from './connection/connect.ts';
import type { SpaceConnection } from './connection/connection.ts';
import type { CloudSeen, NotConnected, RefusedToken, SpaceSubject, UnmanagedCluster } from './observation.ts';
import { placeName } from './place.ts';
import type { DatabaseSpaceSpec } from './schema.ts';
import { VERSIONS_DUE_NOW, versionsOf } from './versions.ts';
import type { SpaceWorld } from './world.ts';

const MAX_UNMANAGED = 50;

/** Looks at the cloud. Connects the space first if that was not done, or the spec or a Secret has changed since. */
export async function observeCloud(
  world: SpaceWorld,
  subject: SpaceSubject,
  signal: AbortSignal,
): Promise<CloudSeen | NotConnected> {
  if (subject.lookNow || subject.status.observedGeneration !== subject.metadata.generation)
    world.versions.set(subject.key, VERSIONS_DUE_NOW);
  const connection = await connected(world, subject, signal);
  if ('why' in connection) return connection;
  if (subject.lookNow) connection.client.forgetRefusals();
  const { refused, unanswered } = await exchange(connection, subject.spec, signal);
  const { poller } = connection;
  // The first List. Then the poller goes on by itself, even if it fails. The tokens that are right are enough for it.
  const started = poller.listedAtMs !== undefined || poller.error !== undefined;
  const useless = refused.length === subject.spec.apiTokens.length;
  if (!useless && (!started || isAskedAnew(world, subject))) await poller.refresh();
  return {
    place: placeName(connection.place),
    refused,
    exchanged: refused.length === 0 && unanswered === undefined,
    // A request that was held back has no cause of its own: the exchange that was tried does.
    listError: isHeldBack(poller.error) ? (unanswered ?? poller.error) : poller.error,
    failingSinceMs: connection.failingSinceMs(),
    isPartial: poller.isPartial,
    inventory: poller.listedAtMs === undefined ? undefined : inventoryOf(world, connection, subject.key),
    versions: await versionsOf(world, connection, subject, poller.error === undefined && !useless, signal),
    canDestroy: connection.client.canDestroy,
  };
}

/** Whether a person asks for a List, for the first time. Each List leads to a pass, so one that cannot report would list again at once. */
function isAskedAnew({ listedFor }: SpaceWorld, { key, metadata, lookNow }: SpaceSubject): boolean {
  const asked = metadata.annotations?.[RECONCILE_AT];
  if (!lookNow || asked === undefined || listedFor.get(key) === asked) return false;
  listedFor.set(key, asked);
  return true;
}

interface Exchanged {
  readonly refused: readonly RefusedToken[];
  /** Why not all tokens were tried: the cloud did not say whether they are right. */
  readonly unanswered: ApiError | undefined;
}

/**
 * Exchanges each token that is not held. A wrong one shows now, not when it is needed, and does not keep the others from being used.
 * Whether the cloud can be reached is left to the List.
 */
async function exchange(
  connection: SpaceConnection,
  { apiTokens }: DatabaseSpaceSpec,
  signal: AbortSignal,
): Promise<Exchanged> {
  const refused: RefusedToken[] = [];
  for (const { level, secretRef } of apiTokens) {
    try {
      await connection.client.authenticate(level, signal);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      if (!isRefusedExchange(error)) return { refused, unanswered: error };
      refused.push({ secretName: secretRef.name, error });
    }
  }
  return { refused, unanswered: undefined };
}

/** Returns the ids of what any DatabaseSpace's objects have in the same place of the cloud. */
function heldIn({ places, heldIDs }: SpaceWorld, space: ObjectKey): ReadonlySet<string> {
  const [ids = new Set<string>(), ...others] = [...places.same(space)].map((each) => heldIDs(each, space));
  return others.length === 0 ? ids : new Set([ids, ...others].flatMap((each) => [...each]));
}

function inventoryOf(world: SpaceWorld, { poller }: SpaceConnection, space: ObjectKey) {
  const [held, heldHere] = [heldIn(world, space), world.heldIDs(space, space)];
  let [total, own] = [0, 0];
  const unmanaged: string[] = [];
  for (const id of poller.ids()) {
    total++;
    if (heldHere.has(id)) own++;
    if (!held.has(id)) unmanaged.push(id);
  }
  const first = unmanaged.toSorted().slice(0, MAX_UNMANAGED);
  const shown = first.flatMap((clusterID): readonly UnmanagedCluster[] => {
    const cluster = poller.get(clusterID);
    if (cluster === undefined) return [];
    const { provider, region, machineType, status: state } = cluster;
    return [{ clusterID, provider, region, machineType, state }];
  });
  return { total, managed: total - unmanaged.length, own, unmanaged: shown };
}

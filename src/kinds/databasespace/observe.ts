import type { Clock } from '../../base/clock.ts';
import { TerminalError, TransientError } from '../../base/errors.ts';
import { GROUP } from '../../base/group.ts';
import { isRefusedExchange } from '../../cloud/token.ts';
import { ApiError, isHeldBack } from '../../http/api-error.ts';
import type { ObjectKey } from '../../kube/object.ts';
import type { Subject } from '../../runtime/kind.ts';
import { type Dependents, dependentsFirst } from '../dependents-first.ts';
import type { Elapsed } from '../elapsed.ts';
import { isManaged, loginFrom, type Secrets } from '../secrets.ts';
import type { SpaceConnection, SpaceConnections } from './connection.ts';
import { credentialsFrom, severalMissing } from './credentials.ts';
import { placeName } from './place.ts';
import type { SpacePlaces } from './places.ts';
import type { DatabaseSpaceSpec, DatabaseSpaceStatus } from './schema.ts';

export type SpaceSubject = Subject<DatabaseSpaceSpec, DatabaseSpaceStatus>;

export interface UnmanagedCluster {
  readonly clusterID: string;
  readonly provider?: string | undefined;
  readonly region?: string | undefined;
  readonly machineType?: string | undefined;
  readonly state: string;
}

export interface SpaceObservation {
  /** DatabaseClusters, `namespace/name`, whose deletion will need this space. */
  readonly neededBy: readonly string[];
  /** Something on the server of a cluster of this space is deleted with its object, which needs the space. */
  readonly hasDependents: boolean;
  /** It is being deleted, and such objects go first: what to say, and for how long. */
  readonly goesAfter: ReturnType<typeof dependentsFirst>;
  /** Secrets that the spec names and that are kept from being deleted. */
  readonly keptSecrets: readonly string[];
  /** Secrets that are still kept although the spec no longer names them. */
  readonly staleSecrets: readonly string[];
  /** Secrets that the spec names and that are not kept, but can be. */
  readonly freeSecrets: readonly string[];
  /** Secrets that the spec names and that somebody has deleted: they go when nothing keeps them any more. */
  readonly leavingSecrets: readonly string[];
  /** Undefined: not looked at, as the object is being deleted and nothing needs it. */
  readonly cloud: CloudSeen | NotConnected | undefined;
}

export interface RefusedToken {
  /** The Secret that holds it. */
  readonly secretName: string;
  readonly error: ApiError;
}

/** The space cannot be connected, for example because a Secret or a key in one is missing, or the URL is not allowed. */
export interface NotConnected {
  readonly why: TransientError | TerminalError;
  /** An API token is missing. Otherwise something else is wrong, and nobody has tried whether the tokens are right. */
  readonly lacksToken: boolean;
}

export interface CloudSeen {
  readonly place: string;
  /** Why tokens were not exchanged, one entry a token. Only for answers that clearly say that the token is wrong. */
  readonly refused: readonly RefusedToken[];
  /** Whether the cloud has accepted every token. */
  readonly exchanged: boolean;
  /** Why the last List failed. */
  readonly listError: unknown;
  /** Since when, in wall-clock milliseconds. */
  readonly failingSinceMs: number | undefined;
  /** The last List was believed, except for what `listError` reports. */
  readonly isPartial: boolean;
  /** Undefined: not listed yet. */
  readonly inventory:
    | { readonly total: number; readonly managed: number; readonly unmanaged: readonly UnmanagedCluster[] }
    | undefined;
  readonly versions: readonly string[] | undefined;
  readonly canDestroy: boolean;
}

export interface SpaceWorld {
  readonly secrets: Secrets;
  readonly connections: SpaceConnections;
  readonly places: Pick<SpacePlaces, 'same'>;
  /** Ids that a space's DatabaseClusters stand for, or want, as far as that counts for the space `by`, which may be another one. */
  readonly claimedIDs: (space: ObjectKey, by: ObjectKey) => ReadonlySet<string>;
  /** DatabaseClusters that cannot be deleted without the space. */
  readonly neededBy: (space: ObjectKey) => readonly ObjectKey[];
  /** What on servers of the space's clusters is deleted with its object. */
  readonly dependents: (space: ObjectKey) => Dependents;
  readonly hasDependents: (space: ObjectKey) => boolean;
  readonly clock: Pick<Clock, 'monotonic'>;
  /** For how long spaces have been going. */
  readonly going: Elapsed;
  /** The versions of the object and its Secrets when the space was last connected. */
  readonly connectedWith: Map<ObjectKey, string>;
  /** What this process knows of versions besides the status. */
  readonly versions: Map<ObjectKey, VersionsRead | VersionsDue>;
}

/** The status may not have them yet, or at all: it could not be written, or the definitions are of an older version. */
interface VersionsRead {
  readonly read: readonly string[];
}

/** When they must be read again, by the monotonic clock: those in the status may be of another cloud, or could not be read. */
interface VersionsDue {
  readonly read?: undefined;
  readonly atMs: number;
  readonly pauseMs: number;
}

const MAX_UNMANAGED = 50;

/** Reads what is known of the space, and what needs it. */
export async function observeSpace(
  world: SpaceWorld,
  subject: SpaceSubject,
  signal: AbortSignal,
): Promise<SpaceObservation> {
  const namespace = subject.metadata.namespace ?? '';
  const kept = await world.secrets.keptBy(namespace, secretFinalizer(subject), subject.status.keptSecrets ?? []);
  const names = secretNames(subject.spec);
  const neededBy = world.neededBy(subject.key);
  const goesAfter = subject.deleting ? goesAfterDependents(world, subject) : undefined;
  return {
    neededBy,
    hasDependents: world.hasDependents(subject.key),
    goesAfter,
    keptSecrets: kept.filter((name) => names.includes(name)),
    staleSecrets: kept.filter((name) => !names.includes(name)),
    freeSecrets: names.filter((name) => !kept.includes(name) && world.secrets.canBeKept(namespace, name)),
    leavingSecrets: names.filter((name) => world.secrets.isLeaving(namespace, name)),
    cloud:
      subject.deleting && neededBy.length === 0 && goesAfter === undefined
        ? undefined
        : await observeCloud(world, subject, signal),
  };
}

/** For how long it waits for users and databases that may follow it. Nobody misses it so soon, and an API server may restart meanwhile. */
const FOLLOWING_MS = 30_000;

function goesAfterDependents(world: SpaceWorld, subject: SpaceSubject): SpaceObservation['goesAfter'] {
  const sinceMs = world.going.begin(subject, world.clock.monotonic());
  return dependentsFirst(world.dependents(subject.key), sinceMs, 'clusters of this space', FOLLOWING_MS);
}

/** Each space has its own finalizer, as a Secret may serve several. */
export function secretFinalizer({ metadata }: Pick<SpaceSubject, 'metadata'>): string {
  return `${GROUP}/space-${metadata.uid}`;
}

/** Looks at the cloud. Connects the space first if that was not done, or the spec or a Secret has changed since. */
async function observeCloud(
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
  if (!useless && (!started || subject.lookNow)) await poller.refresh();
  return {
    place: placeName(connection.place),
    refused,
    exchanged: refused.length === 0 && unanswered === undefined,
    // A request that was held back has no cause of its own: the exchange that was tried does.
    listError: isHeldBack(poller.error) ? (unanswered ?? poller.error) : poller.error,
    failingSinceMs: connection.failingSinceMs(),
    isPartial: poller.isPartial,
    inventory: poller.listedAtMs === undefined ? undefined : inventoryOf(connection, claimedIn(world, subject.key)),
    versions: await versionsOf(world, connection, subject, poller.error === undefined && !useless, signal),
    canDestroy: connection.client.canDestroy,
  };
}

async function connected(
  world: SpaceWorld,
  subject: SpaceSubject,
  signal: AbortSignal,
): Promise<SpaceConnection | NotConnected> {
  const { key, metadata, spec } = subject;
  const namespace = metadata.namespace ?? '';
  const names = secretNames(spec);
  const state = JSON.stringify([
    metadata.uid,
    metadata.generation,
    names.map((name) => world.secrets.version(namespace, name)),
  ]);
  const known = world.connections.get(key);
  if (known !== undefined && world.connectedWith.get(key) === state) return known;

  const contents = new Map(
    await Promise.all(names.map(async (name) => [name, await world.secrets.read(namespace, name, signal)] as const)),
  );
  const credentials = orWhy(() => {
    try {
      return credentialsFrom(spec, contents, namespace);
    } catch (error) {
      throw error instanceof TransientError ? (severalMissing(spec, contents, namespace) ?? error) : error;
    }
  }, true);
  const connected = orWhy(() => {
    const ref = spec.defaultCredentialsSecretRef;
    const factory = contents.get(ref.name);
    const login = loginFrom(factory, ref, namespace);
    if (factory !== undefined && isManaged(factory)) throw mistaken(ref.name);
    const version = factory?.resourceVersion ?? '';
    if (!('why' in credentials)) world.connections.connect(key, spec, credentials, login, version);
    // Logins are verified without the cloud, so connect without tokens. What was connected before goes on as it was.
    else if (!world.connectedWith.has(key)) world.connections.connect(key, spec, [], login, version);
    return {};
  }, false);
  if ('why' in credentials) return credentials;
  if ('why' in connected) return connected;
  const isFirst = !world.connectedWith.has(key);
  world.connectedWith.set(key, state);
  const connection = world.connections.get(key);
  if (connection === undefined) throw new Error(`Space ${key} is not connected after connecting it`);
  // Whatever has changed, somebody may have done it to have a token tried that the cloud accepts by now.
  if (!isFirst) connection.client.forgetRefusals(DOUBTED_MS);
  return connection;
}

/**
 * How old a refusal must be to be doubted because something was written: others that share the Secret may have been refused since, and
 * a finalizer of ours is a write, too. A cloud that is asked too often may lock the token out.
 */
const DOUBTED_MS = 10_000;

function orWhy<T extends object>(work: () => T, lacksToken: boolean): T | NotConnected {
  try {
    return work();
  } catch (error) {
    if (error instanceof TransientError || error instanceof TerminalError) return { why: error, lacksToken };
    throw error;
  }
}

/** Each rotation would change what counts as the login that new clusters come with, and so call for the next one. */
function mistaken(name: string): TerminalError {
  return new TerminalError(
    'DefaultLoginMistaken',
    `Secret "${name}" holds a login that Mooring looks after, not the one that new clusters come with: name a Secret with that one in defaultCredentialsSecretRef`,
  );
}

/** Returns all Secrets that the spec names, each once. */
export function secretNames(spec: DatabaseSpaceSpec): readonly string[] {
  return [...new Set([...spec.apiTokens.map((token) => token.secretRef.name), spec.defaultCredentialsSecretRef.name])];
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

const VERSIONS_DUE_NOW: VersionsDue = { atMs: 0, pauseMs: 60_000 };
const MAX_VERSIONS_PAUSE_MS = 1_800_000;

/**
 * Versions are read once for each generation of the object: they are for people to look up, and only the List is read regularly. A deploy of a
 * version that is not among them reads them again. While they cannot be read, what is known stays, and they are tried less and less often: a
 * cloud may never tell them.
 */
async function versionsOf(
  world: SpaceWorld,
  connection: SpaceConnection,
  { key, status }: SpaceSubject,
  works: boolean,
  signal: AbortSignal,
) {
  const told = status.availableVersions;
  const known = world.versions.get(key) ?? (told === undefined ? VERSIONS_DUE_NOW : { read: told });
  if (known.read !== undefined) return known.read;
  if (!works || world.clock.monotonic() < known.atMs) return told;
  try {
    const read = await connection.client.versions(signal);
    world.versions.set(key, { read });
    return read;
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const pauseMs = Math.min(known.pauseMs * 2, MAX_VERSIONS_PAUSE_MS);
    world.versions.set(key, { atMs: world.clock.monotonic() + known.pauseMs, pauseMs });
    return told;
  }
}

/** Returns the ids that any DatabaseSpace's clusters stand for in the same place of the cloud. */
function claimedIn({ places, claimedIDs }: SpaceWorld, space: ObjectKey): ReadonlySet<string> {
  const [ids = new Set<string>(), ...others] = [...places.same(space)].map((each) => claimedIDs(each, space));
  return others.length === 0 ? ids : new Set([ids, ...others].flatMap((each) => [...each]));
}

function inventoryOf({ poller }: SpaceConnection, claimed: ReadonlySet<string>) {
  let total = 0;
  const unmanaged: string[] = [];
  for (const id of poller.ids()) {
    total++;
    if (!claimed.has(id)) unmanaged.push(id);
  }
  const first = unmanaged.toSorted().slice(0, MAX_UNMANAGED);
  const shown = first.flatMap((clusterID): readonly UnmanagedCluster[] => {
    const cluster = poller.get(clusterID);
    if (cluster === undefined) return [];
    const { provider, region, machineType, status: state } = cluster;
    return [{ clusterID, provider, region, machineType, state }];
  });
  return { total, managed: total - unmanaged.length, unmanaged: shown };
}

import { ApiError } from '../../http/api-error.ts';
import { findStatusCondition } from '../../kube/condition.ts';
import { CLUSTER_SUSPENDED, type OpenServer, serverAccess } from '../server/access.ts';
import { untilVerification } from '../verification.ts';
import { needsServerToGo } from './decide-deletion.ts';
import {
  type DatabaseObservation,
  type DatabaseSeen,
  type DatabaseSubject,
  databaseName,
  hasSchema,
  isOurs,
  recordedElsewhere,
  refusalOfName,
  type SchemaObservation,
} from './observation.ts';
import { firstClaimant } from './records.ts';
import { schemaDigest } from './schema-plan.ts';
import { areAsApplied, readSources } from './sources.ts';
import type { DatabaseWorld } from './world.ts';

/** How long after the server refused schema sources the same ones are tried again: its data may have changed. */
const TRY_AGAIN_MS = 600_000;

/**
 * Reads what the decision needs. Makes no call while cluster, spec and sources are as last verified and it is not time to look
 * again. Otherwise it makes one List, which all databases of the server share, and reads the schema.
 */
export async function observeDatabase(
  world: DatabaseWorld,
  subject: DatabaseSubject,
  signal: AbortSignal,
): Promise<DatabaseObservation> {
  // An object that owns nothing to delete can go without asking its server.
  if (subject.deleting && !needsServerToGo(subject)) return { server: 'notNeeded' };
  const access = await serverAccess(world, subject, signal);
  if (access.server !== 'open') return { ...access, unchanged: areAsApplied(world.configMaps, subject) };
  const name = databaseName(subject);
  const claimants = [...world.claimants(access.clusterKey, name)];
  const seen: DatabaseSeen = {
    server: 'open',
    cluster: access.clusterName,
    identity: access.identity,
    leaving: access.leaving,
    name,
    elsewhereForMs: elsewhereForMs(world, subject, access),
    claimedBy: firstClaimant(subject, claimants.map(world.database)),
    existence: 'notLooked',
    attemptedAtMs: attemptedAtMs(world, subject),
    schema: { schema: 'notLooked' },
    self: world.memory.attempts.self,
    checkInMs: checkInMs(world, subject, access),
  };
  if (seen.claimedBy !== undefined || refusalOfName(subject) !== undefined) return seen;
  const asVerified = isAsVerified(world, subject, seen);
  const due = subject.lookNow || (seen.checkInMs !== undefined && seen.checkInMs <= 0);
  if (asVerified && !due) return { ...seen, existence: 'settled' };
  try {
    return await look(world, subject, access, seen, signal);
  } catch (error) {
    const { clock, memory } = world;
    const againInMs = memory.verifications.putOff.againInMs(subject, asVerified, error, clock.monotonic());
    if (againInMs === undefined) throw error;
    return { ...seen, existence: 'settled', checkInMs: againInMs };
  }
}

async function look(
  world: DatabaseWorld,
  subject: DatabaseSubject,
  access: OpenServer,
  seen: DatabaseSeen,
  signal: AbortSignal,
): Promise<DatabaseSeen> {
  const { servers, memory, clock } = world;
  const listed = await servers.hasDatabase(access, seen.name, signal);
  // A List may be a little old, and a database must not be reported as gone, with its data, by mistake.
  const expected = isOurs(subject, seen) || seen.attemptedAtMs !== undefined;
  const exists = listed || (expected && (await existsByGetOrList(world, access, seen.name, signal)));
  if (!exists) return { ...seen, existence: 'absent' };
  const looked: DatabaseSeen = { ...seen, existence: 'exists' };
  if (subject.deleting || !isOurs(subject, seen)) return looked;
  const schema = await lookAtSchema(world, subject, access, seen.name, signal);
  if (schema === 'gone') return { ...seen, existence: 'absent' };
  memory.verifications.verified(subject.key, clock.now());
  return { ...looked, schema, checkInMs: checkInMs(world, subject, access) };
}

async function lookAtSchema(
  world: DatabaseWorld,
  subject: DatabaseSubject,
  access: OpenServer,
  name: string,
  signal: AbortSignal,
): Promise<SchemaObservation | 'gone'> {
  if (!hasSchema(subject)) return { schema: 'notLooked' };
  const sources = await readSources(world.configMaps, subject, signal);
  if ('reason' in sources) return { schema: 'sourceMissing', ...sources };
  const { servers } = world;
  let text: string;
  try {
    text = await servers.asAdmin(access, (client, token) => client.getSchema(token, name, signal), signal);
  } catch (error) {
    // The List may be older than a deletion by somebody else; servers then answer 404 or 400.
    const isMissing = error instanceof ApiError && (error.kind === 'notFound' || error.kind === 'invalid');
    if (isMissing && !(await existsByGetOrList(world, access, name, signal))) return 'gone';
    throw error;
  }
  return { schema: 'seen', sources, found: schemaDigest(text), tryAgainInMs: tryAgainInMs(world, subject) };
}

/** Makes one GET and, if it finds nothing, a fresh List, too: a proxy before the server may answer 404 to anything. */
export async function existsByGetOrList(
  world: DatabaseWorld,
  access: OpenServer,
  name: string,
  signal: AbortSignal,
): Promise<boolean> {
  return (await existsByGet(world, access, name, signal)) || world.servers.listsDatabase(access, name, signal);
}

/** Makes one GET, and shares what it finds with the users of the List. */
export async function existsByGet(
  world: DatabaseWorld,
  access: OpenServer,
  name: string,
  signal: AbortSignal,
): Promise<boolean> {
  const found = await world.servers.asAdmin(access, (client, token) => client.getDatabase(token, name, signal), signal);
  world.servers.databaseChanged(access, name, found !== undefined);
  return found !== undefined;
}

/** Returns when its creation, as written down, may last have been asked of the server, by this process or an earlier one. */
function attemptedAtMs({ memory }: DatabaseWorld, { key, status }: DatabaseSubject): number | undefined {
  return status.operation === undefined ? undefined : memory.attempts.lastMadeAtMs(key, status.operation);
}

function elsewhereForMs({ memory, clock }: DatabaseWorld, subject: DatabaseSubject, seen: { identity: string }) {
  if (recordedElsewhere(subject, seen) !== undefined) return memory.elsewhere.begin(subject, clock.monotonic());
  memory.elsewhere.forget(subject.key);
  return undefined;
}

function checkInMs(
  { memory, clock }: DatabaseWorld,
  { key, metadata }: DatabaseSubject,
  { verifyIntervalMs }: OpenServer,
): number | undefined {
  return untilVerification(metadata.uid, verifyIntervalMs, memory.verifications.lastAtMs(key), clock.now());
}

function tryAgainInMs({ memory, clock }: DatabaseWorld, { key, lookNow }: DatabaseSubject): number {
  const triedAtMs = memory.schemaTriedAtMs(key);
  const nowMs = clock.now();
  // If the wall clock was set back, how long ago it was is no longer known.
  if (lookNow || triedAtMs === undefined || triedAtMs > nowMs) return 0;
  return triedAtMs + TRY_AGAIN_MS - nowMs;
}

function isAsVerified({ configMaps }: DatabaseWorld, subject: DatabaseSubject, seen: DatabaseSeen): boolean {
  const { status, metadata, deleting } = subject;
  const ready = findStatusCondition(status.conditions, 'Ready');
  return (
    !deleting &&
    ready?.status === 'True' &&
    ready.reason !== CLUSTER_SUSPENDED &&
    status.observedGeneration === metadata.generation &&
    status.operation === undefined &&
    isOurs(subject, seen) &&
    areAsApplied(configMaps, subject)
  );
}

import { findStatusCondition } from '../../kube/condition.ts';
import { CLUSTER_SUSPENDED, type OpenServer, serverAccess } from '../server/access.ts';
import { isOnSameCluster } from '../server/dependents.ts';
import { untilVerification } from '../verification.ts';
import { needsServerToGo } from './decide-deletion.ts';
import { existsByGetOrList } from './exists.ts';
import {
  type DatabaseObservation,
  type DatabaseSeen,
  type DatabaseSubject,
  databaseName,
  isOurs,
  recordedElsewhere,
  refusalOfName,
} from './observation.ts';
import { firstClaimant } from './records.ts';
import { observeSources } from './sources/observe-sources.ts';
import { areAsApplied, areTextsAsApplied } from './sources/read-sources.ts';
import type { Work } from './work.ts';
import type { DatabaseWorld } from './world.ts';

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
  const wasRight = world.memory.foundRight.note(subject);
  if (access.server !== 'open') {
    const isOurCluster = (identity: string) => isOurs(subject, { name: databaseName(subject), identity });
    const areSourcesChanged = !subject.deleting && !(await areTextsAsApplied(world.configMaps, subject, signal));
    const foundRight = wasRight && !areSourcesChanged && isOnSameCluster(access, isOurCluster);
    return { ...access, foundRight, areSourcesChanged };
  }
  return world.memory.foundRight.looking(subject.key, () => observeOnServer(world, subject, access, signal));
}

async function observeOnServer(
  world: DatabaseWorld,
  subject: DatabaseSubject,
  access: OpenServer,
  signal: AbortSignal,
): Promise<DatabaseSeen> {
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
    absence: undefined,
    attemptedAtMs: attemptedAtMs(world, subject),
    doneAtMs: doneAtMs(world, subject),
    schema: { schema: 'notLooked' },
    self: world.memory.attempts.self,
    checkInMs: checkInMs(world, subject, access),
  };
  if (seen.claimedBy !== undefined || refusalOfName(subject) !== undefined) return seen;
  const asVerified = isAsVerified(world, subject, seen);
  const due = subject.lookNow || (seen.checkInMs !== undefined && seen.checkInMs <= 0);
  if (asVerified && !due) return { ...seen, existence: 'settled' };
  try {
    return await look({ world, subject, access, name, signal }, seen);
  } catch (error) {
    const { clock, memory } = world;
    const againInMs = memory.verifications.putOff.againInMs(subject, asVerified, error, clock.monotonic());
    if (againInMs === undefined) throw error;
    return { ...seen, existence: 'settled', checkInMs: againInMs };
  }
}

/** A database of ours that is missing must be missing for a while: a server may not show it for a moment. */
async function look(work: Work, seen: DatabaseSeen): Promise<DatabaseSeen> {
  const looked = await lookOnce(work, seen);
  const { world, subject } = work;
  const { absences } = world.memory;
  // If another was announced, that was waited for before.
  const isMissed = looked.existence === 'absent' && isOurs(subject, seen) && subject.status.operation === undefined;
  if (isMissed) return { ...looked, absence: absences.missed(subject, world.clock) };
  absences.forget(subject.key);
  return looked;
}

async function lookOnce(work: Work, seen: DatabaseSeen): Promise<DatabaseSeen> {
  const { world, subject, access, name, signal } = work;
  const { servers, memory, clock } = world;
  const listed = await servers.hasDatabase(access, name, signal);
  // A List may be a little old, and a database must not be reported as gone, with its data, by mistake.
  const expected = isOurs(subject, seen) || seen.attemptedAtMs !== undefined;
  const exists = listed || (expected && (await existsByGetOrList(work)));
  if (!exists) return { ...seen, existence: 'absent' };
  const looked: DatabaseSeen = { ...seen, existence: 'exists' };
  if (subject.deleting || !isOurs(subject, seen)) return looked;
  const schema = await observeSources(work);
  if (schema === 'gone') return { ...seen, existence: 'absent' };
  memory.verifications.verified(subject.key, clock.now());
  return { ...looked, schema, checkInMs: checkInMs(world, subject, access) };
}

/** Returns when its creation, as written down, may last have been asked of the server, by this process or an earlier one. */
function attemptedAtMs({ memory }: DatabaseWorld, { key, status }: DatabaseSubject): number | undefined {
  return status.operation === undefined ? undefined : memory.attempts.lastMadeAtMs(key, status.operation);
}

function doneAtMs({ memory }: DatabaseWorld, { key, status }: DatabaseSubject): number | undefined {
  return status.operation === undefined ? undefined : memory.attempts.doneAtMs(key, status.operation);
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

import { messageOf, TransientError } from '../../base/errors.ts';
import { ApiError } from '../../http/api-error.ts';
import { confirm } from '../confirm.ts';
import { serverAccess } from '../server/access.ts';
import { isAbsentFromServer, stillShown } from '../server/servers.ts';
import { existsByGet, existsByGetOrList } from './exists.ts';
import type { DatabaseStep, DatabaseSubject } from './observation.ts';
import { type DatabaseStatusPatch, NO_SCHEMA } from './present.ts';
import { isMadeForAnother } from './records.ts';
import { DATABASES } from './resource.ts';
import { applySchema, trySchema } from './sources/act-sources.ts';
import type { Work } from './work.ts';
import type { DatabaseWorld } from './world.ts';

/** Carries out one step. */
export async function actOnDatabase(
  world: DatabaseWorld,
  subject: DatabaseSubject,
  step: DatabaseStep,
  signal: AbortSignal,
  keep: (facts: DatabaseStatusPatch) => void,
): Promise<DatabaseStatusPatch | undefined> {
  if (step.do === 'TellLeft') {
    world.onLeft(subject.key, step.message);
    return undefined;
  }
  const access = await serverAccess(world, subject, signal);
  if (access.server !== 'open' || access.identity !== step.identity)
    throw new TransientError('WaitingForCluster', 'The DatabaseCluster changed meanwhile: Mooring checks it again');
  const work: Work = { world, subject, access, name: step.name, signal };
  switch (step.do) {
    case 'CreateDatabase':
      return create(work, keep);
    case 'DeleteDatabase':
      return remove(work);
    case 'TrySchema':
      return trySchema(work, step.plan);
    case 'ApplySchema':
      return applySchema(work, step.plan);
    default:
      return step satisfies never;
  }
}

/**
 * The status already says that the database is about to be created. A first attempt checks right before the call that the name is
 * free: some servers answer with success if the database exists already, and that must not make it ours. For the same reason only
 * one of several objects may make the call. A refusal removes the operation from the status: if it stayed, a later process would
 * take a database that somebody else creates for ours.
 */
async function create(work: Work, keep: (facts: DatabaseStatusPatch) => void): Promise<DatabaseStatusPatch> {
  const { world, subject, access, name, signal } = work;
  const { operation } = subject.status;
  if (operation === undefined) throw new Error(`Creating database "${name}" was not written down first`);
  await confirm(world.api, DATABASES, subject, signal);
  const { memory, clock, servers } = world;
  const { attempts } = memory;
  const first = attempts.neverMade(subject.key, operation);
  if (first && (await existsByGet(work))) return { operation: null };
  try {
    const isMade = await servers.asAdmin(
      access,
      async (client, token) => {
        // Nothing is awaited between this check and the call.
        const others = [...world.claimants(access.clusterKey, name)].map(world.database);
        if (first && isMadeForAnother(subject, others, attempts)) return false;
        await attempts.make(subject.key, operation, clock, () => client.createDatabase(token, name, signal));
        return true;
      },
      signal,
    );
    if (!isMade) return { operation: null };
  } catch (error) {
    if (attempts.isRefusal(subject.key, operation, error)) keep({ operation: null });
    const isInvalid = error instanceof ApiError && error.kind === 'invalid';
    if (!isInvalid || !(await existsByGet(work))) throw error;
    // Refused because it exists: by an earlier attempt, if there may have been one.
    return {};
  }
  // Ready will say that it exists, and nobody looks again for minutes: so look now.
  if (await existsByGet(work)) return { ...NO_SCHEMA, name, cluster: access.identity, operation: null };
  const message = `The server said that it created database "${name}", but does not show it yet: Mooring tries again. If this persists, check the server`;
  throw new TransientError('CreatingDatabase', message);
}

async function remove(work: Work): Promise<undefined> {
  const { world, subject, access, name, signal } = work;
  await confirm(world.api, DATABASES, subject, signal);
  const { servers } = world;
  const askedAt = world.clock.monotonic();
  try {
    await servers.asAdmin(access, (client, token) => client.deleteDatabase(token, name, signal, askedAt), signal);
  } catch (error) {
    if (await isAbsentFromServer(error, () => existsByGetOrList(work))) return;
    const message = `The server does not delete database "${name}" now, as is usual while transactions are open: Mooring tries again. ${messageOf(error)}`;
    throw new TransientError('DatabaseInUse', message, { cause: error });
  }
  if (await existsByGet(work)) throw stillShown(`database "${name}"`);
}

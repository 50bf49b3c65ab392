import { messageOf, TransientError } from '../../base/errors.ts';
import { type ApiError, isRefused } from '../../http/api-error.ts';
import { LET_GO } from '../../kube/annotations.ts';
import { isLately } from '../absences.ts';
import { confirm } from '../confirm.ts';
import { serverAccess } from '../server/access.ts';
import { isAbsentFromServer, stillShown } from '../server/servers.ts';
import { notShownYet } from './decide-existence.ts';
import { existsByGet, existsByGetOrList } from './exists.ts';
import { type DatabaseStep, type DatabaseSubject, isOurs } from './observation.ts';
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
 * take a database that somebody else creates for ours. If one was ours before, whatever appears under its name is anyway.
 */
async function create(work: Work, keep: (facts: DatabaseStatusPatch) => void): Promise<DatabaseStatusPatch> {
  const { world, subject, access, name, signal } = work;
  const { operation } = subject.status;
  if (operation === undefined) throw new Error(`Creating database "${name}" was not written down first`);
  await confirm(world.api, DATABASES, subject, signal);
  const { memory, clock, servers } = world;
  const { attempts } = memory;
  const madeAtMs = attempts.lastMadeAtMs(subject.key, operation);
  const first = madeAtMs === undefined;
  const ours = isOurs(subject, { name, identity: access.identity });
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
    if (!ours && attempts.isRefusal(subject.key, operation, error)) keep({ operation: null });
    if (!isRefused(error)) throw error;
    // Refused because it exists: by an earlier attempt, if there may have been one.
    if (await existsByGet(work)) return {};
    if (attempts.doneAtMs(subject.key, operation) !== undefined)
      throw new TransientError('CreatingDatabase', notShownYet(name), { cause: error });
    if (ours || isLately(madeAtMs, clock.now())) throw perhapsThere(name, error);
    throw error;
  }
  // Ready will say that it exists, and nobody looks again for minutes: so look now.
  if (await existsByGet(work)) return { ...NO_SCHEMA, name, cluster: access.identity, operation: null };
  throw new TransientError('CreatingDatabase', notShownYet(name));
}

/** A server that refuses the name, which it accepted before, may have the database and not show it. */
function perhapsThere(name: string, cause: ApiError): TransientError {
  const message = `The server does not show database "${name}", and refuses to create it, perhaps because it is there: Mooring tries again. If this persists, check the server. ${messageOf(cause)}`;
  return new TransientError('CreatingDatabase', message, { cause });
}

async function remove(work: Work): Promise<undefined> {
  const { world, subject, access, name, signal } = work;
  await confirm(world.api, DATABASES, subject, signal);
  const { servers } = world;
  const askedAt = world.clock.monotonic();
  try {
    await servers.asAdmin(access, (client, token) => client.deleteDatabase(token, name, signal, askedAt), signal);
  } catch (error) {
    if (await isAbsentFromServer(error, () => existsByGetOrList(work))) {
      const message = `The server no longer shows database "${name}", which it showed a moment ago: Mooring looks again`;
      throw new TransientError('NotFound', message);
    }
    const message = `The server does not delete database "${name}" now, as is usual while transactions are open: Mooring tries again. If this persists, end what uses it. ${LET_GO}. ${messageOf(error)}`;
    throw new TransientError('DatabaseInUse', message, { cause: error });
  }
  world.memory.absences.deleted(subject, world.clock);
  if (await existsByGet(work)) throw stillShown(`database "${name}"`);
}

import { parseStatus } from '../../kube/definition.ts';
import { objectKey } from '../../kube/object.ts';
import { LANDED_MS } from '../password-tries.ts';
import { ADMIN_ANNOTATIONS, type SecretContents } from '../secrets.ts';
import { isOurSecret } from './login-of.ts';
import { adminSecretName, type ClusterSubject } from './observation.ts';
import { databaseClusterDefinition } from './schema.ts';
import type { ClusterWorld } from './world.ts';

/*
 * The login may stand in another Secret than the spec names now: a name is changed, and taken back on the way, and of what was
 * put last nobody may have heard. So none of them is followed instead of another one: which of them works is found by trying.
 */

type Read = (name: string) => Promise<SecretContents | undefined>;

/** The Secrets beside the wanted one that the login may come from, the likelier first, as far as they are of the object that they should be of. */
export async function readFormer(
  world: ClusterWorld,
  subject: ClusterSubject,
  wanted: SecretContents | undefined,
  signal: AbortSignal,
): Promise<readonly SecretContents[]> {
  const namespace = subject.metadata.namespace ?? '';
  const secretName = adminSecretName(subject);
  const readOf = async (owner: Pick<ClusterSubject, 'metadata' | 'status'>, name: string) => {
    const secret = await world.secrets.read(namespace, name, signal);
    return secret !== undefined && isOurSecret(owner, secret) ? secret : undefined;
  };
  const seen = new Set([secretName]);
  const found: SecretContents[] = [];
  for (const from of [world.memory.putElsewhere(subject.key, secretName), movedTo(wanted), ...recordedIn(subject)]) {
    const moves = await readMoves(from, seen, (name) => readOf(subject, name));
    found.push(...moves.toReversed());
  }
  return subject.status.credentials === undefined ? [...found, ...(await ofSource(world, subject, readOf))] : found;
}

/** The Secrets that the status tells of: whatever the server was given can be found from these. */
export function recordedIn({ status }: Pick<ClusterSubject, 'status'>): readonly string[] {
  return [status.credentials?.secretName, status.unverifiedSecretName].filter((name) => name !== undefined);
}

/** A Secret beside the wanted one, and for how long still a call may come to an end that gives it the login. */
export interface LeftSecret {
  readonly name: string;
  /** Undefined: no call can. 0: none can any more since the login was last tried. */
  readonly landsForMs: number | undefined;
}

/**
 * The Secret that the status tells of beside the wanted one, where it tells of both, so that either is found without the other. The
 * server may have been given its coming password, and take it though nobody waits for the answer any more.
 */
export async function readLeft(
  world: ClusterWorld,
  subject: ClusterSubject,
  signal: AbortSignal,
): Promise<LeftSecret | undefined> {
  const { credentials } = subject.status;
  const { left } = world.memory;
  const secretName = adminSecretName(subject);
  const recorded = recordedIn(subject);
  const name = recorded.find((each) => each !== secretName);
  const isVerified = credentials?.secretName === secretName;
  if (name === undefined || !isVerified) left.forget(subject.key);
  if (name === undefined || credentials === undefined || !recorded.includes(secretName)) return undefined;
  const forMs = isVerified ? left.forMs(subject, world.clock.monotonic()) : 0;
  const secret = await world.secrets.read(subject.metadata.namespace ?? '', name, signal);
  const mayLand = secret !== undefined && isOurSecret(subject, secret) && secret.data.has('nextPassword');
  return { name, landsForMs: mayLand ? Math.max(0, LANDED_MS - forMs) : undefined };
}

/** The Secret of what was cloned. */
async function ofSource(
  world: ClusterWorld,
  { metadata, spec }: ClusterSubject,
  readOf: (owner: Pick<ClusterSubject, 'metadata' | 'status'>, name: string) => ReturnType<Read>,
): Promise<readonly SecretContents[]> {
  const cloned = spec.cloneFrom?.clusterRef?.name;
  const source = cloned === undefined ? undefined : world.cluster(objectKey(metadata.namespace ?? '', cloned));
  const status = parseStatus(databaseClusterDefinition, source?.status);
  const name = status.credentials?.secretName;
  if (source === undefined || name === undefined) return [];
  const secret = await readOf({ metadata: source.metadata, status }, name);
  return secret === undefined ? [] : [secret];
}

/** From this Secret on, each that the login was on its way to from the one before, but for those that were seen. */
export async function readMoves(
  first: string | undefined,
  seen: Set<string>,
  read: Read,
): Promise<readonly SecretContents[]> {
  const moves: SecretContents[] = [];
  let name = first;
  while (name !== undefined && !seen.has(name)) {
    seen.add(name);
    const secret = await read(name);
    if (secret !== undefined) moves.push(secret);
    name = movedTo(secret);
  }
  return moves;
}

function movedTo(secret: SecretContents | undefined): string | undefined {
  return secret?.annotations[ADMIN_ANNOTATIONS.movedTo];
}

import { parseStatus } from '../../kube/definition.ts';
import { objectKey } from '../../kube/object.ts';
import { LANDED_MS } from '../password-tries.ts';
import { ADMIN_ANNOTATIONS, type Login, type SecretContents } from '../secrets.ts';
import { isOurSecret } from './login-of.ts';
import { adminSecretName, type ClusterSubject } from './observation.ts';
import { databaseClusterDefinition } from './schema.ts';
import type { ClusterWorld } from './world.ts';

/*
 * The login may stand in another Secret than the spec names now: a name is changed, and taken back on the way, and of what was
 * put last nobody may have heard. So none of them is followed instead of another one: which of them works is found by trying.
 */

type Read = (name: string) => Promise<SecretContents | undefined>;

/** Other Secrets than `wanted` that may hold the login, the likeliest first: this object's own, and of a clone that is new its source's. */
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

/** Where the status records the wanted Secret and another one, the other one; undefined: it records one at most, or not the wanted one. */
export function otherThanWanted(subject: Pick<ClusterSubject, 'metadata' | 'spec' | 'status'>): string | undefined {
  const secretName = adminSecretName(subject);
  const recorded = recordedIn(subject);
  if (subject.status.credentials === undefined || !recorded.includes(secretName)) return undefined;
  return recorded.find((name) => name !== secretName);
}

/**
 * For how long still the password of another Secret may take the place of the wanted one's: the server may have been given it, and carry
 * that out late. 0: no more, or this process does not know, so it is time to look; undefined: there is no other Secret, or the login
 * was not verified in the wanted one yet.
 */
export function otherLandsForMs(
  { clock, memory: { left } }: ClusterWorld,
  subject: ClusterSubject,
): number | undefined {
  if (otherThanWanted(subject) === undefined || !isVerified(subject)) {
    left.forget(subject.key);
    return undefined;
  }
  const forMs = left.elapsedMs(subject, clock.monotonic());
  return forMs === undefined ? 0 : Math.max(0, LANDED_MS - forMs);
}

/** In the wanted Secret: from then on nothing is put for another one. */
function isVerified(subject: ClusterSubject): boolean {
  return subject.status.credentials?.secretName === adminSecretName(subject);
}

/** What becomes of the Secrets beside the wanted one where the login works. */
export interface LeftSecrets {
  /** They may go, in this order: what is left of them at any moment is found still. */
  readonly retire?: readonly string[];
  /** For how long still a call may come to an end that gives the login to one of them. */
  readonly landsForMs?: number;
}

/** `found`: as `readFormer` has just found them. */
export function leftOf(
  { clock, memory: { left, tries } }: ClusterWorld,
  subject: ClusterSubject,
  found: readonly { readonly secretName: string; readonly next: Login | undefined }[],
): LeftSecrets {
  const other = otherThanWanted(subject);
  if (other === undefined) return {};
  const mayLand = found.some(({ next }) => next !== undefined && !tries.isUnsent(subject.key, next));
  const forMs = mayLand && isVerified(subject) ? left.begin(subject, clock.monotonic()) : 0;
  if (mayLand && forMs < LANDED_MS) return { landsForMs: LANDED_MS - forMs };
  return { retire: [...new Set([...found.map(({ secretName }) => secretName), other])] };
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

export function movedTo(secret: SecretContents | undefined): string | undefined {
  return secret?.annotations[ADMIN_ANNOTATIONS.movedTo];
}

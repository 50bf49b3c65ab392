import { parseStatus } from '../../../kube/definition.ts';
import { objectKey } from '../../../kube/object.ts';
import { LANDED_MS } from '../../password-tries.ts';
import { ADMIN_ANNOTATIONS, type Login, type SecretContents } from '../../secrets.ts';
import { adminSecretName } from '../identity.ts';
import type { ClusterSubject } from '../observation.ts';
import type { ClusterRecord } from '../record.ts';
import { databaseClusterDefinition } from '../schema.ts';
import type { LocalWork } from '../work.ts';
import type { ClusterWorld } from '../world.ts';
import { isOurSecret } from './login-of.ts';

/*
 * The login may be in a Secret other than the one that the spec names now: a name may be changed, and changed back halfway, and
 * nobody may have heard what was set last. So no record counts more than another: trying shows which of them works.
 */

type Read = (name: string) => Promise<SecretContents | undefined>;

/** Secrets other than `wanted` that may hold the login, the likeliest first: this object's own, and for a new clone its source's. */
export async function readFormer(
  { world, subject, signal }: LocalWork,
  wanted: SecretContents | undefined,
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

/** The Secrets that the status records: from these, whatever the server was given can be found. */
export function recordedIn({ status }: Pick<ClusterSubject, 'status'>): readonly string[] {
  return [status.credentials?.secretName, status.unverifiedSecretName].filter((name) => name !== undefined);
}

/** If the status records the wanted Secret and another one, the other one; undefined otherwise. */
export function otherThanWanted(subject: ClusterRecord): string | undefined {
  const secretName = adminSecretName(subject);
  const recorded = recordedIn(subject);
  if (!recorded.includes(secretName)) return undefined;
  return recorded.find((name) => name !== secretName);
}

/**
 * For how much longer another Secret's password may replace the wanted one's: the server may have been given it, and act on it late.
 * 0: no longer, or this process does not know, so it is time to look; undefined: there is no other Secret, or the login was not
 * verified in the wanted one yet.
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

/** Whether the login was verified in the wanted Secret: from then on, no password is set for another one. */
function isVerified(subject: ClusterSubject): boolean {
  return subject.status.credentials?.secretName === adminSecretName(subject);
}

/** What becomes of the Secrets besides the wanted one once the login works. */
interface LeftSecrets {
  /** They can be deleted, in this order: at any moment, what is left of them can still be found. */
  readonly retire?: readonly string[];
  /** For how much longer a running call may give the login to one of them. */
  readonly landsForMs?: number;
}

/** `found`: what `readFormer` has just returned. */
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

/** The Secret of the cluster that was cloned. */
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

/** Returns this Secret and those that the login moved on to from it, one after the other, except those already seen. */
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

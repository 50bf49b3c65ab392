import { isDeepStrictEqual } from 'node:util';
import * as z from 'zod';
import type { OwnerReference } from '../../../kube/object.ts';
import type { SecretChanges, SecretContents } from '../../secrets.ts';
import { SECRET_ANNOTATIONS } from './annotations.ts';
import type { WantedSecret } from './content.ts';

/* What must change in a connection Secret. */

/** Returns what makes the Secret as wanted; undefined: it is. Labels, annotations and owners that others have put there stay. */
export function changesTo(secret: SecretContents, wanted: WantedSecret): SecretChanges | undefined {
  const [labelsBefore, annotationsBefore] = appliedTo(secret);
  const data = difference(secret.data, wanted.data, [...secret.data.keys()], secret.notText);
  const labels = difference(asMap(secret.labels), wanted.labels, labelsBefore);
  const annotations = difference(asMap(secret.annotations), wanted.annotations, [
    ...annotationsBefore,
    ...Object.values(SECRET_ANNOTATIONS),
  ]);
  const owners = ownersOf(secret, wanted.owner);
  const changes = {
    ...(data === undefined ? {} : { data }),
    ...(labels === undefined ? {} : { labels }),
    ...(annotations === undefined ? {} : { annotations }),
    ...(owners === undefined ? {} : { ownerReferences: owners }),
  };
  return Object.keys(changes).length === 0 ? undefined : changes;
}

/** `ours`: keys that are removed if they are not wanted. */
function difference(
  found: ReadonlyMap<string, string>,
  wanted: Readonly<Record<string, string>>,
  ours: readonly string[],
  unreadable: ReadonlySet<string> = new Set(),
): Record<string, string | null> | undefined {
  // Any key may be called as something that every object has, such as `constructor`.
  const gone = ours.filter((key) => found.has(key) && !Object.hasOwn(wanted, key));
  const set = Object.entries(wanted).filter(([key, value]) => found.get(key) !== value || unreadable.has(key));
  if (gone.length === 0 && set.length === 0) return undefined;
  return { ...Object.fromEntries(set), ...Object.fromEntries(gone.map((key) => [key, null])) };
}

function asMap(record: Readonly<Record<string, string>>): ReadonlyMap<string, string> {
  return new Map(Object.entries(record));
}

/** Returns the keys of the labels and of the annotations that came from the spec when the Secret was written. */
function appliedTo({ annotations }: SecretContents): readonly [readonly string[], readonly string[]] {
  const parsed = appliedSchema.safeParse(annotations[SECRET_ANNOTATIONS.applied]);
  return parsed.success ? parsed.data : [[], []];
}

const appliedSchema = z
  .string()
  .transform((text, context) => {
    try {
      return JSON.parse(text) as unknown;
    } catch {
      context.addIssue('This is not JSON');
      return z.NEVER;
    }
  })
  .pipe(z.tuple([z.array(z.string()), z.array(z.string())]));

/**
 * Returns the owners to write; undefined: they are right. An owner of the same name is this object before it was restored.
 * Kubernetes accepts only one controller, so one that somebody else has put there stays the only one.
 */
function ownersOf({ ownerReferences }: SecretContents, owner: OwnerReference): readonly OwnerReference[] | undefined {
  const identityOf = ({ apiVersion, kind, name, uid }: OwnerReference) => ({ apiVersion, kind, name, uid });
  const same = ownerReferences.filter(({ kind, name }) => kind === owner.kind && name === owner.name);
  if (same.length === 1 && same.every((each) => isDeepStrictEqual(identityOf(each), identityOf(owner))))
    return undefined;
  const others = ownerReferences.filter((other) => !same.includes(other));
  return [...others, others.some(({ controller }) => controller === true) ? identityOf(owner) : owner];
}

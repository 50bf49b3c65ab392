import * as z from 'zod';
import { ROTATION_ANNOTATIONS, type Rotated, type Rotation, untilRotation } from './rotation.ts';
import type { SecretContents } from './secrets.ts';

/*
 * A password is replaced before the status can say so, and each replacement ends all sessions: none may be made twice. So the Secret
 * notes, in the very write that makes the new password its own, what the status is to say of it, and what that said before. As long as
 * it says that, it was not told, whatever crashed or was refused.
 */

const FIELDS = ['lastRotation', 'lastHandledRotateAt'] as const;

/** Of each: what the status said before, and what it is to say; null: nothing. */
const schema = z.object({
  lastRotation: z.tuple([z.string().nullable(), z.iso.datetime()]).optional(),
  lastHandledRotateAt: z.tuple([z.string().nullable(), z.string().nullable()]).optional(),
});

/** For the Secret, in ROTATION_ANNOTATIONS. `rotation`: what the status is to say. Undefined: nothing, so there is nothing to note. */
export function recordOf({ status }: Pick<Rotated, 'status'>, rotation: Partial<Rotation> | undefined) {
  if (rotation === undefined) return undefined;
  const told = FIELDS.filter((name) => rotation[name] !== undefined);
  return JSON.stringify(Object.fromEntries(told.map((name) => [name, [status[name] ?? null, rotation[name]]])));
}

/**
 * Returns what the status should say of the rotation that the Secret notes, if that is the one which seems to be due; undefined: one
 * is due. `every`: a duration.
 */
export function madeBefore(
  { metadata, status }: Rotated,
  every: string | undefined,
  secret: Pick<SecretContents, 'annotations'> | undefined,
  nowMs: number,
): Partial<Rotation> | undefined {
  const untold = untoldOf(status, secret?.annotations[ROTATION_ANNOTATIONS.made]);
  if (untold.length === 0) return undefined;
  const told = { ...status, ...Object.fromEntries(untold.map(([name, after]) => [name, after ?? undefined])) };
  const inMs = untilRotation({ metadata, status: told }, every, nowMs);
  return inMs !== undefined && inMs <= 0 ? undefined : Object.fromEntries(untold);
}

function untoldOf(
  status: Rotated['status'],
  record: string | undefined,
): readonly (readonly [string, string | null])[] {
  const noted = schema.safeParse(parsed(record));
  if (!noted.success) return [];
  return FIELDS.flatMap((name) => {
    const [before, after] = noted.data[name] ?? [null, null];
    return before !== after && (status[name] ?? null) === before ? [[name, after] as const] : [];
  });
}

/** Undefined: it is no JSON. Anybody may have written it. */
function parsed(record: string | undefined): unknown {
  try {
    return JSON.parse(record ?? '');
  } catch {
    return undefined;
  }
}

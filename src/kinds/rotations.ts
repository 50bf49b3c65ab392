import type { ObjectKey } from '../kube/object.ts';
import type { Rotated, Rotation } from './rotation.ts';

/** What the status should say of the last rotation, and does not; undefined: nothing. */
export type Unrecorded = Partial<Rotation> | undefined;

interface Keyed extends Rotated {
  readonly key: ObjectKey;
}

interface Made {
  readonly uid: string;
  readonly rotation: Partial<Rotation>;
  /** What the status said before: as long as it says that, the rotation was not recorded. */
  readonly before: Rotated['status'];
}

/**
 * The last rotation of each object that this process has made. The password is replaced before the status can say so, and if the
 * status cannot be written, or does not keep what is written, the same rotation must not be made again and again: each one ends all
 * sessions. Losing this costs one rotation.
 */
export class Rotations {
  readonly #made = new Map<ObjectKey, Made>();

  /** Called when the coming password has become the one in use. `rotation`: what the status should say; undefined: nothing. */
  made({ key, metadata: { uid }, status }: Keyed, rotation: Partial<Rotation> | undefined): void {
    const { lastRotation, lastHandledRotateAt } = status;
    if (rotation !== undefined) this.#made.set(key, { uid, rotation, before: { lastRotation, lastHandledRotateAt } });
  }

  unrecorded({ key, metadata, status }: Keyed): Unrecorded {
    const known = this.#made.get(key);
    if (known?.uid !== metadata.uid) return undefined;
    const { rotation, before } = known;
    const fields = (['lastRotation', 'lastHandledRotateAt'] as const).filter(
      (field) =>
        rotation[field] !== undefined &&
        status[field] === before[field] &&
        (rotation[field] ?? undefined) !== status[field],
    );
    return fields.length === 0 ? undefined : Object.fromEntries(fields.map((field) => [field, rotation[field]]));
  }

  forget(key: ObjectKey): void {
    this.#made.delete(key);
  }
}

/** Returns the subject as if its status said what is not recorded yet. */
export function asRotated<Subject extends Pick<Rotated, 'status'>>(subject: Subject, unrecorded: Unrecorded): Subject {
  if (unrecorded === undefined) return subject;
  const { lastRotation, lastHandledRotateAt } = { ...subject.status, ...unrecorded };
  return {
    ...subject,
    status: { ...subject.status, lastRotation, lastHandledRotateAt: lastHandledRotateAt ?? undefined },
  };
}

import { recordOf } from '../../base/is-record.ts';
import { definitions } from '../../kinds/definitions.ts';
import { PAUSED, ROTATE_AT } from '../../kube/annotations.ts';
import { findStatusCondition } from '../../kube/condition.ts';
import type { ResourceDefinition } from '../../kube/definition.ts';
import { UsageError } from '../command-line/arguments.ts';
import type { Inventory } from '../inventory.ts';
import { type Item, isOutOfDate, nameOf, readyOf, stalledOf } from '../item.ts';
import { blockerOf } from '../tree.ts';

/** A change that a person makes with one word, and how to tell that it is done. */
export interface Change {
  /** The kinds that it applies to. */
  readonly kinds: readonly string[];
  readonly about: string;
  /** What is set, in words. It stays set if nobody waits any more. */
  readonly sets: string;
  /** A merge patch. `value`: different each time. */
  patch(value: string): object;
  /** The outcome in words; undefined: not done yet. `before`: the object when the change was made. */
  outcome(item: Item, value: string, before: Item): string | undefined;
  /** It is done once it is set, whether or not the operator has looked. */
  readonly isOnlySet?: true;
  /** What is going on, if the object itself does not show it; undefined if it does. */
  progress?(item: Item, value: string): string | undefined;
  /** Reports whether the operator has certainly not begun, for changes that the object's generation does not show. */
  isIdle?(item: Item, value: string): boolean;
}

const ALL = definitions.map(({ kind }) => kind);
const annotate = (name: string, value: string | null) => ({ metadata: { annotations: { [name]: value } } });

export const CHANGES: Readonly<Record<string, Change>> = {
  rotate: {
    kinds: ['DatabaseCluster', 'DatabaseUser'],
    about: 'replaces the password with a new one now',
    sets: `annotation ${ROTATE_AT}`,
    patch: (value) => annotate(ROTATE_AT, value),
    outcome: (item, value, before) => {
      // Recorded once the new password is in the Secret beside the old one; done once the Secret was verified again.
      const done = isBegun(item, value) && verifiedSecret(item) !== verifiedSecret(before);
      return done ? `Rotated: the new password is in ${secretOf(item)}, and works` : undefined;
    },
    // One password works at every moment, so the object is Ready throughout.
    progress: (item, value) => {
      if (readyOf(item)?.status !== 'True') return undefined;
      return isBegun(item, value) ? 'The new password is being put in place' : 'Waiting for Mooring to begin';
    },
    isIdle: (item, value) => readyOf(item)?.status === 'True' && !isBegun(item, value),
  },
  suspend: {
    kinds: ['DatabaseCluster'],
    about: 'suspends the cluster: its servers stop, its data stays',
    sets: 'state: Suspended',
    patch: () => ({ spec: { state: 'Suspended' } }),
    outcome: (item) => reached(item, 'Suspended'),
  },
  resume: {
    kinds: ['DatabaseCluster'],
    about: 'resumes the cluster',
    sets: 'state: Running',
    patch: () => ({ spec: { state: 'Running' } }),
    outcome: (item) => reached(item, 'Running'),
  },
  pause: {
    kinds: ALL,
    about: 'makes Mooring only look and report, and change nothing',
    sets: `annotation ${PAUSED}`,
    patch: () => annotate(PAUSED, 'true'),
    isOnlySet: true,
    outcome: () => 'Paused: Mooring only looks and reports, and changes nothing until kubectl mooring unpause',
  },
  unpause: {
    kinds: ALL,
    about: 'lets Mooring make changes again',
    sets: `no annotation ${PAUSED}`,
    patch: () => annotate(PAUSED, null),
    isOnlySet: true,
    outcome: (item) =>
      item.metadata.annotations?.[PAUSED] === undefined ? 'Unpaused: Mooring makes changes again' : undefined,
  },
};

/** Throws UsageError if the change does not apply to the kind. */
export function checkKind(name: string, { kinds }: Change, { kind }: ResourceDefinition): void {
  if (!kinds.includes(kind)) throw new UsageError(`${name} does not work on a ${kind}, only on ${kinds.join(', ')}`);
}

function reached(item: Item, reason: string): string | undefined {
  const ready = readyOf(item);
  const there =
    !isOutOfDate(item) && ready?.observedGeneration === item.metadata.generation && ready?.status === 'True';
  return there && ready.reason === reason ? ready.message : undefined;
}

/** Why waiting longer is useless: a person must act. */
export function failureOf(item: Item): string | undefined {
  if (isOutOfDate(item)) return undefined;
  const ready = readyOf(item);
  // What differs, and is left so, waits for nothing.
  const isLeft = ready?.status === 'False' && findStatusCondition(item.conditions, 'Reconciling') === undefined;
  const reported = stalledOf(item) ?? (isLeft ? ready : undefined);
  return reported && `${reported.reason}: ${reported.message}`;
}

/** The line shown while waiting; if another object is waited for, what that one is doing. */
export function progressOf(inventory: Inventory, item: Item): string {
  const ready = readyOf(item);
  if (ready === undefined || isOutOfDate(item)) return 'Waiting for Mooring to look at it';
  const blocker = blockerOf(inventory, item);
  const away = blocker !== undefined && blocker.name !== nameOf(item);
  return away
    ? `Waiting for ${blocker.name}: ${blocker.reason}: ${blocker.message}`
    : `${ready.reason}: ${ready.message}`;
}

/** Reports whether a rotation has begun. */
function isBegun({ status }: Item, value: string): boolean {
  return status['lastHandledRotateAt'] === value;
}

/** The resource version of the Secret whose password was last verified. */
function verifiedSecret(item: Item): unknown {
  return verified(item)['secretResourceVersion'];
}

function secretOf(item: Item): string {
  const { secretName } = verified(item);
  return typeof secretName === 'string' ? `Secret "${secretName}"` : 'the Secret';
}

function verified({ status }: Item): Readonly<Record<string, unknown>> {
  return recordOf(status['connection'] ?? status['credentials']);
}

import type { Clock } from '../../src/base/clock.ts';
import { SECRETS } from '../../src/kube/api.ts';
import type { OwnerReference } from '../../src/kube/object.ts';
import type { FakeKube, FakeObject } from '../../src/sandbox/fake-kube.ts';
import { KINDS } from './view.ts';

const SECOND_MS = 1_000;
/** Kubernetes learns by its own watches, and so some time later, that an object has lost its owner. */
const SOON_MS = 2 * SECOND_MS;
const LATE_MS = 30 * SECOND_MS;

/** Kubernetes' garbage collector: deletes a Secret with owners after the last of them. */
export class Garbage {
  readonly #clock: Clock;
  readonly #kube: FakeKube;
  /** How late it is, from 0 to 1. */
  readonly #delay: () => number;

  constructor(clock: Clock, kube: FakeKube, delay: () => number) {
    this.#clock = clock;
    this.#kube = kube;
    this.#delay = delay;
  }

  /** Called when something may have lost its owner. */
  collectSoon(): void {
    this.#clock.after(SOON_MS + this.#delay() * (LATE_MS - SOON_MS), () => this.#collect());
  }

  /** Compares uids: an object that was created again with the same name is no owner. */
  #collect(): void {
    const kube = this.#kube;
    const living = new Set(KINDS.flatMap((resource) => kube.all(resource)).map(({ metadata: { uid } }) => uid));
    for (const secret of kube.all(SECRETS)) {
      const owners = ownersOf(secret);
      if (owners.length > 0 && !owners.some(({ uid }) => living.has(uid))) kube.remove(SECRETS, secret.metadata);
    }
  }
}

export function ownersOf({ metadata }: FakeObject): readonly OwnerReference[] {
  return (metadata as { readonly ownerReferences?: readonly OwnerReference[] }).ownerReferences ?? [];
}

import { GROUP } from '../../src/base/group.ts';
import { isPaused } from '../../src/kube/annotations.ts';
import type { AnyObject } from '../../src/kube/api.ts';
import type { Process } from './process.ts';
import { KINDS } from './view.ts';
import type { World } from './world.ts';

interface Unheld {
  /** Processes that have heard of it since, and when. */
  readonly told: Map<Process, number>;
  /** A write that puts the finalizer back is on its way, or was lost. */
  isTried: boolean;
}

/** If calls take time: how long a process may take to finish its work and put the finalizer back. */
const IN_HAND_MS = 10_000;

/**
 * Objects whose finalizers a person removed, until one of ours is back. If such an object is deleted before the operator could put its
 * own back, what it stands for is left behind. Nobody can prevent that: docs/reliability.md names this limit.
 */
export class UnheldObjects {
  readonly #world: World;
  readonly #byUID = new Map<string, Unheld>();

  constructor(world: World) {
    this.#world = world;
  }

  add(uid: string): void {
    this.#byUID.set(uid, { told: new Map(), isTried: false });
  }

  has(uid: string): boolean {
    return this.#byUID.has(uid);
  }

  /** Forgets objects that have a finalizer of ours again: from then on nothing is excused. */
  seeHeldAgain(): void {
    if (this.#byUID.size === 0) return;
    for (const { metadata } of KINDS.flatMap((resource) => this.#world.view.objects(resource)))
      if (isHeld(metadata)) this.#byUID.delete(metadata.uid);
  }

  /** The process hears of the object as it is. */
  told(process: Process, { metadata }: Pick<AnyObject, 'metadata'>): void {
    const unheld = isHeld(metadata) ? undefined : this.#byUID.get(metadata.uid);
    if (unheld !== undefined && !unheld.told.has(process)) unheld.told.set(process, this.#world.clock.monotonic());
  }

  /** A write of its finalizers begins, or has `arrived`: from then on the operator is responsible. */
  tried(uid: string | undefined, arrived: boolean): void {
    const unheld = this.#byUID.get(uid ?? '');
    if (unheld !== undefined) unheld.isTried = !arrived;
  }

  /**
   * Reports whether nobody could have put the finalizer back: no process that may act had heard of it and was free to act, or
   * the write did not arrive, or a person had paused the object.
   */
  isExcused({ metadata }: Pick<AnyObject, 'metadata'>): boolean {
    const unheld = this.#byUID.get(metadata.uid);
    if (unheld === undefined) return false;
    if (unheld.isTried || isPaused(metadata)) return true;
    const { clock, takesTime } = this.#world;
    const heardBefore = clock.monotonic() - (takesTime ? IN_HAND_MS : 0);
    return ![...unheld.told].some(([process, at]) => mayAct(process) && at <= heardBefore);
  }
}

function mayAct({ alive, isStill, fence }: Process): boolean {
  return alive && isStill !== true && fence() === undefined;
}

function isHeld({ finalizers = [] }: Pick<AnyObject['metadata'], 'finalizers'>): boolean {
  return finalizers.some((finalizer) => finalizer.startsWith(`${GROUP}/`));
}

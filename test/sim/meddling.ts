import type { Resource } from '../../src/kube/api.ts';
import type { FakeObject } from '../../src/sandbox/fake-kube.ts';
import { refOf, statusOf } from './view.ts';
import type { World } from './world.ts';

const FINALIZER = 'example.com/backup';
/** Such as a policy controller writes onto objects of any kind. */
const CONDITION = 'Audited';
export const MEDDLING_MS = 300_000;

interface Put {
  readonly resource: Resource;
  readonly uid: string;
  readonly name: string;
  /** False for an object that is being deleted: no finalizer can be added then. */
  readonly hasFinalizer: boolean;
}

/** Another controller, which for some time has a finalizer and a condition of its own on an object of ours. */
export class Meddling {
  readonly #world: World;
  readonly #put = new Map<string, Put>();

  constructor(world: World) {
    this.#world = world;
  }

  async begin(name: string, resource: Resource): Promise<void> {
    const object = this.#world.view.object(name, resource);
    if (object === undefined || this.#put.has(object.metadata.uid)) return;
    const { uid, deletionTimestamp } = object.metadata;
    const hasFinalizer = deletionTimestamp === undefined;
    await this.#write(object, resource, true, hasFinalizer);
    this.#put.set(uid, { resource, uid, name, hasFinalizer });
    this.#world.clock.after(MEDDLING_MS, () => void this.#end(uid));
  }

  /** A person has replaced the object by its manifest, which removes everybody's finalizers. */
  replaced(uid: string): void {
    const put = this.#put.get(uid);
    if (put !== undefined) this.#put.set(uid, { ...put, hasFinalizer: false });
  }

  /** Describes what the other controller wrote and has been lost. */
  *missing(): Iterable<string> {
    for (const { resource, uid, name, hasFinalizer } of this.#put.values()) {
      const object = this.#find(resource, uid);
      if (hasFinalizer && object?.metadata.finalizers?.includes(FINALIZER) !== true)
        yield `The finalizer that another controller has on ${name} is gone`;
      if (object !== undefined && !hasCondition(object)) yield `The condition of another controller on ${name} is gone`;
    }
  }

  async #end(uid: string): Promise<void> {
    const put = this.#put.get(uid);
    this.#put.delete(uid);
    const object = put && this.#find(put.resource, uid);
    if (put !== undefined && object !== undefined) await this.#write(object, put.resource, false, put.hasFinalizer);
  }

  #find(resource: Resource, uid: string): FakeObject | undefined {
    return this.#world.view.objects(resource).find(({ metadata }) => metadata.uid === uid);
  }

  /** Writes the finalizer last, as the object may go with it. */
  async #write(object: FakeObject, resource: Resource, stands: boolean, withFinalizer: boolean): Promise<void> {
    const { kube, invariants } = this.#world;
    const { namespace = '', name, finalizers = [] } = object.metadata;
    const ref = refOf(`${namespace}/${name}`);
    const others = (statusOf(object).conditions ?? []).filter(({ type }) => type !== CONDITION);
    const own = { type: CONDITION, status: 'True', reason: 'Seen', message: '', lastTransitionTime: NEVER };
    const conditions = stands ? [...others, own] : others;
    const kept = finalizers.filter((finalizer) => finalizer !== FINALIZER);
    await invariants.peopleWrite(() =>
      kube.patch(resource, ref, { status: { conditions } }, { subresource: 'status' }),
    );
    if (!withFinalizer) return;
    const metadata = { finalizers: stands ? [...kept, FINALIZER] : kept };
    await invariants.peopleWrite(() => kube.patch(resource, ref, { metadata }));
  }
}

const NEVER = '1970-01-01T00:00:00Z';

function hasCondition(object: FakeObject): boolean {
  return statusOf(object).conditions?.some(({ type }) => type === CONDITION) === true;
}

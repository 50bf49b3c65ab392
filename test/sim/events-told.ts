import { EVENTS } from '../../src/kube/api.ts';
import type { FakeObject } from '../../src/sandbox/fake-kube.ts';
import { KINDS, statusOf } from './view.ts';
import type { World } from './world.ts';

/** What was seen of one object's Ready. */
interface Told {
  readonly name: string;
  readonly namespace: string | undefined;
  last: string;
  /** How often Ready has changed to each reason. */
  readonly times: Map<string, number>;
  /** Reasons of changes for which an Event could be written, and when each first came. */
  readonly toBeTold: Map<string, number>;
}

/** How long an Event may be on its way. If its namespace begins to terminate meanwhile, it comes too late. */
const ON_ITS_WAY_MS = 5_000;

/** Compares Events with changes of Ready: at most one for each change, as some are lost, and none without a change. */
export class EventsTold {
  readonly #world: World;
  /** What was seen of each object, by uid. */
  readonly #ready = new Map<string, Told>();

  constructor(world: World) {
    this.#world = world;
  }

  /** Must be called after each effect, as each change counts. */
  *tooMany(): Iterable<string> {
    const { view, kube } = this.#world;
    const objects = KINDS.flatMap((resource) => view.objects(resource));
    for (const object of objects) this.#look(object);
    // What an object said last, right before it went, may not have been seen.
    const uids = new Set(objects.map(({ metadata }) => metadata.uid));
    const told = new Map<string, number>();
    for (const event of kube.all(EVENTS)) {
      const { regarding, reason, series } = event as unknown as Event;
      const name = reasonOf({ regarding, reason });
      const count = (told.get(name) ?? 0) + (series?.count ?? 1);
      told.set(name, count);
      // Other Events do not report Ready.
      const times = this.#ready.get(regarding.uid)?.times.get(reason);
      if (times !== undefined && count > times && uids.has(regarding.uid))
        yield `${count} Events report that ${regarding.name} is ${reason}, which it became ${times} times`;
    }
  }

  /** Describes missing Events. For runs in which nothing is lost, and no process ends before it has sent them. */
  *untold(): Iterable<string> {
    const told = new Set(this.#world.kube.all(EVENTS).map((event) => reasonOf(event as unknown as Event)));
    for (const [uid, { name, namespace, toBeTold }] of this.#ready)
      for (const [reason, at] of toBeTold)
        if (!told.has(`${uid} ${reason}`) && !this.#isTerminating(namespace, at + ON_ITS_WAY_MS))
          yield `No Event reports that ${name} became ${reason}`;
  }

  #look(object: FakeObject): void {
    const { uid, name, namespace } = object.metadata;
    const ready = statusOf(object).conditions?.find(({ type }) => type === 'Ready');
    const seen = this.#ready.get(uid) ?? { name, namespace, last: '', times: new Map(), toBeTold: new Map() };
    this.#ready.set(uid, seen);
    const is = `${ready?.status} ${ready?.reason}`;
    if (ready === undefined || is === seen.last) return;
    seen.last = is;
    if (this.#world.people.repeatsOriginal(object)) return;
    seen.times.set(ready.reason, (seen.times.get(ready.reason) ?? 0) + 1);
    const now = this.#world.clock.monotonic();
    if (!this.#isTerminating(namespace, now) && !seen.toBeTold.has(ready.reason)) seen.toBeTold.set(ready.reason, now);
  }

  #isTerminating(namespace: string | undefined, at: number): boolean {
    return (this.#world.people.terminatingSince(namespace) ?? Number.POSITIVE_INFINITY) <= at;
  }
}

function reasonOf({ regarding, reason }: Event): string {
  return `${regarding.uid} ${reason}`;
}

interface Event {
  readonly regarding: { readonly uid: string; readonly name: string };
  readonly reason: string;
  readonly series?: { readonly count: number };
}

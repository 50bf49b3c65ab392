/*
 * A cached collection, client-go's SharedInformer: one reflector per namespace, or one for all, a store that they fill, and handlers that
 * hear of each change. `transform` is its TransformFunc, `synced` its HasSynced, and `onChange` its AddEventHandler, except that a handler
 * hears nothing of what is there already: add it before `run`. It has no resync and no Indexer.
 */

import { forAll } from '../base/errors.ts';
import type { AnyObject } from '../kube/api.ts';
import { ListUnderWay } from '../kube/list-under-way.ts';
import { keyOf, type ObjectKey, splitKey } from '../kube/object.ts';
import { type ReflectorEvent, type ReflectorOptions, runReflector } from './reflector.ts';
import { Store, type StoreChange } from './store.ts';

/** Only what `transform` returns of an object is kept in memory. */
export interface InformerOptions<T> extends Omit<ReflectorOptions<T>, 'namespace' | 'name' | 'onEvent'> {
  /** Undefined: all. */
  readonly namespaces: readonly string[] | undefined;
}

/** A cached collection, as above. */
export class Informer<T extends AnyObject> {
  readonly store: Store<T>;
  readonly #options: InformerOptions<T>;
  readonly #handlers: StoreChange<T>[] = [];
  /** Scopes whose first list has not ended. */
  readonly unsynced: Set<string | undefined>;
  /** By scope, the list that is under way. */
  readonly #listings = new Map<string | undefined, ListUnderWay<T>>();
  readonly #synced = Promise.withResolvers<void>();
  readonly synced = this.#synced.promise;

  constructor(options: InformerOptions<T>) {
    this.#options = options;
    // An error of one handler is reported as a failure of the watch. The others must hear of the change now: it is not reported again.
    this.store = new Store((...change) => forAll(this.#handlers, (handler) => handler(...change)));
    this.unsynced = new Set(options.namespaces ?? [undefined]);
  }

  hasSynced(): boolean {
    return this.unsynced.size === 0;
  }

  onChange(handler: StoreChange<T>): void {
    this.#handlers.push(handler);
  }

  /** Like Store.applyOwnWrite, for an answer as received. */
  applyOwnWrite(answer: AnyObject): void {
    for (const listing of this.#listings.values()) listing.wrote(keyOf(answer));
    this.store.applyOwnWrite(this.#options.transform(answer));
  }

  /** Runs until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    const follow = (namespace: string | undefined) =>
      runReflector({ ...this.#options, namespace, onEvent: (event) => this.take(namespace, event) }, signal);
    await Promise.all((this.#options.namespaces ?? [undefined]).map(follow));
  }

  /** Takes in what a reflector reports, or somebody who knows that there is nothing to list. */
  async take(namespace: string | undefined, event: ReflectorEvent<T>): Promise<void> {
    switch (event.type) {
      case 'listing':
        this.#listings.set(namespace, new ListUnderWay(event.isNewest, this.#listings.get(namespace)));
        return;
      case 'applied': {
        const isTaken = this.store.apply(event.object);
        this.#listings.get(namespace)?.told(event.object, isTaken);
        return;
      }
      case 'listed': {
        const here = (key: ObjectKey) => this.store.get(key);
        await this.store.goBack(this.#listings.get(namespace)?.replacing(here, event.resourceVersion) ?? []);
        this.#listings.delete(namespace);
        const isOurs = (key: ObjectKey) => namespace === undefined || splitKey(key).namespace === namespace;
        await this.store.retain(event.keys, isOurs);
        if (this.unsynced.delete(namespace) && this.hasSynced()) this.#synced.resolve();
        return;
      }
      case 'deleted':
        this.store.delete(event.object);
        return;
      default:
        event satisfies never;
    }
  }
}

import { isDeepStrictEqual } from 'node:util';
import { frozen, frozenCopy } from '../base/immutable.ts';
import { instant } from '../base/instant.ts';
import { type Random, uuid } from '../base/random.ts';
import {
  type AnyObject,
  type KubeApi,
  KubeError,
  type ListOptions,
  type ObjectRef,
  type Resource,
  type WatchEvent,
  type WatchOptions,
} from '../kube/api.ts';
import type { StructuralSchema } from '../kube/crd/structural-schema.ts';
import { FakeHistory } from './fake-kube-history.ts';
import { asStored, type FakeObject, refuseChange, refused, refuseInvalid } from './fake-object.ts';
import { jsonPatch } from './json-patch.ts';
import { mergePatch } from './merge-patch.ts';
import { pruned } from './pruned.ts';

export interface FakeKubeOptions {
  readonly now: () => number;
  readonly random: Random;
  /** Plurals whose status is written only through the subresource, with the status that a new object gets. */
  readonly statusDefaults?: Readonly<Record<string, object>>;
  /** What CRDs know of a status, by plural: other fields are dropped. Absent: all are kept. */
  readonly statusSchemas?: Readonly<Record<string, StructuralSchema>>;
  /** Whether a watch can begin with a list of what exists. Default: true. */
  readonly streamsLists?: boolean;
  /** Called for a patch that changed nothing. */
  readonly onUnchanged?: (resource: Resource, ref: ObjectRef) => void;
  /** Called for an object that is gone. */
  readonly onRemoved?: (object: FakeObject) => void;
}

export type { FakeObject };

/**
 * The part of a Kubernetes API server that KubeApi uses, in memory. Its behaviour was measured on a real one, and the suite
 * in test/contract holds both to it.
 */
export class FakeKube implements KubeApi {
  readonly #options: FakeKubeOptions;
  readonly #objects = new Map<string, FakeObject>();
  /** The contents of each collection that was read since its last change. */
  readonly #collections = new Map<string, readonly FakeObject[]>();
  readonly #terminating = new Set<string>();
  readonly #history = new FakeHistory();
  /** Lists answer as of this version if they may; undefined: as of now. */
  #laggingAt: number | undefined;

  constructor(options: FakeKubeOptions) {
    this.#options = options;
  }

  async get(
    resource: Resource,
    ref: ObjectRef,
    _signal?: AbortSignal,
    options?: { readonly metadataOnly?: boolean },
  ): Promise<FakeObject | undefined> {
    const object = this.#objects.get(pathOf(resource, ref));
    return object === undefined || options?.metadataOnly !== true ? object : { metadata: object.metadata };
  }

  async list(resource: Resource, options: ListOptions) {
    const { limit = Number.POSITIVE_INFINITY, notOlderThan } = options;
    // Pages come from the database itself.
    if (options.limit === undefined && notOlderThan === undefined) this.#history.refuseIfInitializing();
    const version = this.#history.version;
    const from = notOlderThan === undefined ? version : this.#asOldAs(notOlderThan);
    const [start, asOf] = (options.continueToken ?? `0/${from}`).split('/').map(Number);
    if (start === undefined || asOf === undefined) throw refused(400, 'BadRequest', 'continue token is invalid');
    if (options.continueToken !== undefined && asOf < this.#history.oldest)
      throw refused(410, 'Expired', 'The provided continue parameter is too old');
    // All pages of a list are of its first page's version.
    const all =
      asOf === version ? this.all(resource, options.namespace) : this.#allAsOf(resource, options.namespace, asOf);
    const found = options.name === undefined ? all : all.filter(({ metadata }) => metadata.name === options.name);
    const items = found.slice(start, start + limit).map((object) => shown(object, options.metadataOnly));
    const end = start + items.length;
    return {
      items,
      resourceVersion: String(asOf),
      continueToken: end < found.length ? `${end}/${asOf}` : undefined,
    };
  }

  watch(resource: Resource, options: WatchOptions, signal?: AbortSignal): AsyncIterable<WatchEvent> {
    const { namespace, name, metadataOnly, sendInitialEvents, resourceVersion = '0' } = options;
    const { streamsLists = true } = this.#options;
    if (sendInitialEvents && !streamsLists) throw refused(422, 'Invalid', 'sendInitialEvents: Forbidden');
    // A real server waits until its cache is new enough, and then begins. This one may begin with less, which is the harder case.
    const after = sendInitialEvents ? this.#asOldAs(resourceVersion) : Number(resourceVersion);
    return this.#history.follow(
      { plural: resource.plural, namespace, name, after, sendInitialEvents },
      (event) => (event.type === 'BOOKMARK' ? event : { ...event, object: shown(event.object, metadataOnly) }),
      signal,
    );
  }

  async create(resource: Resource, namespace: string, object: unknown): Promise<FakeObject> {
    const wanted = asStored(resource, object as FakeObject);
    refuseInvalid(wanted);
    const { metadata, ...rest } = wanted;
    const { name } = metadata;
    const path = pathOf(resource, { namespace, name });
    if (this.#terminating.has(namespace)) {
      const message = `namespace ${namespace} is being terminated`;
      throw new KubeError(message, { status: 403, reason: 'Forbidden', causes: ['NamespaceTerminating'] });
    }
    if (this.#objects.has(path)) throw refused(409, 'AlreadyExists', `${resource.plural} "${name}" already exists`);
    const status = this.#options.statusDefaults?.[resource.plural];
    if (status !== undefined) delete (rest as { status?: unknown }).status;
    const created = {
      ...rest,
      metadata: {
        ...metadata,
        namespace,
        uid: uuid(this.#options.random),
        ...(counts(resource) ? { generation: 1 } : {}),
        creationTimestamp: instant(this.#options.now()),
      },
      ...(status === undefined ? {} : { status }),
    };
    return this.#store(resource, path, 'ADDED', created);
  }

  async patch(
    resource: Resource,
    ref: ObjectRef,
    patch: unknown,
    options?: { readonly subresource?: 'status' },
  ): Promise<FakeObject> {
    const path = pathOf(resource, ref);
    const before = this.#objects.get(path);
    if (before === undefined) throw refused(404, 'NotFound', `${resource.plural} "${ref.name}" not found`);
    const merged = (Array.isArray(patch) ? jsonPatch(before, patch) : mergePatch(before, patch)) as
      | FakeObject
      | undefined;
    if (merged === undefined) throw refused(422, 'Invalid', 'the server rejected our request');
    if (merged.metadata.resourceVersion !== before.metadata.resourceVersion) {
      throw refused(409, 'Conflict', 'the object has been modified; please apply your changes to the latest version');
    }
    const hasStatus = this.#options.statusDefaults?.[resource.plural] !== undefined;
    if (options?.subresource === 'status') {
      if (!hasStatus) throw refused(404, 'NotFound', 'the server could not find the requested resource');
      const status = { ...before, status: this.#pruned(resource, merged['status']) };
      if (isDeepStrictEqual(status, before)) return this.#unchanged(resource, ref, before);
      return this.#store(resource, path, 'MODIFIED', status);
    }
    const wanted = asStored(resource, hasStatus ? { ...merged, status: before['status'] } : merged);
    refuseChange(before, wanted);
    if (isDeepStrictEqual(wanted, before)) return this.#unchanged(resource, ref, before);
    const { metadata } = wanted;
    if (metadata.deletionTimestamp !== undefined && (metadata.finalizers ?? []).length === 0) {
      // What is reported is as it was last stored, with the finalizer.
      this.#remove(resource, path, before);
      return wanted;
    }
    if (!counts(resource)) return this.#store(resource, path, 'MODIFIED', wanted);
    const generation =
      (before.metadata.generation ?? 0) + (isDeepStrictEqual(payload(wanted), payload(before)) ? 0 : 1);
    return this.#store(resource, path, 'MODIFIED', { ...wanted, metadata: { ...metadata, generation } });
  }

  async delete(resource: Resource, ref: ObjectRef, preconditions: { readonly uid: string }): Promise<boolean> {
    const path = pathOf(resource, ref);
    const object = this.#objects.get(path);
    if (object === undefined) return false;
    if (preconditions.uid !== object.metadata.uid) throw refused(409, 'Conflict', 'Precondition failed: UID');
    this.#delete(resource, path, object);
    return true;
  }

  // What happens on a real server without KubeApi.

  /** Stores an object as it is, such as a copy from elsewhere. Only its resource version is this server's own. */
  put(resource: Resource, object: AnyObject): FakeObject {
    const { namespace = '', name } = object.metadata;
    return this.#store(resource, pathOf(resource, { namespace, name }), 'ADDED', object as FakeObject);
  }

  /** All objects of a collection now. */
  all(resource: Resource, namespace?: string): readonly FakeObject[] {
    const prefix = `${resource.plural}/${namespace === undefined ? '' : `${namespace}/`}`;
    const known = this.#collections.get(prefix);
    if (known !== undefined) return known;
    const paths: string[] = [];
    for (const path of this.#objects.keys()) if (path.startsWith(prefix)) paths.push(path);
    const found = paths.sort().flatMap((path) => this.#objects.get(path) ?? []);
    this.#collections.set(prefix, found);
    return found;
  }

  /** Deletes as a person does: by name alone. */
  remove(resource: Resource, ref: ObjectRef): void {
    const path = pathOf(resource, ref);
    const object = this.#objects.get(path);
    if (object !== undefined) this.#delete(resource, path, object);
  }

  /** From now on nothing can be created in the namespace. */
  terminate(namespace: string): void {
    this.#terminating.add(namespace);
  }

  /** Forgets history: an earlier watch or continue token gets a 410. */
  compact(): void {
    this.#history.compact();
  }

  /** From now on lists are as old as they may be: as of now, or as of the version that they must not be older than. */
  lag(): void {
    this.#laggingAt = this.#history.version;
  }

  catchUp(): void {
    this.#laggingAt = undefined;
  }

  get version(): number {
    return this.#history.version;
  }

  /**
   * As after `etcdutl snapshot restore --bump-revision --mark-compacted`: objects are as they were at that version, with the versions
   * that they had, and the server's own is far later. Until `initialized`, no watch or whole list begins.
   */
  restore(version: number): void {
    this.#objects.clear();
    this.#collections.clear();
    for (const { plural, event } of this.#history.restore(version)) {
      const path = pathOf({ plural }, event.object.metadata);
      if (event.type === 'DELETED') this.#objects.delete(path);
      // The history only holds objects that were stored here.
      else this.#objects.set(path, event.object as FakeObject);
    }
  }

  /** Ends every watch. Until `initialized`, neither a new one nor a list in one answer begins, and then watches only from the newest version. */
  restart(): void {
    this.#history.restart();
  }

  initialized(): void {
    this.#history.initialized();
  }

  /** Sends a bookmark on every watch. */
  bookmark(): void {
    this.#history.bookmark();
  }

  /** Ends every watch, as the server's time limit does. */
  closeWatches(): void {
    this.#history.closeWatches();
  }

  get watches(): number {
    return this.#history.watches;
  }

  #pruned({ plural }: Resource, status: unknown): unknown {
    const schema = this.#options.statusSchemas?.[plural];
    return schema === undefined ? status : pruned(status ?? {}, schema);
  }

  #forgetCollections({ plural }: Resource): void {
    for (const prefix of this.#collections.keys())
      if (prefix.startsWith(`${plural}/`)) this.#collections.delete(prefix);
  }

  /** The version of an answer that must be at least as new as the given one. */
  #asOldAs(notOlderThan: string): number {
    const version = this.#history.version;
    if (Number(notOlderThan) > version) {
      const causes = ['ResourceVersionTooLarge'];
      throw new KubeError('Too large resource version', {
        status: 504,
        reason: 'Timeout',
        retryAfterMs: 1_000,
        causes,
      });
    }
    return this.#laggingAt === undefined ? version : Math.max(Number(notOlderThan), this.#laggingAt);
  }

  #unchanged(resource: Resource, ref: ObjectRef, object: FakeObject): FakeObject {
    this.#options.onUnchanged?.(resource, ref);
    return object;
  }

  #allAsOf({ plural }: Resource, namespace: string | undefined, version: number): readonly FakeObject[] {
    // The history only holds objects that were stored here.
    return this.#history.asOf({ plural, namespace, version }) as readonly FakeObject[];
  }

  #delete(resource: Resource, path: string, object: FakeObject): void {
    if ((object.metadata.finalizers ?? []).length === 0) {
      this.#remove(resource, path, object);
      return;
    }
    if (object.metadata.deletionTimestamp !== undefined) return;
    const generation = (object.metadata.generation ?? 0) + 1;
    const metadata = {
      ...object.metadata,
      ...(counts(resource) ? { generation } : {}),
      deletionTimestamp: instant(this.#options.now()),
    };
    this.#store(resource, path, 'MODIFIED', { ...object, metadata });
  }

  #remove(resource: Resource, path: string, object: FakeObject): void {
    this.#objects.delete(path);
    this.#forgetCollections(resource);
    const resourceVersion = this.#history.next();
    const last = frozen({ ...object, metadata: { ...object.metadata, resourceVersion } });
    this.#history.record(resource.plural, { type: 'DELETED', object: last });
    this.#options.onRemoved?.(object);
  }

  #store(
    resource: Resource,
    path: string,
    type: 'ADDED' | 'MODIFIED',
    object: Omit<FakeObject, 'metadata'> & { readonly metadata: object },
  ): FakeObject {
    const metadata = { ...object.metadata, resourceVersion: this.#history.next() };
    const stored = frozenCopy({ ...object, metadata }) as unknown as FakeObject;
    this.#objects.set(path, stored);
    this.#forgetCollections(resource);
    this.#history.record(resource.plural, { type, object: stored });
    return stored;
  }
}

/** Built-in kinds count generations only if they have a spec that a controller acts on; Secrets, ConfigMaps, Leases do not. */
function counts(resource: Resource): boolean {
  return !['', 'coordination.k8s.io', 'events.k8s.io'].includes(resource.group);
}

function pathOf(resource: Pick<Resource, 'plural'>, ref: ObjectRef): string {
  return `${resource.plural}/${ref.namespace ?? ''}/${ref.name}`;
}

function shown(object: AnyObject, metadataOnly: boolean | undefined): AnyObject {
  return metadataOnly ? { metadata: object.metadata } : object;
}

function payload({ metadata: _, status: __, ...rest }: FakeObject): unknown {
  return rest;
}

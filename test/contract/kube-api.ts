import { expect, onTestFinished, test } from 'vitest';
import {
  type AnyObject,
  EVENTS,
  isAlreadyExists,
  isConflict,
  isGone,
  isNamespaceTerminating,
  isNotFound,
  type KubeApi,
  KubeError,
  type ListOptions,
  type Resource,
  SECRETS,
  type WatchEvent,
} from '../../src/kube/api.ts';
import { LEASES } from '../../src/kube/lease.ts';
import { anEvent, aSecret, aSpace, FINALIZER, SPACES } from './objects.ts';

/** A Kubernetes API under test, and what KubeApi cannot do to it. */
export interface Subject {
  readonly api: KubeApi;
  /** A namespace of its own for each test. */
  makeNamespace(): Promise<string>;
  /** Starts to delete it; it stays for as long as something in it is held by a finalizer. */
  terminateNamespace(namespace: string): Promise<void>;
}

/** What is asked of both, the fake and the real one: a test of the operator on the fake is worth as much as this. */
export function kubeApiContract(open: () => Promise<Subject>): void {
  /** A space in a namespace of its own, and short ways to look at it. */
  async function aCase(metadata: object = {}) {
    const { api, makeNamespace, terminateNamespace } = await open();
    const namespace = await makeNamespace();
    const ref = { namespace, name: 'one' };
    const object = await api.create(SPACES, namespace, aSpace('one', metadata));
    const patch = (change: object) => api.patch(SPACES, ref, change);
    const patchStatus = (change: object) => api.patch(SPACES, ref, change, { subresource: 'status' });
    return { api, namespace, ref, object, patch, patchStatus, terminate: () => terminateNamespace(namespace) };
  }

  test('get() answers undefined where there is none, and what is there with uid and version', async () => {
    const { api, ref, object } = await aCase();
    expect(await api.get(SPACES, { ...ref, name: 'two' })).toBeUndefined();
    expect(await api.get(SPACES, ref)).toEqual(object);
    expect(object.metadata).toMatchObject({
      name: 'one',
      namespace: ref.namespace,
      uid: expect.stringMatching(/^[0-9a-f-]{36}$/),
      resourceVersion: expect.stringMatching(/^\d+$/),
      generation: 1,
      creationTimestamp: expect.stringMatching(/^[-0-9]{10}T[0-9:]{8}Z$/),
    });
  });

  test('get() of metadata has no contents', async () => {
    const { api, namespace } = await aCase();
    await api.create(SECRETS, namespace, aSecret('a', { password: Buffer.from('canary').toString('base64') }));
    const secret = await api.get(SECRETS, { namespace, name: 'a' }, undefined, { metadataOnly: true });
    expect(secret?.metadata.labels).toEqual({ app: 'contract' });
    expect(Object.keys(secret ?? {})).not.toContain('data');
  });

  test('list() of a name finds what is called so, in whatever namespace', async () => {
    const { api, namespace } = await aCase();
    await api.create(SPACES, namespace, aSpace('two'));
    const named = async (options: ListOptions) => (await api.list(SPACES, { ...options, name: 'two' })).items;
    expect((await named({ namespace })).map(({ metadata }) => metadata.name)).toEqual(['two']);
    const everywhere = (await named({})).map(({ metadata }) => `${metadata.namespace}/${metadata.name}`);
    expect(everywhere).toContain(`${namespace}/two`);
    expect(everywhere.filter((key) => !key.endsWith('/two'))).toEqual([]);
  });

  test('create() gives a kind of ours the status of an object that nobody has looked at', async () => {
    const { object } = await aCase();
    expect(object).toMatchObject({ status: { observedGeneration: -1 } });
  });

  test('create() refuses a name that is taken', async () => {
    const { api, namespace } = await aCase();
    const error = await errorOf(api.create(SPACES, namespace, aSpace('one')));
    expect([isAlreadyExists(error), isConflict(error)]).toEqual([true, false]);
  });

  test.each<[string, object]>([
    ['a label key', { metadata: { labels: { 'bad key': 'x' } } }],
    ['a label key that is empty', { metadata: { labels: { '': 'x' } } }],
    ['a label value', { metadata: { labels: { a: 'bad value!' } } }],
    ['a label value that is too long', { metadata: { labels: { a: 'x'.repeat(64) } } }],
    ['an annotation key', { metadata: { annotations: { 'a/b/c': 'x' } } }],
    ['a key of a Secret', { data: { '..': '' } }],
  ])('%s that is none is refused, be it of a new object or of an old one', async (_, wrong) => {
    const { api, namespace } = await aCase();
    const { metadata = {}, ...rest } = wrong as { readonly metadata?: object };
    const created = api.create(SECRETS, namespace, {
      ...aSecret('new'),
      ...rest,
      metadata: { name: 'new', ...metadata },
    });
    expect(statusOf(await errorOf(created))).toBe(422);
    await api.create(SECRETS, namespace, aSecret('old'));
    expect(statusOf(await errorOf(api.patch(SECRETS, { namespace, name: 'old' }, wrong)))).toBe(422);
  });

  test('Labels, annotations and keys of a Secret may be all that Kubernetes takes', async () => {
    const { api, namespace } = await aCase();
    const labels = { 'example.com/a.b': '', A_1: 'x.y_Z-0', [`${'a'.repeat(253)}/a`]: 'x'.repeat(63) };
    const annotations = { 'Example.com/A': 'any text!' };
    const secret = { ...aSecret('a', { '.a..b': '' }), metadata: { name: 'a', labels, annotations } };
    expect(await api.create(SECRETS, namespace, secret)).toMatchObject({ metadata: { labels, annotations } });
  });

  test('In a namespace that is being deleted nothing can be created', async () => {
    const { api, namespace, terminate, patch } = await aCase({ finalizers: [FINALIZER] });
    await terminate();
    const late: readonly (readonly [Resource, object])[] = [
      [SECRETS, aSecret('late')],
      [EVENTS, anEvent('late', namespace)],
      [LEASES, { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { name: 'late' }, spec: {} }],
      [SPACES, aSpace('late')],
      // That it is there already is not looked at any more.
      [SPACES, aSpace('one')],
    ];
    for (const [resource, object] of late) {
      const error = await errorOf(api.create(resource, namespace, object));
      expect([resource.plural, isNamespaceTerminating(error), statusOf(error)]).toEqual([resource.plural, true, 403]);
    }
    await patch({ metadata: { finalizers: null } }).catch(() => {});
  });

  test('In a namespace that is being deleted what is held can be changed, and its status written', async () => {
    const { api, namespace, terminate, patch, patchStatus } = await aCase({ finalizers: [FINALIZER] });
    const secret = { ...aSecret('held'), metadata: { name: 'held', finalizers: [FINALIZER] } };
    await api.create(SECRETS, namespace, secret);
    await terminate();
    expect(await patchStatus({ status: { observedGeneration: 5 } })).toMatchObject({
      status: { observedGeneration: 5 },
    });
    const ref = { namespace, name: 'held' };
    const data = { password: Buffer.from('new').toString('base64') };
    expect(await api.patch(SECRETS, ref, { data })).toMatchObject({ data });
    await api.patch(SECRETS, ref, { metadata: { finalizers: null } });
    await patch({ metadata: { finalizers: null } }).catch(() => {});
  });

  test('patch() with the uid of another object is refused, and changes nothing', async () => {
    const { api, ref, object, patch } = await aCase();
    const metadata = { uid: '00000000-0000-4000-8000-000000000000', labels: { a: 'b' } };
    expect([409, 422]).toContain(statusOf(await errorOf(patch({ metadata }))));
    expect(await api.get(SPACES, ref)).toEqual(object);
  });

  test('patch() of a missing object answers that there is none', async () => {
    const { api, ref } = await aCase();
    const change = { metadata: { finalizers: [FINALIZER] } };
    expect(isNotFound(await errorOf(api.patch(SPACES, { ...ref, name: 'two' }, change)))).toBe(true);
  });

  test('patch() that changes nothing keeps the version', async () => {
    const { patch, patchStatus } = await aCase({ labels: { a: 'b' } });
    // Once for real: the first to write a field that a default filled becomes its owner, which counts as a change.
    const { metadata } = await patchStatus({ status: { observedGeneration: 1 } });
    for (const answer of [
      await patch({ metadata: { labels: { a: 'b' } }, spec: { teamID: 'acme' } }),
      await patchStatus({ status: { observedGeneration: 1 } }),
    ]) {
      expect(answer.metadata.resourceVersion).toBe(metadata.resourceVersion);
    }
  });

  test('patch() raises the version with each change, the generation only with one of the spec', async () => {
    const { object, patch, patchStatus } = await aCase();
    const labelled = await patch({ metadata: { labels: { a: 'b' } } });
    const told = await patchStatus({ status: { observedGeneration: 1 } });
    const changed = await patch({ spec: { pollInterval: '45s' } });
    const versions = [object, labelled, told, changed].map(({ metadata }) => Number(metadata.resourceVersion));
    expect(versions).toEqual(versions.toSorted((one, other) => one - other));
    expect(new Set(versions).size).toBe(4);
    expect([labelled, told, changed].map(({ metadata }) => metadata.generation)).toEqual([1, 1, 2]);
  });

  test('patch() merges: null removes, lists are replaced whole', async () => {
    const { patch } = await aCase({ labels: { a: '1', b: '2' }, finalizers: [`${FINALIZER}-a`] });
    const { metadata } = await patch({
      metadata: { labels: { a: null, c: '3' }, finalizers: [`${FINALIZER}-b`, `${FINALIZER}-c`] },
    });
    expect(metadata.labels).toEqual({ b: '2', c: '3' });
    expect(metadata.finalizers).toEqual([`${FINALIZER}-b`, `${FINALIZER}-c`]);
    await patch({ metadata: { finalizers: null } });
  });

  test('patch() with an outdated version is refused, of the object and of its status', async () => {
    const { object, patch, patchStatus, api, ref } = await aCase();
    await patch({ metadata: { labels: { a: 'b' } } });
    const metadata = { resourceVersion: object.metadata.resourceVersion };
    expect(isConflict(await errorOf(patch({ metadata, spec: { pollInterval: '45s' } })))).toBe(true);
    expect(isConflict(await errorOf(patchStatus({ metadata, status: { observedGeneration: 9 } })))).toBe(true);
    expect(await api.get(SPACES, ref)).toMatchObject({
      metadata: { generation: 1 },
      status: { observedGeneration: -1 },
    });
  });

  test('patch() of the status changes nothing else, and patch() of the object not the status', async () => {
    const { patch, patchStatus } = await aCase();
    const told = await patchStatus({
      metadata: { labels: { a: 'b' } },
      spec: { teamID: 'other' },
      status: { observedGeneration: 3 },
    });
    expect(told).toMatchObject({ spec: { teamID: 'acme' }, status: { observedGeneration: 3 } });
    expect(told.metadata.labels).toBeUndefined();
    const changed = await patch({ status: { observedGeneration: 4 } });
    expect(changed).toMatchObject({ status: { observedGeneration: 3 } });
    expect(changed.metadata.resourceVersion).toBe(told.metadata.resourceVersion);
  });

  test('patch() of the status pays no heed to a uid', async () => {
    const { patchStatus } = await aCase();
    const metadata = { uid: '00000000-0000-4000-8000-000000000000' };
    expect(await patchStatus({ metadata, status: { observedGeneration: 3 } })).toMatchObject({
      status: { observedGeneration: 3 },
    });
  });

  test('delete() with the uid of another object is refused, and of none says so', async () => {
    const { api, ref, object } = await aCase();
    const uid = '00000000-0000-4000-8000-000000000000';
    expect(isConflict(await errorOf(api.delete(SPACES, ref, { uid })))).toBe(true);
    expect(await api.delete(SPACES, ref, { uid: object.metadata.uid })).toBe(true);
    expect(await api.delete(SPACES, ref, { uid: object.metadata.uid })).toBe(false);
    expect(await api.get(SPACES, ref)).toBeUndefined();
  });

  test('delete() of what a finalizer holds marks it, and it goes with its last finalizer', async () => {
    const { api, ref, object, patch, patchStatus } = await aCase({ finalizers: [FINALIZER, `${FINALIZER}-b`] });
    await api.delete(SPACES, ref, { uid: object.metadata.uid });
    const marked = await api.get(SPACES, ref);
    expect(marked?.metadata).toMatchObject({
      deletionTimestamp: expect.stringMatching(/Z$/),
      generation: 2,
      uid: object.metadata.uid,
    });
    // It may still change while it waits.
    expect((await patch({ spec: { pollInterval: '45s' } })).metadata.generation).toBe(3);
    expect(await patchStatus({ status: { observedGeneration: 3 } })).toMatchObject({
      status: { observedGeneration: 3 },
    });
    const refused = await errorOf(patch({ metadata: { finalizers: [FINALIZER, `${FINALIZER}-new`] } }));
    expect(statusOf(refused)).toBe(422);
    await patch({ metadata: { finalizers: [FINALIZER] } });
    expect(await api.get(SPACES, ref)).toBeDefined();
    const last = await patch({ metadata: { finalizers: [] } });
    expect(last.metadata.finalizers ?? []).toEqual([]);
    expect(await api.get(SPACES, ref)).toBeUndefined();
    expect(isNotFound(await errorOf(patch({ metadata: { finalizers: null } })))).toBe(true);
  });

  test('An object that is created again under a name has another uid', async () => {
    const { api, ref, object } = await aCase();
    await api.delete(SPACES, ref, { uid: object.metadata.uid });
    const again = await api.create(SPACES, ref.namespace, aSpace('one'));
    expect(again.metadata.uid).not.toBe(object.metadata.uid);
    expect(again.metadata.generation).toBe(1);
  });

  test('list() comes in pages that together are all, of one version', async () => {
    const { api, namespace } = await aCase();
    for (const name of ['a', 'b', 'c', 'd', 'e']) await api.create(SECRETS, namespace, aSecret(name));
    const names: string[] = [];
    const versions = new Set<string>();
    let pages = 0;
    let continueToken: string | undefined;
    do {
      const page = await api.list(SECRETS, { namespace, limit: 2, continueToken });
      pages++;
      names.push(...page.items.map(({ metadata }) => metadata.name));
      versions.add(page.resourceVersion);
      continueToken = page.continueToken;
    } while (continueToken !== undefined);
    expect([names, pages, versions.size]).toEqual([['a', 'b', 'c', 'd', 'e'], 3, 1]);
  });

  test('list() of metadata has no contents', async () => {
    const { api, namespace } = await aCase();
    await api.create(SECRETS, namespace, aSecret('a', { password: Buffer.from('canary').toString('base64') }));
    const { items } = await api.list(SECRETS, { namespace, metadataOnly: true });
    expect(items.map(({ metadata }) => metadata.labels)).toEqual([{ app: 'contract' }]);
    expect(Object.keys(items[0] ?? {})).not.toContain('data');
  });

  test('list() is as new as asked', async () => {
    const { api, namespace } = await aCase();
    const { metadata } = await api.create(SECRETS, namespace, aSecret('a'));
    const page = await api.list(SECRETS, { namespace, notOlderThan: metadata.resourceVersion });
    expect(page.items.map((each) => each.metadata.name)).toEqual(['a']);
    expect(Number(page.resourceVersion)).toBeGreaterThanOrEqual(Number(metadata.resourceVersion));
  });

  test('list() of a version that is yet to come is refused, as too large', async () => {
    const { api, namespace, object } = await aCase();
    const notOlderThan = String(Number(object.metadata.resourceVersion) + 1_000_000);
    expect(statusOf(await errorOf(api.list(SPACES, { namespace, notOlderThan })))).toBe(504);
  });

  test('watch() tells all that happens after the version, in order, of its namespace and kind', async () => {
    const { api, namespace, ref, object, patch, patchStatus } = await aCase();
    const { resourceVersion } = await api.list(SPACES, { namespace });
    const events = watching(api, SPACES, { namespace }, resourceVersion, 4);
    await patch({ metadata: { labels: { a: 'b' } } });
    await patch({ metadata: { labels: { a: 'b' } } });
    await api.create(SECRETS, namespace, aSecret('unrelated'));
    await patchStatus({ status: { observedGeneration: 1 } });
    await api.delete(SPACES, ref, { uid: object.metadata.uid });
    await api.create(SPACES, namespace, aSpace('two'));
    const seen = await events;
    expect(seen.map(({ type, object: { metadata } }) => `${type} ${metadata.name}`)).toEqual([
      'MODIFIED one',
      'MODIFIED one',
      'DELETED one',
      'ADDED two',
    ]);
    const versions = seen.map((event) => Number(event.object.metadata.resourceVersion));
    expect(versions).toEqual(versions.toSorted((one, other) => one - other));
    // The version of a deletion is one of its own, newer than the last that the object had.
    expect(new Set(versions).size).toBe(4);
  });

  test('list() and watch() of one name tell of no other object', async () => {
    const { api, namespace, ref, object, patch } = await aCase();
    const scope = { namespace, name: ref.name };
    await api.create(SPACES, namespace, aSpace('two'));
    const { items } = await api.list(SPACES, { ...scope, limit: 500 });
    expect(items.map(({ metadata }) => metadata.name)).toEqual(['one']);
    const events = watching(api, SPACES, scope, object.metadata.resourceVersion, 2);
    await api.create(SPACES, namespace, aSpace('three'));
    await patch({ metadata: { labels: { a: 'b' } } });
    await api.delete(SPACES, ref, { uid: object.metadata.uid });
    expect((await events).map(({ type, object: { metadata } }) => `${type} ${metadata.name}`)).toEqual([
      'MODIFIED one',
      'DELETED one',
    ]);
    expect((await api.list(SPACES, scope)).items).toEqual([]);
  });

  test('watch() from an earlier version tells what happened since', async () => {
    const { api, namespace, object, patch } = await aCase();
    await patch({ metadata: { labels: { a: 'b' } } });
    const seen = await watching(api, SPACES, { namespace }, object.metadata.resourceVersion, 1);
    expect(seen[0]).toMatchObject({ type: 'MODIFIED', object: { metadata: { labels: { a: 'b' } } } });
  });

  test('watch() of metadata has no contents', async () => {
    const { api, namespace } = await aCase();
    const { resourceVersion } = await api.list(SECRETS, { namespace });
    const events = watching(api, SECRETS, { namespace }, resourceVersion, 1, true);
    await api.create(SECRETS, namespace, aSecret('a', { password: Buffer.from('canary').toString('base64') }));
    expect(Object.keys((await events)[0]?.object ?? {})).not.toContain('data');
  });

  test('watch() of metadata tells the deletion of what a finalizer held', async () => {
    const { api, namespace, ref, object, patch } = await aCase({ finalizers: [FINALIZER] });
    const events = watching(api, SPACES, { namespace }, object.metadata.resourceVersion, 2, true);
    await api.delete(SPACES, ref, { uid: object.metadata.uid });
    await patch({ metadata: { finalizers: null } });
    expect((await events).map(({ type }) => type)).toEqual(['MODIFIED', 'DELETED']);
  });

  test('watch() from a version that is forgotten is refused as gone', async () => {
    const { api, namespace } = await aCase();
    expect(isGone(await errorOf(watching(api, SPACES, { namespace }, '1', 1)))).toBe(true);
  });

  test('watch() with initial events tells all that is there, says so, and goes on', async () => {
    const { api, namespace, ref, patch } = await aCase();
    await api.create(SPACES, namespace, aSpace('two'));
    await api.create(SECRETS, namespace, aSecret('unrelated'));
    const { initial, next, resourceVersion } = await streaming(api, SPACES, { namespace });
    expect(initial.map(({ type, object: { metadata } }) => `${type} ${metadata.name}`).sort()).toEqual([
      'ADDED one',
      'ADDED two',
    ]);
    const { metadata } = await patch({ metadata: { labels: { a: 'b' } } });
    expect(await next()).toMatchObject({ type: 'MODIFIED', object: { metadata: { name: ref.name } } });
    expect(Number(resourceVersion)).toBeGreaterThanOrEqual(versionOf(initial[0]?.object));
    expect(Number(metadata.resourceVersion)).toBeGreaterThan(Number(resourceVersion));
  });

  test('watch() with initial events of an empty collection says that there is nothing, and what comes then', async () => {
    const { api, makeNamespace } = await open();
    const namespace = await makeNamespace();
    const { initial, next } = await streaming(api, SPACES, { namespace });
    expect(initial).toEqual([]);
    await api.create(SPACES, namespace, aSpace('one'));
    expect(await next()).toMatchObject({ type: 'ADDED', object: { metadata: { name: 'one' } } });
  });

  test('watch() with initial events is no older than the request, or than the version', async () => {
    const { api, namespace, ref, patch } = await aCase();
    for (const given of [undefined, 'given']) {
      const { metadata } = await patch({ metadata: { labels: { given: given ?? 'not' } } });
      const { initial } = await streaming(api, SPACES, { namespace }, given && metadata.resourceVersion);
      expect(initial.at(-1)?.object).toEqual(await api.get(SPACES, ref));
    }
  });

  test('watch() with initial events of metadata, and of one name, has no contents and no other', async () => {
    const { api, namespace } = await aCase();
    for (const name of ['a', 'b'])
      await api.create(SECRETS, namespace, aSecret(name, { password: Buffer.from('canary').toString('base64') }));
    const { initial } = await streaming(api, SECRETS, { namespace, name: 'a', metadataOnly: true });
    expect(initial.map(({ object: { metadata } }) => metadata.name)).toEqual(['a']);
    expect(Object.keys(initial[0]?.object ?? {})).not.toContain('data');
  });

  test('watch() with initial events of a version that is yet to come is refused, as too large', async () => {
    const { api, namespace, object } = await aCase();
    const version = String(Number(object.metadata.resourceVersion) + 1_000_000);
    expect(statusOf(await errorOf(streaming(api, SPACES, { namespace }, version)))).toBe(504);
  });

  test('watch() ends when the caller wants no more', async () => {
    const { api, namespace, object } = await aCase();
    const stop = new AbortController();
    const { resourceVersion } = object.metadata;
    const events = api.watch(SPACES, { namespace, resourceVersion, timeoutSeconds: 60 }, stop.signal);
    const ended = (async () => {
      for await (const _ of events);
    })().catch(() => {});
    stop.abort();
    await ended;
  });
}

/** The first `count` events that are no bookmarks. */
async function watching(
  api: KubeApi,
  resource: Resource,
  scope: { readonly namespace: string; readonly name?: string },
  resourceVersion: string,
  count: number,
  metadataOnly = false,
) {
  const seen: Exclude<WatchEvent, { type: 'BOOKMARK' }>[] = [];
  const stop = new AbortController();
  const options = { ...scope, resourceVersion, timeoutSeconds: 20, metadataOnly };
  for await (const event of api.watch(resource, options, stop.signal)) {
    if (event.type !== 'BOOKMARK') seen.push(event);
    if (seen.length === count) break;
  }
  return seen;
}

/** A watch with initial events, up to their end; it goes on as far as it is asked. */
async function streaming(
  api: KubeApi,
  resource: Resource,
  scope: { readonly namespace: string; readonly name?: string; readonly metadataOnly?: boolean },
  resourceVersion?: string,
) {
  const stop = new AbortController();
  onTestFinished(() => stop.abort());
  const options = { ...scope, resourceVersion, sendInitialEvents: true, timeoutSeconds: 20 };
  const events = api.watch(resource, options, stop.signal)[Symbol.asyncIterator]();
  const initial: Exclude<WatchEvent, { type: 'BOOKMARK' }>[] = [];
  const next = async () => (await events.next()).value as WatchEvent | undefined;
  for (;;) {
    const event = await next();
    if (event === undefined) throw new Error('It ended before all was told');
    if (event.type !== 'BOOKMARK') initial.push(event);
    else if (event.endsInitialEvents) return { initial, next, resourceVersion: event.resourceVersion };
  }
}

function versionOf(object: AnyObject | undefined): number {
  return Number(object?.metadata.resourceVersion);
}

async function errorOf(promise: Promise<unknown>): Promise<unknown> {
  try {
    await promise;
  } catch (error) {
    return error;
  }
  throw new Error('It was not refused');
}

function statusOf(error: unknown): number | undefined {
  return error instanceof KubeError ? error.status : undefined;
}

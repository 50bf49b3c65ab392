import { expect, onTestFinished, test } from 'vitest';
import { type AnyObject, isGone, type KubeApi, type Resource, SECRETS, type WatchEvent } from '../../src/kube/api.ts';
import { aCase, errorOf, type Subject, statusOf } from './case.ts';
import { aSecret, aSpace, FINALIZER, SPACES } from './objects.ts';

/** What is asked of watches, through which the operator learns of all changes. */
export function watchContract(open: () => Promise<Subject>): void {
  test('watch() reports everything that happens after the version, in order, for its namespace and kind', async () => {
    const { api, namespace, ref, object, patch, patchStatus } = await aCase(open);
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
    // A deletion has a version of its own, newer than the last one of the object.
    expect(new Set(versions).size).toBe(4);
  });

  test('list() and watch() of one name report no other object', async () => {
    const { api, namespace, ref, object, patch } = await aCase(open);
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

  test('watch() from an earlier version reports what happened since', async () => {
    const { api, namespace, object, patch } = await aCase(open);
    await patch({ metadata: { labels: { a: 'b' } } });
    const seen = await watching(api, SPACES, { namespace }, object.metadata.resourceVersion, 1);
    expect(seen[0]).toMatchObject({ type: 'MODIFIED', object: { metadata: { labels: { a: 'b' } } } });
  });

  test('watch() of metadata has no contents', async () => {
    const { api, namespace } = await aCase(open);
    const { resourceVersion } = await api.list(SECRETS, { namespace });
    const events = watching(api, SECRETS, { namespace }, resourceVersion, 1, true);
    await api.create(SECRETS, namespace, aSecret('a', { password: Buffer.from('canary').toString('base64') }));
    expect(Object.keys((await events)[0]?.object ?? {})).not.toContain('data');
  });

  test('watch() of metadata reports the deletion of an object that a finalizer held', async () => {
    const { api, namespace, ref, object, patch } = await aCase(open, { finalizers: [FINALIZER] });
    const events = watching(api, SPACES, { namespace }, object.metadata.resourceVersion, 2, true);
    await api.delete(SPACES, ref, { uid: object.metadata.uid });
    await patch({ metadata: { finalizers: null } });
    expect((await events).map(({ type }) => type)).toEqual(['MODIFIED', 'DELETED']);
  });

  test('watch() reports a deletion with the object as it was last stored: with its last finalizer', async () => {
    const { api, namespace, ref, object, patch } = await aCase(open, { finalizers: [FINALIZER] });
    const events = watching(api, SPACES, { namespace }, object.metadata.resourceVersion, 2);
    await api.delete(SPACES, ref, { uid: object.metadata.uid });
    await patch({ metadata: { finalizers: null, labels: { a: 'b' } } });
    const metadata = { finalizers: [FINALIZER], deletionTimestamp: expect.any(String) };
    const [marked, deleted] = await events;
    expect(deleted).toMatchObject({ type: 'DELETED', object: { metadata } });
    expect(deleted?.object.metadata.labels).toBeUndefined();
    expect(versionOf(deleted?.object)).toBeGreaterThan(versionOf(marked?.object));
  });

  test('watch() from a version to come reports only what is newer', async () => {
    const { api, namespace, object } = await aCase(open);
    const version = versionOf(object) + 20;
    const events = watching(api, SECRETS, { namespace }, String(version), 1);
    for (let index = 0; index <= 20; index++) await api.create(SECRETS, namespace, aSecret(`secret-${index}`));
    expect(versionOf((await events)[0]?.object)).toBeGreaterThan(version);
  });

  test('watch() from a version that has been compacted is refused as gone', async () => {
    const { api, namespace } = await aCase(open);
    expect(isGone(await errorOf(watching(api, SPACES, { namespace }, '1', 1)))).toBe(true);
  });

  test('watch() with initial events reports everything that exists, says so, and goes on', async () => {
    const { api, namespace, ref, patch } = await aCase(open);
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

  test('watch() with initial events of an empty collection says that there is nothing, and reports what comes then', async () => {
    const { api, makeNamespace } = await open();
    const namespace = await makeNamespace();
    const { initial, next } = await streaming(api, SPACES, { namespace });
    expect(initial).toEqual([]);
    await api.create(SPACES, namespace, aSpace('one'));
    expect(await next()).toMatchObject({ type: 'ADDED', object: { metadata: { name: 'one' } } });
  });

  test('watch() with initial events is no older than the request, or than the version', async () => {
    const { api, namespace, ref, patch } = await aCase(open);
    for (const given of [undefined, 'given']) {
      const { metadata } = await patch({ metadata: { labels: { given: given ?? 'not' } } });
      const { initial } = await streaming(api, SPACES, { namespace }, given && metadata.resourceVersion);
      expect(initial.at(-1)?.object).toEqual(await api.get(SPACES, ref));
    }
  });

  test('watch() with initial events of metadata, and of one name, has no contents and no other', async () => {
    const { api, namespace } = await aCase(open);
    for (const name of ['a', 'b'])
      await api.create(SECRETS, namespace, aSecret(name, { password: Buffer.from('canary').toString('base64') }));
    const { initial } = await streaming(api, SECRETS, { namespace, name: 'a', metadataOnly: true });
    expect(initial.map(({ object: { metadata } }) => metadata.name)).toEqual(['a']);
    expect(Object.keys(initial[0]?.object ?? {})).not.toContain('data');
  });

  test('watch() with initial events of a future version is refused, as too large', async () => {
    const { api, namespace, object } = await aCase(open);
    const version = String(Number(object.metadata.resourceVersion) + 1_000_000);
    expect(statusOf(await errorOf(streaming(api, SPACES, { namespace }, version)))).toBe(504);
  });

  test('watch() ends when the caller stops', async () => {
    const { api, namespace, object } = await aCase(open);
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

/** The first `count` events that are not bookmarks. */
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

/** A watch with initial events, up to their end; it continues as far as it is read. */
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
    if (event === undefined) throw new Error('It ended before it was complete');
    if (event.type !== 'BOOKMARK') initial.push(event);
    else if (event.endsInitialEvents) return { initial, next, resourceVersion: event.resourceVersion };
  }
}

function versionOf(object: AnyObject | undefined): number {
  return Number(object?.metadata.resourceVersion);
}

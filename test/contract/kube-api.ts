import { expect, test } from 'vitest';
import {
  EVENTS,
  isAlreadyExists,
  isConflict,
  isInvalid,
  isNamespaceTerminating,
  isNotFound,
  type ListOptions,
  type Resource,
  SECRETS,
} from '../../src/kube/api.ts';
import { LEASES, newLease } from '../../src/kube/lease.ts';
import { aCase, errorOf, type Subject, statusOf } from './case.ts';
import { anEvent, aSecret, aSpace, FINALIZER, SPACES } from './objects.ts';
import { storageContract } from './storage.ts';
import { watchContract } from './watches.ts';

/** What is asked of both the fake and the real API: a test of the operator on the fake is worth as much as this. */
export function kubeApiContract(open: () => Promise<Subject>): void {
  test('get() answers undefined if there is none, and otherwise the object with uid and version', async () => {
    const { api, ref, object } = await aCase(open);
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
    const { api, namespace } = await aCase(open);
    await api.create(SECRETS, namespace, aSecret('a', { password: Buffer.from('canary').toString('base64') }));
    const secret = await api.get(SECRETS, { namespace, name: 'a' }, undefined, { metadataOnly: true });
    expect(secret?.metadata.labels).toEqual({ app: 'contract' });
    expect(Object.keys(secret ?? {})).not.toContain('data');
  });

  test('list() of a name finds objects of that name, in any namespace', async () => {
    const { api, namespace } = await aCase(open);
    await api.create(SPACES, namespace, aSpace('two'));
    const named = async (options: ListOptions) => (await api.list(SPACES, { ...options, name: 'two' })).items;
    expect((await named({ namespace })).map(({ metadata }) => metadata.name)).toEqual(['two']);
    const everywhere = (await named({})).map(({ metadata }) => `${metadata.namespace}/${metadata.name}`);
    expect(everywhere).toContain(`${namespace}/two`);
    expect(everywhere.filter((key) => !key.endsWith('/two'))).toEqual([]);
  });

  test('create() gives an object of our kinds the status of one that nobody has looked at', async () => {
    const { object } = await aCase(open);
    expect(object).toMatchObject({ status: { observedGeneration: -1 } });
  });

  test('create() refuses a name that is taken', async () => {
    const { api, namespace } = await aCase(open);
    const error = await errorOf(api.create(SPACES, namespace, aSpace('one')));
    expect([isAlreadyExists(error), isConflict(error)]).toEqual([true, false]);
  });

  test.each(['Capital', 'under_score', '-a', 'a.', 'a..b', '', 'a'.repeat(254)])(
    'create() refuses "%s", which is not a valid name',
    async (name) => {
      const { api, namespace } = await aCase(open);
      for (const [resource, object] of [
        [SECRETS, aSecret(name)],
        [EVENTS, anEvent(name, namespace)],
        [SPACES, aSpace(name)],
      ] as const)
        expect(statusOf(await errorOf(api.create(resource, namespace, object)))).toBe(422);
    },
  );

  test('create() accepts the longest possible name', async () => {
    const { api, namespace } = await aCase(open);
    const name = `${'a'.repeat(63)}.${'b'.repeat(189)}`;
    expect((await api.create(SECRETS, namespace, aSecret(name))).metadata.name).toBe(name);
  });

  test("An Event's message has at most 1,024 bytes", async () => {
    const { api, namespace } = await aCase(open);
    const said = (note: string) => api.create(EVENTS, namespace, { ...anEvent(`e${note.length}`, namespace), note });
    expect(await said('x'.repeat(1024))).toMatchObject({ note: 'x'.repeat(1024) });
    expect(statusOf(await errorOf(said(`${'x'.repeat(1022)}\u00e9\u00e9`)))).toBe(422);
  });

  test.each<[string, object]>([
    ['a label key', { metadata: { labels: { 'bad key': 'x' } } }],
    ['a label key that is empty', { metadata: { labels: { '': 'x' } } }],
    ['a label value', { metadata: { labels: { a: 'bad value!' } } }],
    ['a label value that is too long', { metadata: { labels: { a: 'x'.repeat(64) } } }],
    ['an annotation key', { metadata: { annotations: { 'a/b/c': 'x' } } }],
    ['a key of a Secret', { data: { '..': '' } }],
  ])('%s that is invalid is refused, on a new object or an old one', async (_, wrong) => {
    const { api, namespace } = await aCase(open);
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

  test('Labels, annotations and keys of a Secret may be anything that Kubernetes accepts', async () => {
    const { api, namespace } = await aCase(open);
    const labels = { 'example.com/a.b': '', A_1: 'x.y_Z-0', [`${'a'.repeat(253)}/a`]: 'x'.repeat(63) };
    const annotations = { 'Example.com/A': 'any text!' };
    const secret = { ...aSecret('a', { '.a..b': '' }), metadata: { name: 'a', labels, annotations } };
    expect(await api.create(SECRETS, namespace, secret)).toMatchObject({ metadata: { labels, annotations } });
  });

  test('In a namespace that is being deleted nothing can be created', async () => {
    const { api, namespace, terminate, patch } = await aCase(open, { finalizers: [FINALIZER] });
    await terminate();
    const late: readonly (readonly [Resource, object])[] = [
      [SECRETS, aSecret('late')],
      [EVENTS, anEvent('late', namespace)],
      [LEASES, { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { name: 'late' }, spec: {} }],
      [SPACES, aSpace('late')],
      // Whether it exists already is no longer checked.
      [SPACES, aSpace('one')],
    ];
    for (const [resource, object] of late) {
      const error = await errorOf(api.create(resource, namespace, object));
      expect([resource.plural, isNamespaceTerminating(error), statusOf(error)]).toEqual([resource.plural, true, 403]);
    }
    await patch({ metadata: { finalizers: null } }).catch(() => {});
  });

  test('In a namespace that is being deleted an object with a finalizer can be changed, and its status written', async () => {
    const { api, namespace, terminate, patch, patchStatus } = await aCase(open, { finalizers: [FINALIZER] });
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
    const { api, ref, object, patch } = await aCase(open);
    const metadata = { uid: '00000000-0000-4000-8000-000000000000', labels: { a: 'b' } };
    expect(statusOf(await errorOf(patch({ metadata })))).toBe(422);
    // Which version it was comes first.
    expect(isConflict(await errorOf(patch({ metadata: { ...metadata, resourceVersion: '1' } })))).toBe(true);
    expect(await api.get(SPACES, ref)).toEqual(object);
  });

  test('patch() of a missing object answers that it does not exist', async () => {
    const { api, ref } = await aCase(open);
    const change = { metadata: { finalizers: [FINALIZER] } };
    expect(isNotFound(await errorOf(api.patch(SPACES, { ...ref, name: 'two' }, change)))).toBe(true);
  });

  test('patch() that changes nothing keeps the version', async () => {
    const { patch, patchStatus } = await aCase(open, { labels: { a: 'b' } });
    // Once for real: the first to write a defaulted field becomes its owner, which counts as a change.
    const { metadata } = await patchStatus({ status: { observedGeneration: 1 } });
    for (const answer of [
      await patch({ metadata: { labels: { a: 'b' } }, spec: { teamID: 'acme' } }),
      await patchStatus({ status: { observedGeneration: 1 } }),
    ]) {
      expect(answer.metadata.resourceVersion).toBe(metadata.resourceVersion);
    }
  });

  test('patch() raises the version with each change, and the generation only with one of the spec', async () => {
    const { object, patch, patchStatus } = await aCase(open);
    const labelled = await patch({ metadata: { labels: { a: 'b' } } });
    const told = await patchStatus({ status: { observedGeneration: 1 } });
    const changed = await patch({ spec: { pollInterval: '45s' } });
    const versions = [object, labelled, told, changed].map(({ metadata }) => Number(metadata.resourceVersion));
    expect(versions).toEqual(versions.toSorted((one, other) => one - other));
    expect(new Set(versions).size).toBe(4);
    expect([labelled, told, changed].map(({ metadata }) => metadata.generation)).toEqual([1, 1, 2]);
  });

  test('patch() merges: null removes, lists are replaced as a whole', async () => {
    const { patch } = await aCase(open, { labels: { a: '1', b: '2' }, finalizers: [`${FINALIZER}-a`] });
    const { metadata } = await patch({
      metadata: { labels: { a: null, c: '3' }, finalizers: [`${FINALIZER}-b`, `${FINALIZER}-c`] },
    });
    expect(metadata.labels).toEqual({ b: '2', c: '3' });
    expect(metadata.finalizers).toEqual([`${FINALIZER}-b`, `${FINALIZER}-c`]);
    await patch({ metadata: { finalizers: null } });
  });

  test('patch() with a list tests first: if a value differs or is missing, nothing changes', async () => {
    const { api, namespace } = await aCase(open);
    const ref = { namespace, name: 'held' };
    await api.create(LEASES, namespace, newLease('held', { holderIdentity: 'one', leaseDurationSeconds: 15 }));
    const renew = (path: string, value: unknown, renewTime: string) =>
      api.patch(LEASES, ref, [
        { op: 'test', path, value },
        { op: 'add', path: '/spec/renewTime', value: renewTime },
      ]);
    const [first, second] = ['2026-11-20T12:00:00.000000Z', '2026-11-20T12:00:02.000000Z'];
    // The second time the field exists already.
    for (const time of [first, second])
      expect(await renew('/spec/holderIdentity', 'one', time)).toMatchObject({
        spec: { holderIdentity: 'one', leaseDurationSeconds: 15, renewTime: time },
      });
    for (const [path, value] of [
      ['/spec/holderIdentity', 'two'],
      ['/spec/acquireTime', first],
      ['/status/phase', 'x'],
    ] as const)
      expect([path, isInvalid(await errorOf(renew(path, value, first)))]).toEqual([path, true]);
    expect(await api.get(LEASES, ref)).toMatchObject({ spec: { renewTime: second } });
    expect(isNotFound(await errorOf(api.patch(LEASES, { namespace, name: 'none' }, [])))).toBe(true);
  });

  test('patch() with an outdated version is refused, for the object and for its status', async () => {
    const { object, patch, patchStatus, api, ref } = await aCase(open);
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
    const { patch, patchStatus } = await aCase(open);
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

  test('patch() of the status ignores a uid', async () => {
    const { patchStatus } = await aCase(open);
    const metadata = { uid: '00000000-0000-4000-8000-000000000000' };
    expect(await patchStatus({ metadata, status: { observedGeneration: 3 } })).toMatchObject({
      status: { observedGeneration: 3 },
    });
  });

  test('delete() with the uid of another object is refused, and says so if there is none', async () => {
    const { api, ref, object } = await aCase(open);
    const uid = '00000000-0000-4000-8000-000000000000';
    expect(isConflict(await errorOf(api.delete(SPACES, ref, { uid })))).toBe(true);
    expect(await api.delete(SPACES, ref, { uid: object.metadata.uid })).toBe(true);
    expect(await api.delete(SPACES, ref, { uid: object.metadata.uid })).toBe(false);
    expect(await api.get(SPACES, ref)).toBeUndefined();
  });

  test('delete() of an object with a finalizer marks it, and it is gone with its last finalizer', async () => {
    const { api, ref, object, patch, patchStatus } = await aCase(open, { finalizers: [FINALIZER, `${FINALIZER}-b`] });
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

  test('An object that is created again with the same name has another uid', async () => {
    const { api, ref, object } = await aCase(open);
    await api.delete(SPACES, ref, { uid: object.metadata.uid });
    const again = await api.create(SPACES, ref.namespace, aSpace('one'));
    expect(again.metadata.uid).not.toBe(object.metadata.uid);
    expect(again.metadata.generation).toBe(1);
  });

  test('list() comes in pages that together are complete, at one version', async () => {
    const { api, namespace } = await aCase(open);
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
    const { api, namespace } = await aCase(open);
    await api.create(SECRETS, namespace, aSecret('a', { password: Buffer.from('canary').toString('base64') }));
    const { items } = await api.list(SECRETS, { namespace, metadataOnly: true });
    expect(items.map(({ metadata }) => metadata.labels)).toEqual([{ app: 'contract' }]);
    expect(Object.keys(items[0] ?? {})).not.toContain('data');
  });

  test('list() is at least as new as requested', async () => {
    const { api, namespace } = await aCase(open);
    const { metadata } = await api.create(SECRETS, namespace, aSecret('a'));
    const page = await api.list(SECRETS, { namespace, notOlderThan: metadata.resourceVersion });
    expect(page.items.map((each) => each.metadata.name)).toEqual(['a']);
    expect(Number(page.resourceVersion)).toBeGreaterThanOrEqual(Number(metadata.resourceVersion));
  });

  test('list() of a future version is refused, as too large', async () => {
    const { api, namespace, object } = await aCase(open);
    const notOlderThan = String(Number(object.metadata.resourceVersion) + 1_000_000);
    const error = await errorOf(api.list(SPACES, { namespace, notOlderThan }));
    expect(error).toMatchObject({ status: 504, causes: ['ResourceVersionTooLarge'] });
  });

  storageContract(open);
  watchContract(open);
}

import { expect, test } from 'vitest';
import { SECRETS } from '../../src/kube/api.ts';
import { aCase, errorOf, type Subject, statusOf } from './case.ts';
import { aSecret, FINALIZER } from './objects.ts';

/** What is asked of how objects are stored: what is added to them, dropped, and protected. */
export function storageContract(open: () => Promise<Subject>): void {
  test('The type of a Secret cannot be changed', async () => {
    const { api, namespace } = await aCase(open);
    await api.create(SECRETS, namespace, { ...aSecret('a'), type: 'Opaque' });
    const change = api.patch(SECRETS, { namespace, name: 'a' }, { type: 'example.com/other' });
    expect(statusOf(await errorOf(change))).toBe(422);
  });

  test('The contents of an immutable Secret cannot be changed, and the refusal says so', async () => {
    const { api, namespace } = await aCase(open);
    await api.create(SECRETS, namespace, { ...aSecret('a', { a: '' }), immutable: true });
    const patch = (change: object) => api.patch(SECRETS, { namespace, name: 'a' }, change);
    expect(await errorOf(patch({ data: { b: '' } }))).toMatchObject({
      status: 422,
      causes: ['FieldValueForbidden'],
      fields: [{ field: 'data' }],
    });
    expect(statusOf(await errorOf(patch({ immutable: false })))).toBe(422);
    expect((await patch({ metadata: { labels: { a: 'b' } } })).metadata.labels).toMatchObject({ a: 'b' });
  });

  test('A Secret without a type is opaque, and texts become data', async () => {
    const { api, namespace } = await aCase(open);
    const texts = { stringData: { text: 'täxt', both: 'text' }, data: { both: btoa('data'), data: btoa('data') } };
    const created = await api.create(SECRETS, namespace, { ...aSecret('a'), ...texts });
    const data = { text: Buffer.from('täxt').toString('base64'), both: btoa('text'), data: btoa('data') };
    expect(created).toMatchObject({ type: 'Opaque', data });
    const changed = await api.patch(SECRETS, { namespace, name: 'a' }, { stringData: { data: 'new' } });
    expect(changed).toMatchObject({ data: { ...data, data: btoa('new') } });
    expect([created, changed].filter((secret) => 'stringData' in secret)).toEqual([]);
  });

  test('Empty lists and maps are not stored, so whoever empties them again changes nothing', async () => {
    const { api, namespace } = await aCase(open);
    const [empty, gone] = [
      { labels: {}, annotations: {}, finalizers: [], ownerReferences: [] },
      { labels: null, annotations: null, finalizers: null, ownerReferences: null },
    ];
    const ref = { namespace, name: 'a' };
    const patch = (metadata: object, data: object | null) => api.patch(SECRETS, ref, { metadata, data });
    const created = await api.create(SECRETS, namespace, { ...aSecret('a', {}), metadata: { name: 'a', ...empty } });
    const full = { labels: { a: 'b' }, annotations: { a: 'b' }, finalizers: [FINALIZER] };
    await patch(full, { a: '' });
    const emptied = await patch({ ...gone, ...empty, labels: { a: null }, annotations: { a: null } }, { a: null });
    for (const secret of [created, emptied]) {
      for (const field of Object.keys(empty)) expect(secret.metadata).not.toHaveProperty(field);
      expect(secret).not.toHaveProperty('data');
    }
    for (const again of [await patch(gone, null), await patch(empty, {})])
      expect(again.metadata.resourceVersion).toBe(emptied.metadata.resourceVersion);
  });

  test('An object has one controller at most', async () => {
    const { api, namespace } = await aCase(open);
    const create = (name: string, more: object = {}) =>
      api.create(SECRETS, namespace, { ...aSecret(name), metadata: { name, ...more } });
    const [one, other] = [await create('one'), await create('other')];
    const owners = (...controllers: readonly boolean[]) => ({
      ownerReferences: [one, other].map(({ metadata: { name, uid } }, index) => ({
        ...{ apiVersion: 'v1', kind: 'Secret', name, uid },
        controller: controllers[index],
      })),
    });
    expect((await create('a', owners(true, false))).metadata).toMatchObject(owners(true, false));
    expect(statusOf(await errorOf(create('b', owners(true, true))))).toBe(422);
    const change = { metadata: owners(true, true) };
    expect(statusOf(await errorOf(api.patch(SECRETS, { namespace, name: 'a' }, change)))).toBe(422);
  });

  test('patch() of a status drops fields that the CRD does not know, without saying so', async () => {
    const { patchStatus } = await aCase(open);
    const lastTransitionTime = '2026-11-20T12:00:00Z';
    const condition = { type: 'Ready', status: 'True', reason: 'Ready', message: 'It is', lastTransitionTime };
    const known = { observedGeneration: 1, conditions: [condition], clusters: { total: 1, managed: 1 } };
    const { status } = await patchStatus({
      status: {
        ...known,
        ofALaterVersion: 'x',
        conditions: [{ ...condition, ofALaterVersion: 'x' }],
        clusters: { ...known.clusters, ofALaterVersion: 1 },
      },
    });
    expect(status).toEqual(known);
  });
}

import { describe, expect, it } from 'vitest';
import { aWorld, ON_ORDERS } from '../../test/support/planned-world.ts';
import { CLUSTER_SPEC } from '../../test/support/specs.ts';
import { type AnyObject, type KubeApi, KubeError } from '../kube/api.ts';
import type { Document } from './manifests.ts';
import { readSecrets } from './secrets.ts';

const { signal } = new AbortController();

/** The Secrets that the objects of `read` name. */
const NAMED = ['app-connection', 'cloud-admin', 'cloud-read', 'cloud-write', 'factory-login', 'orders-admin', 'own'];

async function read(get: KubeApi['get'], documents: readonly Document[] = []) {
  const own = { ...ON_ORDERS, passwordSecretRef: { name: 'own' } };
  const world = await aWorld({ 'DatabaseCluster orders': CLUSTER_SPEC, 'DatabaseUser app': own });
  const { objects } = await world.input({});
  await world.end();
  const notes: string[] = [];
  const api = { get } as KubeApi;
  return { seen: await readSecrets(api, { namespace: 'shop', documents }, objects, notes, signal), notes };
}

describe('readSecrets()', () => {
  it('looks at each Secret that an object names, and keeps no value of it', async () => {
    const labels = { team: 'shop' };
    const data = { password: Buffer.from('very-secret').toString('base64'), empty: '' };
    const { seen, notes } = await read(async (_resource, { name }) =>
      name === 'own'
        ? ({ metadata: { name, uid: 'u', resourceVersion: '1', labels }, type: 'Opaque', data } as AnyObject)
        : undefined,
    );
    expect([...seen.keys()].toSorted()).toEqual(NAMED.map((name) => `shop/${name}`));
    const own = { labels, annotations: {}, ownerReferences: [], type: 'Opaque', keys: new Set(['password']) };
    expect(seen.get('shop/own')).toEqual(own);
    expect(seen.get('shop/cloud-read')).toBeUndefined();
    expect(notes).toEqual([]);
  });

  it('assumes that those in the manifests exist', async () => {
    const manifest = { kind: 'Secret', metadata: { name: 'own' }, stringData: { password: 'x' } };
    const { seen } = await read(async () => undefined, [{ where: 'a.yaml', manifest }]);
    expect(seen.get('shop/own')?.keys).toEqual(new Set(['password']));
  });

  it('leaves in one that is there what others have put into it, but not what kubectl takes away', async () => {
    const applied = JSON.stringify({ data: { former: 'eA==' }, stringData: { same: 'x' } });
    const annotations = { 'kubectl.kubernetes.io/last-applied-configuration': applied };
    const data = { password: 'eA==', former: 'eA==', same: 'eA==', emptied: 'eA==' };
    const object = { metadata: { name: 'own', uid: 'u', resourceVersion: '1', annotations }, type: 'custom', data };
    const get: KubeApi['get'] = async (_resource, { name }) => (name === 'own' ? (object as AnyObject) : undefined);
    const manifest = { kind: 'Secret', metadata: { name: 'own' }, stringData: { same: 'y', more: 'z', emptied: '' } };
    const { seen } = await read(get, [{ where: 'a.yaml', manifest }]);
    expect(seen.get('shop/own')).toMatchObject({ type: 'custom', keys: new Set(['password', 'same', 'more']) });
    const unreadable = {
      ...object,
      metadata: { ...object.metadata, annotations: { [Object.keys(annotations)[0] ?? '']: '{' } },
    };
    const other: KubeApi['get'] = async (_resource, { name }) =>
      name === 'own' ? (unreadable as AnyObject) : undefined;
    expect((await read(other, [{ where: 'a.yaml', manifest }])).seen.get('shop/own')?.keys).toContain('former');
  });

  it('takes fields of a manifest that are null for absent, as templates may leave them', async () => {
    const metadata = { name: 'own', labels: null, annotations: null };
    const manifest = { kind: 'Secret', metadata, type: null, data: null, stringData: { password: 'x', more: null } };
    const { seen } = await read(async () => undefined, [{ where: 'a.yaml', manifest }] as unknown as Document[]);
    const own = { labels: {}, annotations: {}, ownerReferences: [], type: 'Opaque', keys: new Set(['password']) };
    expect(seen.get('shop/own')).toEqual(own);
  });

  it('says which keys of a Secret in the manifests differ in value from the cluster, and shows no value', async () => {
    const base64 = (text: string) => Buffer.from(text).toString('base64');
    const there = { password: base64('canary-old'), same: base64('s'), other: base64('o') };
    const object = { metadata: { name: 'own', uid: 'u', resourceVersion: '1' }, type: 'Opaque', data: there };
    const get: KubeApi['get'] = async (_resource, { name }) => (name === 'own' ? (object as AnyObject) : undefined);
    const manifest = { kind: 'Secret', metadata: { name: 'own' }, data: { same: there.same, more: base64('m') } };
    const stringData = { password: 'canary-new' };
    const { notes } = await read(get, [{ where: 'a.yaml', manifest: { ...manifest, stringData } }]);
    expect(notes).toEqual([
      'Secret shop/own in the files differs from the one in the cluster (more, password): what follows from that, such as a new password on a server, is not in this plan',
    ]);
    const same = { ...manifest, data: { same: there.same } };
    expect((await read(get, [{ where: 'a.yaml', manifest: same }])).notes).toEqual([]);
  });

  it('says once for a namespace that its Secrets may not be read', async () => {
    const { seen, notes } = await read(async () => {
      throw new KubeError('no', { status: 403 });
    });
    expect(seen.size).toBe(0);
    expect(notes).toEqual([
      'You may not read Secrets in namespace shop (get secrets): those that objects name are assumed to exist, with logins that work',
    ]);
  });

  it('assumes nothing if everything that may not be read is in the manifests', async () => {
    const documents = NAMED.map((name) => ({ where: 'a.yaml', manifest: { kind: 'Secret', metadata: { name } } }));
    const { seen, notes } = await read(async () => {
      throw new KubeError('no', { status: 403 });
    }, documents);
    expect(seen.size).toBe(NAMED.length);
    expect(notes).toEqual([]);
  });
});

import { expect, test } from 'vitest';
import { databaseDefinition } from '../kinds/database/schema.ts';
import { USER_FINALIZER } from '../kinds/databaseuser/resource.ts';
import { databaseUserDefinition } from '../kinds/databaseuser/schema.ts';
import type { KubeObject } from '../kube/object.ts';
import type { Informer } from '../runtime/informer.ts';
import { Leaving } from './leaving.ts';

type Handler = Parameters<Informer<KubeObject>['onChange']>[0];

function aSource() {
  const handlers: Handler[] = [];
  const informer = { onChange: (handler: Handler) => handlers.push(handler) } as unknown as Informer<KubeObject>;
  const change = (before: KubeObject | undefined, after: KubeObject | undefined) => {
    for (const handler of handlers) handler('shop/app', before, after);
  };
  return { informer, change };
}

function aUser(changes: {
  readonly deleting?: boolean;
  readonly deletionPolicy?: string;
  readonly finalizers?: readonly string[];
}): KubeObject {
  const { deleting = false, deletionPolicy = 'Delete', finalizers = [USER_FINALIZER] } = changes;
  const going = deleting ? { deletionTimestamp: '2026-11-21T10:00:00Z', finalizers } : {};
  return {
    apiVersion: 'mooring.dev/v1alpha1',
    kind: databaseUserDefinition.kind,
    metadata: { namespace: 'shop', name: 'app', uid: 'u', resourceVersion: '1', ...going },
    spec: { clusterRef: { name: 'orders' }, deletionPolicy },
    status: { username: 'app' },
  };
}

test('Leaving names what is being deleted on the server of a cluster, and reports when it is gone', () => {
  const [users, databases] = [aSource(), aSource()];
  const told: string[] = [];
  const leaving = new Leaving(users.informer, databases.informer, (cluster) => told.push(cluster));
  const [stays, goes] = [aUser({}), aUser({ deleting: true })];
  users.change(undefined, stays);
  expect([leaving.of('shop/orders').leaving, leaving.of('shop/orders').mayFollow, told]).toEqual([
    [],
    true,
    ['shop/orders'],
  ]);
  users.change(stays, goes);
  expect(leaving.of('shop/orders').leaving).toEqual(['DatabaseUser shop/app']);
  expect([leaving.of('shop/orders').mayFollow, told]).toEqual([false, ['shop/orders', 'shop/orders']]);
  users.change(goes, undefined);
  expect([leaving.of('shop/orders').leaving, told]).toEqual([[], Array(3).fill('shop/orders')]);
});

test('Leaving does not wait for an object that only a finalizer of somebody else still keeps', () => {
  const [users, databases] = [aSource(), aSource()];
  const told: string[] = [];
  const leaving = new Leaving(users.informer, databases.informer, (cluster) => told.push(cluster));
  const goes = aUser({ deleting: true, finalizers: [USER_FINALIZER, 'example.com/theirs'] });
  users.change(undefined, goes);
  expect(leaving.of('shop/orders').leaving).toEqual(['DatabaseUser shop/app']);
  users.change(goes, aUser({ deleting: true, finalizers: ['example.com/theirs'] }));
  expect([leaving.of('shop/orders').leaving, told]).toEqual([[], ['shop/orders', 'shop/orders']]);
});

test('Leaving ignores what stays on the server', () => {
  const [users, databases] = [aSource(), aSource()];
  const leaving = new Leaving(users.informer, databases.informer, () => expect.unreachable());
  users.change(undefined, aUser({ deleting: true, deletionPolicy: 'Retain' }));
  users.change(undefined, { ...aUser({ deleting: true }), status: {} });
  expect([leaving.of('shop/orders').leaving, leaving.of('shop/orders').mayFollow]).toEqual([[], false]);
});

test('Leaving knows that others may follow until the last one is gone', () => {
  const [users, databases] = [aSource(), aSource()];
  const leaving = new Leaving(users.informer, databases.informer, () => {});
  const [one, other] = [aUser({}), aUser({})];
  users.change(undefined, one);
  users.change(undefined, other);
  users.change(one, undefined);
  expect(leaving.of('shop/orders').mayFollow).toBe(true);
  users.change(other, undefined);
  expect(leaving.of('shop/orders').mayFollow).toBe(false);
});

test('Leaving names databases as well as users, in an order that does not change', () => {
  const [users, databases] = [aSource(), aSource()];
  const leaving = new Leaving(users.informer, databases.informer, () => {});
  const goes = aUser({ deleting: true });
  users.change(undefined, goes);
  databases.change(undefined, { ...goes, kind: databaseDefinition.kind, status: { name: 'app' } });
  expect(leaving.of('shop/orders').leaving).toEqual(['Database shop/app', 'DatabaseUser shop/app']);
});

test('Leaving ignores unrelated changes, and notices a move to another cluster', () => {
  const [users, databases] = [aSource(), aSource()];
  const told: string[] = [];
  const leaving = new Leaving(users.informer, databases.informer, (cluster) => told.push(cluster));
  const goes = aUser({ deleting: true });
  users.change(undefined, goes);
  const labelled = { ...goes, metadata: { ...goes.metadata, labels: { team: 'one' } } };
  users.change(goes, labelled);
  expect(told).toEqual(['shop/orders']);
  users.change(labelled, { ...goes, spec: { clusterRef: { name: 'stock' }, deletionPolicy: 'Delete' } });
  expect([leaving.of('shop/orders').leaving, leaving.of('shop/stock').leaving]).toEqual([
    [],
    ['DatabaseUser shop/app'],
  ]);
});

test('Leaving reports the first one that comes to a cluster and the last one that goes, but none in between', () => {
  const [users, databases] = [aSource(), aSource()];
  const told: string[] = [];
  const leaving = new Leaving(users.informer, databases.informer, (cluster) => told.push(cluster));
  const [one, other] = [aUser({}), aUser({})];
  expect(leaving.has('shop/orders')).toBe(false);
  users.change(undefined, one);
  users.change(undefined, other);
  users.change(one, undefined);
  expect([leaving.has('shop/orders'), told]).toEqual([true, ['shop/orders']]);
  users.change(other, undefined);
  expect([leaving.has('shop/orders'), told]).toEqual([false, ['shop/orders', 'shop/orders']]);
});

import { LEASES } from '../../src/kube/lease.ts';
import type { Fault } from './faults.ts';
import type { Change } from './held.ts';
import {
  annotate,
  DATABASE_RIVAL,
  type Deed,
  edit,
  handle,
  inTheCloud,
  LISTED,
  onAServer,
  remove,
  rival,
  USER_RIVAL,
} from './passages.ts';
import type { Process } from './process.ts';
import { LEASE_NAMESPACE } from './strike.ts';

/* What anybody may do while a call is held, and how the call may end. */

type Named = readonly [name: string, deed: Deed];

const ofOrders = (spec: Parameters<typeof edit>[2]) => edit('databaseclusters', 'orders', spec);
const ordersGo = remove('databaseclusters', 'orders');
const NAMESPACE_GOES: Named = ['its namespace is to go', [{ afterMs: 0, do: 'terminate', namespace: 'shop' }]];

export const TO_CLUSTERS: readonly Named[] = [
  ['another cluster has its id', [inTheCloud('replace', 'orders'), LISTED]],
  ['two clusters have exchanged their ids', [inTheCloud('swap', 'orders'), LISTED]],
  ['somebody else destroys it', [inTheCloud('destroy', 'orders'), LISTED]],
  ['it has vanished', [inTheCloud('vanish', 'orders'), LISTED]],
  ['somebody else made one of that id', [inTheCloud('deploy', 'orders'), LISTED]],
  ['somebody else changed its size', [inTheCloud('resize', 'orders'), LISTED]],
  ['somebody else renamed it', [inTheCloud('rename', 'orders'), LISTED]],
  ['somebody else suspends it', [inTheCloud('suspend', 'orders'), LISTED]],
  ['its space is gone', [remove('databasespaces', 'production')]],
  ['its space is gone, and another object wants it', [remove('databasespaces', 'production'), rival('alias')]],
  ['another object wants it', [rival('alias')]],
  ['it is to go', [ordersGo]],
  ['it is to go, and another object wants it', [ordersGo, rival('alias')]],
  ['it is to go and to come again', [handle('recreate', 'databaseclusters', 'orders')]],
  ['its finalizer is gone', [handle('unhold', 'databaseclusters', 'orders')]],
  ['its finalizer is gone, and it goes', [handle('unhold', 'databaseclusters', 'orders'), ordersGo]],
  ['another controller has a finalizer', [handle('meddle', 'databaseclusters', 'orders')]],
  ['another controller has a finalizer, and it is to go', [handle('meddle', 'databaseclusters', 'orders'), ordersGo]],
  ['a person accepts the cluster', [handle('accept', 'databaseclusters', 'orders')]],
  ['it has another id', [ofOrders({ clusterID: 'orders-eu' })]],
  ['it is to go without its cluster', [ofOrders({ deletionPolicy: 'Retain' }), ordersGo]],
  ['it is protected, and to go', [ofOrders({ deletionProtection: true }), ordersGo]],
  ['it is abandoned', [annotate('databaseclusters', 'orders', 'abandon', 'true'), ordersGo]],
  ['it is paused', [annotate('databaseclusters', 'orders', 'paused', 'true')]],
  ['it is only observed', [ofOrders({ managementPolicy: 'Observe' })]],
  ['it is to be suspended', [ofOrders({ state: 'Suspended' })]],
  ['it is to be larger', [ofOrders({ storageSizeGB: 200 })]],
  ['its login moves', [ofOrders({ adminCredentials: { secretName: 'shared-admin' } })]],
  ['it names another space', [ofOrders({ spaceRef: { name: 'alias' } })]],
  ['its Secret is gone', [remove('secrets', 'orders-admin')]],
  ['it rotates', [annotate('databaseclusters', 'orders', 'rotate-at', '2')]],
  ['a token is gone', [remove('secrets', 'cloud-admin')]],
  NAMESPACE_GOES,
];

const ON_SERVERS: readonly Named[] = [
  ['its cluster is to go', [ordersGo]],
  ['its cluster is to be suspended', [ofOrders({ state: 'Suspended' })]],
  ['another cluster has that id', [inTheCloud('replace', 'orders'), LISTED]],
  NAMESPACE_GOES,
];

export const TO_USERS: readonly Named[] = [
  ...ON_SERVERS,
  ['its cluster rotates', [annotate('databaseclusters', 'orders', 'rotate-at', '2')]],
  ['it is to go', [remove('databaseusers', 'app')]],
  ['it is to go and to come again', [handle('recreate', 'databaseusers', 'app')]],
  ['its finalizer is gone', [handle('unhold', 'databaseusers', 'app')]],
  ['another controller has a finalizer', [handle('meddle', 'databaseusers', 'app')]],
  ['its Secret moves', [edit('databaseusers', 'app', { connectionSecret: { name: 'web-connection' } })]],
  ['its Secret is gone', [remove('secrets', 'app-connection')]],
  ['a person chooses its password', [edit('databaseusers', 'app', { passwordSecretRef: { name: 'own-password' } })]],
  ['somebody else sets its password', [onAServer('setPassword', 'orders', 'app')]],
  ['somebody else deletes it', [onAServer('deleteUser', 'orders', 'app')]],
  ['it rotates', [annotate('databaseusers', 'app', 'rotate-at', '2')]],
  ['another object wants it', [USER_RIVAL]],
];

export const TO_DATABASES: readonly Named[] = [
  ...ON_SERVERS,
  ['it is to go', [remove('databases', 'sales')]],
  ['it is to go and to come again', [handle('recreate', 'databases', 'sales')]],
  ['its finalizer is gone', [handle('unhold', 'databases', 'sales')]],
  ['somebody else drops it', [onAServer('dropDatabase', 'orders', 'sales')]],
  ['somebody else made one of that name', [onAServer('createDatabase', 'orders', 'sales')]],
  ['another object wants it', [DATABASE_RIVAL]],
];

export const NOTHING: readonly Named[] = [['nothing changed', []]];

/** The deeds while a call is on its way, or its answer. */
export const whileHeld = (deeds: readonly Named[]): readonly Change[] =>
  deeds.flatMap(([name, deed]) => (['sent', 'answered'] as const).map((when) => ({ name, when, deed })));

const REFUSALS: readonly Fault[] = ['serverError', 'conflict', 'unauthorized', 'throttled'];

/** The same if the call has no effect, or if it had, and its answer is lost or says something else. */
export const spoilt = (deeds: readonly Named[]): readonly Change[] =>
  deeds.flatMap(([name, deed]) =>
    (['asked', 'sent', 'answered'] as const).flatMap((when) =>
      [...REFUSALS, ...(when === 'answered' ? ['lostAnswer' as const] : [])].map((fault) => ({
        name: `${name}, ${fault}`,
        when,
        deed,
        spoiltBy: [fault],
      })),
    ),
  );

/** Longer than it takes to learn of it. */
const LEASE_HELD_MS = 8_000;
const STOLEN = { holderIdentity: 'somebody', leaseDurationSeconds: 15 };
const EMPTY = { holderIdentity: null, leaseDurationSeconds: null, renewTime: null, acquireTime: null };
/** By what somebody writes into the spec of a Lease; undefined: it is deleted. */
const TO_LEASES: readonly (readonly [name: string, spec: object | undefined])[] = [
  ['is deleted', undefined],
  ['is stolen', STOLEN],
  ['is stolen for longer', { ...STOLEN, leaseDurationSeconds: 40 }],
  ['is given to nobody', { holderIdentity: '' }],
  ['is without a holder', { holderIdentity: null }],
  ['is short', { leaseDurationSeconds: 1 }],
  ['is old', { renewTime: '2001-01-01T00:00:00.000000Z' }],
  ['is emptied', EMPTY],
];

/** Somebody changes the Lease of all processes, or that of the replica which has sent the call. */
export const onLeases = (whose: 'common' | 'own', when: 'sent' | 'answered'): readonly Change[] =>
  TO_LEASES.map(([what, spec]) => ({
    name: `the ${whose} Lease ${what}`,
    when,
    heldMs: LEASE_HELD_MS,
    befalls: ({ kube, invariants }, { lease = COMMON }: Process) => {
      const ref = { namespace: LEASE_NAMESPACE, name: whose === 'own' ? lease : COMMON };
      invariants.areLeasesMeddledWith = true;
      if (spec === undefined) kube.remove(LEASES, ref);
      else invariants.peopleWrite(() => kube.patch(LEASES, ref, { spec }));
    },
  }));
const COMMON = 'mooring';

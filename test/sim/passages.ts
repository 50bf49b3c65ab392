import { isReady } from './scenario.ts';
import type { Fields, Handle, InTheCloud, OnAServer, Plural, Step } from './story.ts';
import { DATABASES, SPACES, USERS } from './view.ts';
import type { World } from './world.ts';

/* What the operator may be in the middle of when a call is held, and what others may do meanwhile. */

/** Done all at once. */
export type Deed = readonly Step[];

/** What the operator is about to do. */
export interface Passage {
  readonly name: string;
  /** What is there before. */
  readonly given: readonly Deed[];
  readonly isGiven: (world: World) => boolean;
  readonly asked: Deed;
  readonly ends: (world: World) => boolean;
}

const now = { afterMs: 0 };
export const create = (of: Exclude<Plural, 'secrets'>, name: string, spec: Fields = {}): Step => ({
  ...now,
  do: 'create',
  of,
  name,
  spec,
});
export const edit = (of: Plural, name: string, spec: Fields): Step => ({ ...now, do: 'edit', of, name, spec });
export const remove = (of: Plural, name: string): Step => ({ ...now, do: 'delete', of, name });
export const annotate = (of: Plural, name: string, key: string, value = '1'): Step => {
  const annotations = { [`mooring.dev/${key}`]: value };
  return { ...now, do: 'annotate', of, name, annotations };
};
export const handle = (what: Handle['do'], of: Plural, name: string): Step => ({ ...now, do: what, of, name });
export const inTheCloud = (what: InTheCloud['do'], id: string): Step => ({ ...now, do: what, id });
export const onAServer = (what: OnAServer['do'], id: string, target: string): Step => ({
  ...now,
  do: what,
  id,
  target,
});
export const scribble = (name: string): Step => ({
  ...now,
  do: 'scribble',
  name,
  patch: { data: { nextPassword: null } },
});
const clusterRef = { name: 'orders' };
const TAKES_OVER = { adoptionPolicy: 'IfExists' };
/** Another object that wants the cluster of "orders". */
export const rival = (spaceRef: string): Step =>
  create('databaseclusters', 'rival', { clusterID: 'orders', ...TAKES_OVER, spaceRef: { name: spaceRef } });
/** Likewise for the user, and for the database. */
export const USER_RIVAL = create('databaseusers', 'web', { clusterRef, username: 'app', ...TAKES_OVER });
export const DATABASE_RIVAL = create('databases', 'stock', { clusterRef, databaseName: 'sales', ...TAKES_OVER });
/** The cloud is listed, as somebody asks for a look at another cluster. */
export const LISTED = annotate('databaseclusters', 'billing', 'reconcile-at');

const OTHERS: Deed = [create('databasespaces', 'alias'), create('databaseclusters', 'billing')];
const WITH_ORDERS = [[...OTHERS, create('databaseclusters', 'orders', { deletionPolicy: 'Delete' })]];
const WITH_USER = [...WITH_ORDERS, [create('databaseusers', 'app', { clusterRef })]];
const WITH_DATABASE = [...WITH_ORDERS, [create('databases', 'sales', { clusterRef, deletionPolicy: 'Delete' })]];
const areRunning: Passage['isGiven'] = (world) => isReady(world) && isReady(world, 'billing');
const isUserReady: Passage['isGiven'] = (world) => isReady(world, 'app', USERS);
const isDatabaseReady: Passage['isGiven'] = (world) => isReady(world, 'sales', DATABASES);

export const DEPLOY: Passage = {
  name: 'a new cluster',
  given: [OTHERS],
  isGiven: (world) => isReady(world, 'billing'),
  asked: [create('databaseclusters', 'orders', { deletionPolicy: 'Delete' })],
  ends: (world) => isReady(world),
};
export const ROTATE: Passage = {
  name: 'a new password of a cluster',
  given: WITH_ORDERS,
  isGiven: areRunning,
  asked: [annotate('databaseclusters', 'orders', 'rotate-at')],
  ends: (world) => isReady(world) && world.view.status().lastHandledRotateAt === '1',
};
export const MOVE_SECRET: Passage = {
  name: 'another Secret of a cluster',
  given: WITH_ORDERS,
  isGiven: areRunning,
  asked: [edit('databaseclusters', 'orders', { adminCredentials: { secretName: 'shared-admin' } })],
  ends: (world) => isReady(world) && world.view.secret() === undefined,
};
export const RENAME: Passage = {
  name: 'another id of a cluster',
  given: WITH_ORDERS,
  isGiven: areRunning,
  asked: [edit('databaseclusters', 'orders', { clusterID: 'orders-eu' })],
  ends: (world) => isReady(world) && world.view.cluster('orders-eu') !== undefined,
};
export const DESTROY: Passage = {
  name: 'the end of a cluster',
  given: WITH_ORDERS,
  isGiven: areRunning,
  asked: [remove('databaseclusters', 'orders')],
  ends: ({ view }) => view.ready() === 'gone',
};
export const DESTROY_WITH_SPACE: Passage = {
  name: 'the end of a cluster and its space',
  given: [[create('databaseclusters', 'orders', { deletionPolicy: 'Delete' })]],
  isGiven: (world) => isReady(world),
  asked: [remove('databaseclusters', 'orders'), remove('databasespaces', 'production')],
  ends: ({ view }) => view.ready() === 'gone' && view.ready('production', SPACES) === 'gone',
};
export const CLONE: Passage = {
  name: 'a clone',
  given: [OTHERS],
  isGiven: (world) => isReady(world, 'billing'),
  asked: [create('databaseclusters', 'orders', { cloneFrom: { clusterRef: { name: 'billing' } } })],
  ends: (world) => isReady(world),
};
export const ADOPT: Passage = {
  name: 'the taking over of a cluster',
  given: [OTHERS, [inTheCloud('deploy', 'orders')]],
  isGiven: (world) => isReady(world, 'billing') && world.view.cluster()?.status === 'running',
  asked: [create('databaseclusters', 'orders', { adoptionPolicy: 'MustExist' })],
  ends: (world) => isReady(world),
};
export const CREATE_USER: Passage = {
  name: 'a new user',
  given: WITH_ORDERS,
  isGiven: areRunning,
  asked: [create('databaseusers', 'app', { clusterRef })],
  ends: isUserReady,
};
export const ROTATE_USER: Passage = {
  name: 'a new password of a user',
  given: WITH_USER,
  isGiven: isUserReady,
  asked: [annotate('databaseusers', 'app', 'rotate-at')],
  ends: (world) => isUserReady(world) && world.view.status('app', USERS).lastHandledRotateAt === '1',
};
export const DELETE_USER: Passage = {
  name: 'the end of a user',
  given: WITH_USER,
  isGiven: isUserReady,
  asked: [remove('databaseusers', 'app')],
  ends: ({ view }) => view.ready('app', USERS) === 'gone',
};
export const CREATE_DATABASE: Passage = {
  name: 'a new database',
  given: WITH_ORDERS,
  isGiven: areRunning,
  asked: [create('databases', 'sales', { clusterRef, schema: [{ inline: 'define attribute name, value string;' }] })],
  ends: isDatabaseReady,
};
export const DELETE_DATABASE: Passage = {
  name: 'the end of a database',
  given: WITH_DATABASE,
  isGiven: isDatabaseReady,
  asked: [remove('databases', 'sales')],
  ends: ({ view }) => view.ready('sales', DATABASES) === 'gone',
};

import { expect, test } from 'vitest';
import { type Change, type Deed, type Passage, playHeld } from './held.ts';
import { isReady } from './scenario.ts';
import type { Fields, Plural, Step } from './story.ts';
import { USERS } from './view.ts';

const TIMEOUT_MS = 300_000;
const now = { afterMs: 0 };
const create = (of: Exclude<Plural, 'secrets'>, name: string, spec: Fields = {}): Step => ({
  ...now,
  do: 'create',
  of,
  name,
  spec,
});
const edit = (of: Plural, name: string, spec: Fields): Step => ({ ...now, do: 'edit', of, name, spec });
const remove = (of: Plural, name: string): Step => ({ ...now, do: 'delete', of, name });
const annotate = (of: Plural, name: string, key: string): Step => {
  const annotations = { [`mooring.dev/${key}`]: '1' };
  return { ...now, do: 'annotate', of, name, annotations };
};
const scribble = (name: string): Step => ({ ...now, do: 'scribble', name, patch: { data: { nextPassword: null } } });
const clusterRef = { name: 'orders' };

const OTHERS: Deed = [create('databasespaces', 'alias'), create('databaseclusters', 'billing')];
const WITH_ORDERS = [[...OTHERS, create('databaseclusters', 'orders', { deletionPolicy: 'Delete' })]];
const WITH_USER = [...WITH_ORDERS, [create('databaseusers', 'app', { clusterRef })]];
const areRunning: Passage['isGiven'] = (world) => isReady(world) && isReady(world, 'billing');

const ROTATE: Passage = {
  name: 'a new password of a cluster',
  given: WITH_ORDERS,
  isGiven: areRunning,
  asked: [annotate('databaseclusters', 'orders', 'rotate-at')],
  ends: (world) => isReady(world) && world.view.status().lastHandledRotateAt === '1',
};
const DESTROY: Passage = {
  name: 'the end of a cluster',
  given: WITH_ORDERS,
  isGiven: areRunning,
  asked: [remove('databaseclusters', 'orders')],
  ends: ({ view }) => view.ready() === 'gone',
};
const CLONE: Passage = {
  name: 'a clone',
  given: [OTHERS],
  isGiven: (world) => isReady(world, 'billing'),
  asked: [create('databaseclusters', 'orders', { cloneFrom: { clusterRef: { name: 'billing' } } })],
  ends: (world) => isReady(world),
};
const ADOPT: Passage = {
  name: 'the taking over of a cluster',
  given: [OTHERS, [{ ...now, do: 'deploy', id: 'orders' }]],
  isGiven: (world) => isReady(world, 'billing') && world.view.cluster()?.status === 'running',
  asked: [create('databaseclusters', 'orders', { adoptionPolicy: 'MustExist' })],
  ends: (world) => isReady(world),
};
const ROTATE_USER: Passage = {
  name: 'a new password of a user',
  given: WITH_USER,
  isGiven: (world) => isReady(world, 'app', USERS),
  asked: [annotate('databaseusers', 'app', 'rotate-at')],
  ends: (world) => isReady(world, 'app', USERS) && world.view.status('app', USERS).lastHandledRotateAt === '1',
};

/** The cloud is listed, as somebody asks for a look at another cluster. */
const LISTED = annotate('databaseclusters', 'billing', 'reconcile-at');
const rival = (spaceRef: string) =>
  create('databaseclusters', 'rival', {
    clusterID: 'orders',
    adoptionPolicy: 'IfExists',
    spaceRef: { name: spaceRef },
  });
const change = (name: string, ...deed: Deed): Change => ({ name, when: 'answered', deed });

const OF_CLUSTERS: readonly Change[] = [
  change('another cluster has its id', { ...now, do: 'replace', id: 'orders' }, LISTED),
  change('two clusters have exchanged their ids', { ...now, do: 'swap', id: 'orders' }, LISTED),
  change('its space is gone', remove('databasespaces', 'production')),
  change('another object wants it', rival('production')),
  change('it is to go', remove('databaseclusters', 'orders')),
  change('it has another id', edit('databaseclusters', 'orders', { clusterID: 'orders-eu' })),
  change('its login moves', edit('databaseclusters', 'orders', { adminCredentials: { secretName: 'shared-admin' } })),
  { name: 'the coming password is gone', when: 'asked', deed: [scribble('orders-admin')] },
];
/**
 * Not for the taking over of a cluster: while its finalizer is written, its object has no more than a wish, which does not count once its
 * space is gone. Then the other one has the cluster as well, until the older one is found to come first.
 */
const SPACE_LOST = change(
  'its space is gone, and another object wants it',
  remove('databasespaces', 'production'),
  rival('alias'),
);
const OF_USERS: readonly Change[] = [
  change('its cluster is to go', remove('databaseclusters', 'orders')),
  change('it is to go', remove('databaseusers', 'app')),
  change('its Secret moves', edit('databaseusers', 'app', { connectionSecret: { name: 'web-connection' } })),
  change(
    'another object wants it',
    create('databaseusers', 'web', { clusterRef, username: 'app', adoptionPolicy: 'IfExists' }),
  ),
  { name: 'the coming password is gone', when: 'asked', deed: [scribble('app-connection')] },
];

test.each<[string, Passage, readonly Change[]]>([
  [ROTATE.name, ROTATE, [...OF_CLUSTERS, SPACE_LOST]],
  [DESTROY.name, DESTROY, [...OF_CLUSTERS, SPACE_LOST]],
  [CLONE.name, CLONE, [...OF_CLUSTERS, SPACE_LOST]],
  [ADOPT.name, ADOPT, OF_CLUSTERS],
  [ROTATE_USER.name, ROTATE_USER, OF_USERS],
])(
  'Whatever changes while a call of %s is held, nothing is lost, made twice or taken from others',
  async (_, passage, changes) => {
    const { wrong, count } = await playHeld(passage, changes);
    expect(count).toBeGreaterThan(20);
    expect(wrong, wrong.join('\n\n')).toEqual([]);
  },
  TIMEOUT_MS,
);

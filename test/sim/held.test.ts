import { expect, test } from 'vitest';
import { type Change, playHeld } from './held.ts';
import {
  ADOPT,
  CLONE,
  DESTROY,
  type Deed,
  edit,
  inTheCloud,
  LISTED,
  type Passage,
  ROTATE,
  ROTATE_USER,
  remove,
  rival,
  scribble,
  USER_RIVAL,
} from './passages.ts';

const TIMEOUT_MS = 300_000;

const change = (name: string, ...deed: Deed): Change => ({ name, when: 'answered', deed });

const OF_CLUSTERS: readonly Change[] = [
  change('another cluster has its id', inTheCloud('replace', 'orders'), LISTED),
  change('two clusters have exchanged their ids', inTheCloud('swap', 'orders'), LISTED),
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
  change('another object wants it', USER_RIVAL),
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

import { describe, expect, it } from 'vitest';
import { anItem } from '../../test/support/items.ts';
import { styleFor } from './command-line/text.ts';
import type { Item } from './item.ts';
import { narrowed, noneText, statusText } from './status.ts';

const NOW = Date.parse('2026-11-21T11:00:00Z');
const NONE: ReadonlySet<string> = new Set();
const show = (items: readonly Item[], only?: string, hidden = NONE) =>
  statusText(only === undefined ? { items, hidden } : narrowed({ items, hidden }, only), NOW, styleFor(false))
    .trimEnd()
    .split('\n');

const space = anItem('DatabaseSpace', 'shop/production');
const onSpace = { spaceRef: { name: 'production' } };
const onOrders = { clusterRef: { name: 'orders' } };

describe('statusText()', () => {
  it('shows what depends on what, with readiness, reason and age', () => {
    const items = [
      anItem('Database', 'shop/orders', { spec: onOrders }),
      anItem('DatabaseUser', 'shop/app', { spec: onOrders }),
      anItem('DatabaseCluster', 'shop/orders', { spec: onSpace }),
      space,
    ];
    expect(show(items)).toEqual([
      'OBJECT                          READY  REASON  AGE  WHAT BLOCKS IT',
      'DatabaseSpace shop/production   True   Fine    2h',
      '└─ DatabaseCluster shop/orders  True   Fine    2h',
      '   ├─ Database shop/orders      True   Fine    2h',
      '   └─ DatabaseUser shop/app     True   Fine    2h',
    ]);
  });

  it('says what an object waits for, and why that is not ready', () => {
    const refused = ['False', 'CredentialsInvalid', 'Secret "cloud" is refused: put in a new one'] as const;
    const items = [
      anItem('DatabaseSpace', 'shop/production', { ready: refused, stalled: true }),
      anItem('DatabaseCluster', 'shop/orders', { spec: onSpace, ready: ['Unknown', 'WaitingForSpace', 'Waiting'] }),
      anItem('DatabaseUser', 'shop/app', { spec: onOrders, ready: ['Unknown', 'WaitingForCluster', 'Waiting'] }),
    ];
    const [, , cluster, user] = show(items);
    for (const line of [cluster, user])
      expect(line).toContain('DatabaseSpace shop/production: CredentialsInvalid: Secret "cloud" is refused');
  });

  it('reports references to objects that do not exist, or may not be seen', () => {
    const elsewhere = { spaceRef: { name: 'production', namespace: 'platform' } };
    const items = [
      anItem('DatabaseUser', 'shop/app', { spec: onOrders, ready: ['Unknown', 'ClusterNotFound', 'Waiting'] }),
      anItem('DatabaseCluster', 'shop/stock', { spec: elsewhere }),
    ];
    const lines = show(items, undefined, new Set(['DatabaseSpace platform/production']));
    expect(lines[1]).toMatch(
      /^DatabaseCluster shop\/orders +- +NotThere +it does not exist: create it, or correct the reference$/,
    );
    expect(lines[2]).toMatch(/ {2}DatabaseCluster shop\/orders does not exist: create it, or correct the reference$/);
    expect(lines[3]).toMatch(/^DatabaseSpace platform\/production +\? +you may not see it/);
  });

  it('is cut at the window that somebody looks at, and nowhere else', () => {
    const message = `Secret "cloud" ${'is refused and '.repeat(20)}that is all`;
    const items = [anItem('DatabaseSpace', 'shop/production', { ready: ['False', 'CredentialsInvalid', message] })];
    expect(show(items)[1]).toContain(message);
    const inWindow = (width: number) => statusText({ items, hidden: NONE }, NOW, styleFor(false), width).split('\n');
    const [head, row] = inWindow(90);
    expect(row).toMatch(
      /^DatabaseSpace shop\/production {2}False {2}CredentialsInvalid {2}2h {3}Secret "cloud" is .*…$/,
    );
    expect(row?.indexOf('Secret')).toBe(head?.indexOf('WHAT BLOCKS IT'));
    expect(inWindow(91)[1]).toHaveLength(91);
    expect(row).toHaveLength(89);
    // What is left says nothing.
    expect(inWindow(70)[1]).toContain(message);
  });

  it('says of an object that the operator has not seen yet that it was not seen', () => {
    const items = [anItem('DatabaseSpace', 'shop/production', { generation: 2 })];
    expect(show(items)[1]).toMatch(/Unknown +NotSeen +2h +Mooring has not looked at this version .*\?$/);
    // It may have looked, and may not write what it found.
    expect(show(items)[1]).toContain(
      'Or does an Event StatusRefused of the object say why its status cannot be written?',
    );
  });

  it('says that an object waits if it is being deleted and nobody has looked at it since', () => {
    const items = [anItem('DatabaseSpace', 'shop/production', { generation: 2, deleted: true })];
    expect(show(items)[1]).toMatch(/Unknown +NotSeen +2h +It is being deleted, and Mooring has not/);
  });

  it('says that an object is on its way out if it is', () => {
    const items = [
      anItem('DatabaseSpace', 'shop/production', { deleted: true, ready: ['Unknown', 'InUse', 'Clusters need it'] }),
    ];
    expect(show(items)[1]).toMatch(/Unknown +InUse +2h +being deleted; Clusters need it$/);
  });

  it.each(['This object is being deleted, but it is protected', 'This space, which is being deleted, stays'])(
    'says once that an object is being deleted: %s',
    (message) => {
      const items = [
        anItem('DatabaseSpace', 'shop/production', { deleted: true, ready: ['Unknown', 'InUse', message] }),
      ];
      expect(show(items)[1]?.endsWith(`  ${message}`)).toBe(true);
    },
  );

  it('warns about what will not stay as it is, even if everything is Ready', () => {
    const message = 'Secret "cloud-admin" is being deleted. To go on using this space, put what is in it elsewhere';
    const items = [anItem('DatabaseSpace', 'shop/production', { ready: ['True', 'SecretDeleting', message] })];
    expect(show(items)[1]).toMatch(/True +SecretDeleting +2h +Secret "cloud-admin" is being deleted$/);
  });

  it.each([
    [
      'Cannot deploy cluster "a": refused (HTTP 400, version: 9 is not there). Change it',
      'Cannot deploy cluster "a": refused (HTTP 400, version: 9 is not there)',
    ],
    [
      'Secret "cloud-write" does not exist: create it in namespace "shop"',
      'Secret "cloud-write" does not exist: create it in namespace "shop"',
    ],
    [
      'Waiting for objects on the cluster that are being deleted too, as they go first: DatabaseUser "app". Mooring waits two minutes at most',
      'Waiting for objects on the cluster that are being deleted too, as they go first: DatabaseUser "app"',
    ],
    ['Cluster "orders" rests; it goes on later', 'Cluster "orders" rests'],
    [
      'Cannot destroy cluster "a": the other side failed (HTTP 503, busy: Try later. It is so). Wait',
      'Cannot destroy cluster "a": the other side failed (HTTP 503, busy: Try later. It is so)',
    ],
    [
      'There is no cluster "a", and none is created with adoptionPolicy: MustExist: create it there, or check clusterID',
      'There is no cluster "a", and none is created with adoptionPolicy: MustExist: create it there, or check clusterID',
    ],
    [
      'Cluster "a" rests, and the spec says state: Running. Set Suspended',
      'Cluster "a" rests, and the spec says state: Running',
    ],
  ])('of %j shows the first sentence', (message, shown) => {
    const items = [anItem('DatabaseSpace', 'shop/production', { ready: ['False', 'Odd', message] })];
    expect(show(items)[1]).toMatch(/False +Odd +2h +/);
    expect(show(items)[1]?.endsWith(`  ${shown}`)).toBe(true);
  });

  it('says that no operator seems to be running', () => {
    const inventory = { items: [space], hidden: NONE, operator: 'No operator seems to be running: it is so' };
    expect(statusText(inventory, NOW, styleFor(false))).toMatch(/\nNo operator seems to be running: it is so\n$/);
  });

  it('shows that an object is paused, even if it is Ready', () => {
    const paused = { annotations: { 'mooring.dev/paused': 'true' }, spec: onSpace };
    const would =
      'Paused by annotation mooring.dev/paused: Mooring changes nothing, and would update cluster "stock": storageSizeGB. Remove the annotation to go on';
    const items = [
      anItem('DatabaseCluster', 'shop/orders', paused),
      anItem('DatabaseCluster', 'shop/stock', { ...paused, ready: ['Unknown', 'Paused', would] }),
      space,
    ];
    const lines = show(items);
    expect(lines[2]).toMatch(/orders +True +Fine +2h +paused: Mooring changes nothing about it$/);
    expect(lines[3]).toMatch(
      /stock +Unknown +Paused +2h +paused: Mooring would update cluster "stock": storageSizeGB$/,
    );
  });

  it('says what it does not show for lack of a right', () => {
    const text = statusText(
      { items: [space], hidden: NONE, refused: ['Cannot list databases: No'] },
      NOW,
      styleFor(false),
    );
    expect(text).toContain('Not shown, as you lack a right: Cannot list databases: No\n');
  });

  it('narrows to one object, with what it needs and what needs it', () => {
    const items = [
      space,
      anItem('DatabaseCluster', 'shop/orders', { spec: onSpace }),
      anItem('DatabaseCluster', 'shop/stock', { spec: onSpace }),
      anItem('DatabaseUser', 'shop/app', { spec: onOrders }),
    ];
    const text = show(items, 'DatabaseCluster shop/orders').join('\n');
    expect(text).toContain('DatabaseSpace shop/production');
    expect(text).toContain('DatabaseUser shop/app');
    expect(text).not.toContain('stock');
  });

  it('lists clusters of the cloud that nobody manages', () => {
    const status = { unmanagedClusters: [{ clusterID: 'legacy' }, { clusterID: 'test-7' }] };
    const text = show([anItem('DatabaseSpace', 'shop/production', { status })]).join('\n');
    expect(text).toContain('the cloud has 2 more that no object stands for: legacy, test-7');
  });

  it('names the namespace if there is nothing in it, and says whether it exists', () => {
    const none = 'No DatabaseSpaces, DatabaseClusters, DatabaseUsers or Databases found';
    expect(noneText('shop', false, undefined)).toBe(`${none} in namespace shop.\n`);
    expect(noneText('typo', true, undefined)).toBe(`${none} in namespace typo. There is no such namespace.\n`);
    expect(noneText(undefined, false, 'No operator')).toBe(`${none}.\nNo operator\n`);
  });
});

import { describe, expect, it } from 'vitest';
import { anItem } from '../../../test/support/items.ts';
import type { Item } from '../item.ts';
import { obstacleOf } from './obstacle.ts';

const paused = { annotations: { 'mooring.dev/paused': 'true' } };
const onOrders = { spec: { clusterRef: { name: 'orders' } } };
const onSpace = { spaceRef: { name: 'production' } };
const asleep = { spec: { ...onSpace, state: 'Suspended' } };
const stuck = (reason: string) => ({ ready: ['False', reason, 'No'] as const, stalled: true });
const waiting = { ready: ['Unknown', 'WaitingForCluster', 'It waits'] as const };

const user = (given: Parameters<typeof anItem>[2] = {}) =>
  anItem('DatabaseUser', 'shop/app', { ...onOrders, ...given });
const cluster = (given: Parameters<typeof anItem>[2] = {}) =>
  anItem('DatabaseCluster', 'shop/orders', { spec: onSpace, ...given });

const obstacle = (name: string, item: Item, others: readonly Item[] = [], hidden: readonly string[] = []) =>
  obstacleOf(name, { items: [item, ...others], hidden: new Set(hidden), reach: ' --context prod' }, item);

describe('obstacleOf()', () => {
  it.each(['rotate', 'suspend', 'resume'])('does not %s what is paused, and names what ends that', (name) => {
    expect(obstacle(name, cluster(paused))).toMatch(
      /paused.*kubectl mooring unpause databasecluster\/orders --namespace shop --context prod/,
    );
  });

  it.each(['pause', 'unpause'])('never prevents %s', (name) => {
    expect(obstacle(name, cluster({ ...paused, ...stuck('InvalidSpec') }))).toBeUndefined();
  });

  it('sees nothing in the way of what is Ready, or in progress', () => {
    expect(obstacle('rotate', user(), [cluster()])).toBeUndefined();
    expect(obstacle('suspend', cluster({ ready: ['Unknown', 'Updating', 'It is being updated'] }))).toBeUndefined();
    const resuming = cluster({ ready: ['Unknown', 'Resuming', 'It is being resumed'] });
    expect(obstacle('rotate', user(waiting), [resuming])).toBeUndefined();
  });

  it('names the suspended cluster that a password cannot be changed on', () => {
    const remedy = /suspended.*kubectl mooring resume databasecluster\/orders --namespace shop --context prod/;
    expect(obstacle('rotate', cluster(asleep))).toMatch(remedy);
    expect(obstacle('rotate', user(), [cluster(asleep)])).toMatch(remedy);
    expect(obstacle('resume', cluster(asleep))).toBeUndefined();
  });

  it("says where to change a password that is a person's own", () => {
    const own = { spec: { ...onOrders.spec, passwordSecretRef: { name: 'mine' } } };
    expect(obstacle('rotate', user(own), [cluster()])).toContain('Secret "mine"');
  });

  it('says that what is only observed is not changed', () => {
    const observed = cluster({ spec: { ...onSpace, managementPolicy: 'Observe' } });
    for (const name of ['rotate', 'suspend', 'resume'])
      expect(obstacle(name, observed)).toContain('managementPolicy: Observe');
  });

  it('finds the object that is really in the way, however far above', () => {
    const space = anItem('DatabaseSpace', 'shop/production', stuck('CredentialsInvalid'));
    const above = cluster({ ready: ['Unknown', 'WaitingForSpace', 'It waits'] });
    expect(obstacle('rotate', user(waiting), [above, space])).toMatch(
      /DatabaseSpace shop\/production: CredentialsInvalid: No/,
    );
    expect(obstacle('rotate', user(waiting), [])).toContain('DatabaseCluster shop/orders does not exist');
  });

  it('does not guess at what may not be seen', () => {
    expect(obstacle('rotate', user(waiting), [], ['DatabaseCluster shop/orders'])).toBeUndefined();
  });

  it('keeps a password from being replaced if no login works, but not if the cluster is stuck on its storage', () => {
    expect(obstacle('rotate', user(stuck('UserExists')), [cluster()])).toContain('UserExists: No');
    expect(obstacle('rotate', cluster(stuck('AdminLoginLost')))).toContain('AdminLoginLost: No');
    const works = { type: 'Available', status: 'True', reason: 'LoginWorks', message: 'It works' };
    const stalled = { type: 'Stalled', status: 'True', reason: 'StorageCannotShrink', message: 'No' };
    const ready = { type: 'Ready', status: 'False', reason: 'StorageCannotShrink', message: 'No' };
    const shrinking = cluster({ status: { conditions: [ready, stalled, works] } });
    expect(obstacle('rotate', shrinking)).toBeUndefined();
  });

  it('lets a new state fix what is stalled', () => {
    const own = { status: { createdAt: '2026-11-21T10:00:00.000Z' } };
    expect(obstacle('resume', cluster({ ...stuck('InvalidSpec'), ...own }))).toBeUndefined();
    expect(obstacle('suspend', cluster({ ...stuck('StorageCannotShrink'), ...own }))).toBeUndefined();
  });

  it.each(['suspend', 'resume'])('prevents %s for an object that has no cluster of its own', (name) => {
    const told = /^It is stalled, and a person must act first: \w+: No$/;
    expect(obstacle(name, cluster(stuck('ClusterIDInUse')))).toMatch(told);
    const own = { status: { createdAt: '2026-11-21T10:00:00.000Z' } };
    for (const reason of ['ClusterMissing', 'IdentityChanged'])
      expect(obstacle(name, cluster({ ...stuck(reason), ...own }))).toMatch(told);
    expect(obstacle(name, cluster({ ...stuck('ClusterIDInUse'), generation: 2 }))).toBeUndefined();
  });

  it('says that an object being deleted will be gone', () => {
    const item = cluster();
    const going = { ...item, metadata: { ...item.metadata, deletionTimestamp: '2026-11-21T10:00:00Z' } };
    expect(obstacle('suspend', going)).toContain('being deleted');
  });
});

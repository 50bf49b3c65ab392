import { describe, expect, it } from 'vitest';
import { anItem } from '../../../test/support/items.ts';
import type { Item } from '../item.ts';
import { CHANGES, failureOf, progressOf } from './change.ts';

describe('rotate', () => {
  const user = (version: string, handled: string) =>
    anItem('DatabaseUser', 'shop/app', {
      status: {
        lastHandledRotateAt: handled,
        connection: { cluster: 'c', endpoint: 'e', addresses: 'a', secretName: 's', secretResourceVersion: version },
      },
    });
  const outcome = (item: ReturnType<typeof user>) => CHANGES['rotate']?.outcome(item, 'now', user('1', 'before'));

  it('is done when the Secret was verified again, not when the request was recorded', () => {
    expect(outcome(user('1', 'before'))).toBeUndefined();
    expect(outcome(user('1', 'now'))).toBeUndefined();
    expect(outcome(user('2', 'before'))).toBeUndefined();
    expect(outcome(user('2', 'now'))).toBe('Rotated: the new password is in Secret "s", and works');
  });
});

describe('suspend', () => {
  it('is done when Ready says so for this very spec', () => {
    const asleep = { ready: ['True', 'Suspended', 'It sleeps'] as const };
    const before = anItem('DatabaseCluster', 'shop/orders');
    const outcome = (generation: number) =>
      CHANGES['suspend']?.outcome(anItem('DatabaseCluster', 'shop/orders', { ...asleep, generation }), 'now', before);
    expect(outcome(1)).toBe('It sleeps');
    expect(outcome(2)).toBeUndefined();
  });
});

describe('failureOf()', () => {
  it('is what a person must fix', () => {
    const stuck = anItem('DatabaseCluster', 'shop/orders', { ready: ['False', 'InvalidSpec', 'No'], stalled: true });
    expect(failureOf(stuck)).toBe('InvalidSpec: No');
    expect(failureOf(anItem('DatabaseCluster', 'shop/orders'))).toBeUndefined();
  });

  it('is also what is only reported, unless the spec has changed since or it is being tried again', () => {
    const differs = { ready: ['False', 'Drifted', 'It differs'] as const };
    const left = anItem('DatabaseCluster', 'shop/orders', differs);
    expect(failureOf(left)).toBe('Drifted: It differs');
    expect(failureOf(anItem('DatabaseCluster', 'shop/orders', { ...differs, generation: 2 }))).toBeUndefined();
    expect(failureOf(anItem('DatabaseCluster', 'shop/orders', { ...differs, reconciling: true }))).toBeUndefined();
  });
});

describe('progressOf()', () => {
  it('says what the awaited object is doing', () => {
    const waiting = ['Unknown', 'WaitingForCluster', 'It waits'] as const;
    const item = anItem('DatabaseUser', 'shop/app', { spec: { clusterRef: { name: 'orders' } }, ready: waiting });
    const resuming = anItem('DatabaseCluster', 'shop/orders', {
      ready: ['Unknown', 'Resuming', 'It is being resumed'],
    });
    const progress = (...others: readonly Item[]) => progressOf({ items: [item, ...others], hidden: new Set() }, item);
    expect(progress(resuming)).toBe('Waiting for DatabaseCluster shop/orders: Resuming: It is being resumed');
    expect(progress(anItem('DatabaseCluster', 'shop/orders'))).toBe('WaitingForCluster: It waits');
  });
});

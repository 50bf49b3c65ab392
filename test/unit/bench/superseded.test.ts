import { expect, it } from 'vitest';
import type { AnyObject } from '../../../src/kube/api.ts';
import { SupersededWrites } from '../../bench/measure/superseded.ts';

const written = (generation: number, observedGeneration: number, reason: string, name = 'orders') =>
  ({ metadata: { name, generation }, status: { observedGeneration, reason } }) as unknown as AnyObject;

it('A status write counts that tells of an older generation than there has been for a while, and nothing else does', () => {
  const superseded = new SupersededWrites();
  const events: readonly (readonly [number, AnyObject])[] = [
    [0, written(2, 1, 'Running')], // An edit.
    [60, written(2, 2, 'Updating')],
    [100, written(3, 2, 'Updating')], // An edit.
    [149, written(3, 2, 'Updated')], // It was on its way.
    [150, written(3, 2, 'Running')], // Too late.
    [150, written(3, 2, 'Running', 'users')], // Seen for the first time: who wrote it is not known.
    [160, written(3, 3, 'Updating')],
    [300, written(3, 3, 'Running')],
  ];
  const counts = events.map(([atMs, object]) => {
    superseded.note(object, atMs);
    return superseded.count;
  });
  expect(counts).toEqual([0, 0, 0, 0, 1, 1, 1, 1]);
});

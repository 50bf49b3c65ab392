import { expect, test } from 'vitest';
import { aCluster, aController, READY } from '../../test/support/toy-controller.ts';
import { TOYS, type ToyBehaviour } from '../../test/support/toy-kind.ts';
import { KubeError } from '../kube/api.ts';

/* Statuses that cannot be written, or not whole. */

const HOUR_MS = 3_600_000;
/** Pauses that grow up to five minutes, and some passes at once before them. */
const MOST_AN_HOUR = 50;

/** A controller on an API server whose CRD knows no color. */
function anOldCRD(behaviour: ToyBehaviour) {
  const toys = new Set(['observedGeneration', 'conditions', 'lastError', 'size']);
  return aController(behaviour, 2, aCluster({ statusFields: { toys } }));
}

test.each([
  [422, 'Invalid'],
  [403, 'Forbidden'],
])(
  'Controller tells by an Event of a status that the API server refuses (%d), and tries again more and more rarely',
  async (status, reason) => {
    const { clock, api } = aCluster();
    const patch = api.patch.bind(api);
    let refuses = true;
    api.patch = async (resource, ref, body, options) => {
      if (refuses && options?.subresource === 'status')
        throw new KubeError('Cannot patch toys: status.conditions[0].message: Too long', { status, reason });
      return patch(resource, ref, body, options);
    };
    const { create, events, logged, passes } = await aController({}, 2, { clock, api });
    await create('a');
    expect(events).toEqual(['StatusRefused']);
    expect(logged.some((line) => line.includes('Too long') && line.includes('how things were before'))).toBe(true);
    await clock.advance(HOUR_MS);
    expect(passes.length).toBeGreaterThan(5);
    expect(passes.length).toBeLessThan(MOST_AN_HOUR);
    refuses = false;
    await clock.advance(300_000);
    expect(api.all(TOYS)[0]).toMatchObject({ status: { conditions: [{ status: 'True' }] } });
    expect(events.at(-1)).toBe('Done');
  },
);

test('Controller tells by an Event of what a CRD of another version drops, and writes the rest', async () => {
  const { create, events, logged, passes, api, clock } = await anOldCRD({
    decide: () => ({ conditions: READY, status: { color: 'red', size: 3 } }),
  });
  await create('a');
  await clock.advance(HOUR_MS);
  expect([events, passes.length]).toEqual([['StatusIncomplete', 'Done'], 1]);
  expect(logged.some((line) => line.startsWith('status.color was written, and is not there'))).toBe(true);
  expect(api.all(TOYS)[0]).toMatchObject({ status: { size: 3, conditions: [{ status: 'True' }] } });
});

test('Controller that has to write down first what a CRD of another version drops goes no further, and is not hot', async () => {
  const { create, calls, events, passes, clock } = await anOldCRD({
    decide: ({ status: { color } }) =>
      color === undefined
        ? { conditions: READY, status: { color: 'red' }, requeueAfterMs: 0 }
        : { conditions: READY, steps: ['paint'] },
  });
  await create('a');
  await clock.advance(HOUR_MS);
  expect(new Set(events)).toEqual(new Set(['StatusIncomplete', 'Done']));
  expect(calls).not.toContain('paint');
  expect(passes.length).toBeLessThan(MOST_AN_HOUR);
});

import { expect, test } from 'vitest';
import { aCluster, aController, READY } from '../../test/support/toy-controller.ts';
import { TOYS, type ToyBehaviour } from '../../test/support/toy-kind.ts';
import { TransientError } from '../base/errors.ts';
import { KubeError } from '../kube/api.ts';

/* Statuses that cannot be written at all, or not in full. */

const HOUR_MS = 3_600_000;
/** Passes with pauses that grow up to five minutes, and some before them at once. */
const MOST_AN_HOUR = 50;

/** The same if a person is expected to act soon: pauses that grow up to half a minute. */
const MOST_AN_HOUR_SOON = 260;
/** Half a minute, and one first pause, if the pass that writes everything still fails. */
const SOON_MS = 30_000 + 2_000;

/** A controller on an API server whose CRD knows no color, until it is replaced. */
async function anOldCRD(behaviour: ToyBehaviour) {
  const properties: Record<string, object> = { observedGeneration: {}, conditions: {}, lastError: {}, size: {} };
  const given = await aController(behaviour, 2, aCluster({ statusSchemas: { toys: { properties } } }));
  return {
    ...given,
    replace: () => {
      properties['color'] = {};
    },
  };
}

test.each([
  [422, 'Invalid'],
  [403, 'Forbidden'],
])(
  'Controller reports a status that the API server refuses (%d) in an Event, and tries again less and less often',
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

test('Controller reports in an Event what a CRD of another version drops, and writes the rest', async () => {
  const { create, events, logged, passes, api, clock } = await anOldCRD({
    decide: () => ({ conditions: READY, status: { color: 'red', size: 3 } }),
  });
  await create('a');
  await clock.advance(HOUR_MS);
  expect([events, passes.length]).toEqual([['StatusIncomplete', 'Done'], 1]);
  expect(logged.some((line) => line.startsWith('status.color was written, but is missing'))).toBe(true);
  expect(api.all(TOYS)[0]).toMatchObject({ status: { size: 3, conditions: [{ status: 'True' }] } });
});

test('Controller that must first write down what a CRD of another version drops goes no further, and is not hot', async () => {
  const { create, logged, events, passes, clock } = await anOldCRD({
    decide: ({ status: { color } }) =>
      color === undefined
        ? { conditions: READY, status: { color: 'red' }, requeueAfterMs: 0 }
        : { conditions: READY, steps: ['paint'] },
  });
  await create('a');
  await clock.advance(HOUR_MS);
  expect(new Set(events)).toEqual(new Set(['StatusIncomplete', 'Done']));
  expect(logged).not.toContain('Going to paint');
  expect(passes.length).toBeLessThan(MOST_AN_HOUR_SOON);
});

test.each([
  ['looks again at once', () => ({ conditions: READY, status: { color: 'red' }, requeueAfterMs: 0 })],
  ['fails without it', () => ({ conditions: READY, status: { color: 'red' }, steps: ['mix'] })],
])(
  'Controller whose pass %s goes on within half a minute once the CRD is replaced, and then without a pause',
  async (_, unless) => {
    const steps = 5;
    const { create, logged, replace, clock } = await anOldCRD({
      decide: ({ status: { color, size = 0 } }) =>
        color === undefined ? unless() : { conditions: READY, ...(size < steps ? { steps: ['paint'] } : {}) },
      act: async ({ status: { size = 0 } }, step) => {
        if (step === 'mix') throw new TransientError('CRDOutdated', 'There is no color');
        return { size: size + 1 };
      },
    });
    await create('a');
    await clock.advance(HOUR_MS);
    replace();
    await clock.advance(SOON_MS);
    expect(logged.filter((line) => line === 'Going to paint')).toHaveLength(steps);
  },
);

test('Controller makes longer pauses after failures again once the CRD is replaced, even if not all that it dropped is still wanted', async () => {
  let wants = 3;
  const properties: Record<string, object> = { observedGeneration: {}, conditions: {}, lastError: {} };
  const { create, pauses, clock } = await aController(
    {
      decide: () => ({ conditions: READY, status: { color: 'red', size: wants || null }, steps: ['mix'] }),
      act: () => Promise.reject(new TransientError('Busy', 'Later')),
    },
    2,
    aCluster({ statusSchemas: { toys: { properties } } }),
  );
  await create('a');
  await clock.advance(HOUR_MS);
  expect(pauses().at(-1)).toBe(30_000);
  Object.assign(properties, { color: {}, size: {} });
  wants = 0;
  await clock.advance(HOUR_MS);
  expect(pauses().at(-1)).toBe(300_000);
});

test('Controller repeats steps whose trace is dropped less and less often', async () => {
  const { create, logged, clock } = await anOldCRD({
    decide: ({ status: { color } }) => ({ conditions: READY, ...(color === undefined ? { steps: ['paint'] } : {}) }),
    act: async () => ({ color: 'red' }),
  });
  await create('a');
  await clock.advance(HOUR_MS);
  expect(logged.filter((line) => line === 'Going to paint').length).toBeLessThan(MOST_AN_HOUR);
});
